//! Counts lines with AVX2: 32 bytes are compared with the line end at once, and two slots with the key.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::bucket::Bucket;
use super::error::NoMemory;
use super::groups::Groups;
use super::key::Packed;
use super::lines_of::{Text, portable_key, run};
use super::value::Tally;
use crate::kernel::load32;
use crate::lines;
use crate::tier::Avx2;

/// Counts lines like the portable kernel.
pub(super) fn add_lines<V: Tally>(
    _: Avx2,
    groups: &mut Groups<V>,
    text: Text<'_>,
) -> Result<(), NoMemory> {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(groups, text) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn kernel<V: Tally>(groups: &mut Groups<V>, text: Text<'_>) -> Result<(), NoMemory> {
    run(
        groups,
        text,
        |window, end| lines::avx2::ends(window, end),
        portable_key,
        |bucket, key| find(bucket, key),
    )
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn find(bucket: &Bucket, key: Packed) -> Option<usize> {
    let wanted =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(key.high.cast_signed(), key.low.cast_signed()));
    let halves = |at| {
        let equal = _mm256_cmpeq_epi64(load32(&bucket.0, at), wanted);
        _mm256_movemask_pd(_mm256_castsi256_pd(equal)).cast_unsigned()
    };
    let equal = halves(0) | halves(32) << 4;
    // Both halves of a key must be equal.
    let slots = equal & equal >> 1 & 0b0101_0101;
    (slots != 0).then(|| slots.trailing_zeros() as usize / 2)
}
