//! Loads and stores of vectors, checked: what lets the kernels be safe functions.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, __m512i, _MM_HINT_T0, _mm_prefetch, _mm256_loadu_si256, _mm512_loadu_si512,
    _mm512_storeu_si512,
};

/// The 32 bytes of `bytes` from `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load32(bytes: &[u8], at: usize) -> __m256i {
    let bytes = &bytes[at..][..32];
    // SAFETY: the slice is 32 bytes long; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// The 64 bytes of `bytes` from `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load64(bytes: &[u8], at: usize) -> __m512i {
    let bytes = &bytes[at..][..64];
    // SAFETY: the slice is 64 bytes long; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Writes 64 bytes to `bytes` from `at`.
///
/// # Panics
/// When there is no room.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store64(bytes: &mut [u8], at: usize, vector: __m512i) {
    let bytes = &mut bytes[at..][..64];
    // SAFETY: the slice is 64 bytes long; the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// Asks for the cache line `ahead` bytes after the beginning of `bytes`, which may be outside of them.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch(bytes: &[u8], ahead: usize) {
    // SAFETY: a prefetch reads nothing that the program sees, and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(ahead).cast()) }
}
