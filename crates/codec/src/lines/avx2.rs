//! Finds line ends with AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::kernel::load32;
#[cfg(test)]
use crate::tier::Avx2;

/// Returns a mask of the bytes that are `end`; the lowest bit stands for the first byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn ends(window: &[u8; 64], end: u8) -> u64 {
    let end = _mm256_set1_epi8(end.cast_signed());
    let of = |at| {
        let equal = _mm256_cmpeq_epi8(load32(window, at), end);
        u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
    };
    of(0) | of(32) << 32
}

/// Calls [`ends`].
#[cfg(test)]
pub(crate) fn ends_of(_: Avx2, window: &[u8; 64], end: u8) -> u64 {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { ends(window, end) }
}
