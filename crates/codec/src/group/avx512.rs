//! Counts lines with AVX-512: 64 bytes are compared with the line end at once, and all slots of a bucket with the key.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::bucket::Bucket;
use super::error::NoMemory;
use super::groups::Groups;
use super::key::Packed;
use super::lines_of::{Text, run};
use super::value::Tally;
use crate::kernel::{load_up_to_15, load64};
use crate::lines;
use crate::tier::Avx512;

/// Counts lines like the portable kernel.
pub(super) fn add_lines<V: Tally>(
    _: Avx512,
    groups: &mut Groups<V>,
    text: Text<'_>,
) -> Result<(), NoMemory> {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(groups, text) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn kernel<V: Tally>(groups: &mut Groups<V>, text: Text<'_>) -> Result<(), NoMemory> {
    run(
        groups,
        text,
        |window, end| lines::avx512::ends(window, end),
        |block, at, len| key(block, at, len),
        |bucket, key| find(bucket, key),
    )
}

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn key(block: &[u8], at: usize, len: usize) -> Packed {
    let bytes = load_up_to_15(block, at, len);
    let low = _mm_cvtsi128_si64(bytes).cast_unsigned();
    Packed::short(low, _mm_extract_epi64::<1>(bytes).cast_unsigned(), len)
}

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn find(bucket: &Bucket, key: Packed) -> Option<usize> {
    let key = _mm_set_epi64x(key.high.cast_signed(), key.low.cast_signed());
    let equal = _mm512_cmpeq_epi64_mask(load64(&bucket.0, 0), _mm512_broadcast_i32x4(key));
    // Both halves of a key must be equal.
    let slots = equal & equal >> 1 & 0b0101_0101;
    (slots != 0).then(|| slots.trailing_zeros() as usize / 2)
}
