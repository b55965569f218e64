//! Finds line ends with AVX-512.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::kernel::load64;
#[cfg(test)]
use crate::tier::Avx512;

/// Returns a mask of the bytes that are `end`; the lowest bit stands for the first byte.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(crate) fn ends(window: &[u8; 64], end: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(load64(window, 0), _mm512_set1_epi8(end.cast_signed()))
}

/// Calls [`ends`].
#[cfg(test)]
pub(crate) fn ends_of(_: Avx512, window: &[u8; 64], end: u8) -> u64 {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { ends(window, end) }
}
