//! Loads and stores of vectors, checked: what lets the kernels be safe functions.
#![allow(unsafe_code)]

use std::arch::asm;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_ET0, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch,
    _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_loadu_si512,
    _mm512_storeu_si512,
};

/// The 16 bytes of `bytes` from `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load16(bytes: &[u8], at: usize) -> __m128i {
    let bytes = &bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Writes 16 bytes to `bytes` from `at`.
///
/// # Panics
/// When there is no room.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store16(bytes: &mut [u8], at: usize, vector: __m128i) {
    let bytes = &mut bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) }
}

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

/// Writes 32 bytes to `bytes` from `at`.
///
/// # Panics
/// When there is no room.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store32(bytes: &mut [u8], at: usize, vector: __m256i) {
    let bytes = &mut bytes[at..][..32];
    // SAFETY: the slice is 32 bytes long; the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
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

/// Asks for the cache line `ahead` bytes after the beginning of `bytes`, which may be outside of them, to be written: stores
/// to lines that are not in the first-level cache wait for one another less (an Intel Xeon, a loop like that of FizzBuzz in
/// C, into the second-level cache: 41 → 58 GB/s, into the third: 24 → 29).
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch_to_write(bytes: &[u8], ahead: usize) {
    // SAFETY: a prefetch changes nothing that the program sees, and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(bytes.as_ptr().wrapping_add(ahead).cast()) }
}

/// Does nothing that the compiler can see through: what was to be stored before it is stored. Without it in the loop,
/// the compiler recognizes a copy or a fill, and calls memcpy or memset: seen as 210 GB/s of "SSE2", which can store
/// 115 at most.
#[inline(always)]
pub(crate) fn as_written() {
    // SAFETY: no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// The same word, in a register, in a way that the compiler cannot see through: it can make neither vectors nor a call
/// of memcpy of a loop with this in it.
#[inline(always)]
pub(crate) fn word_as_written(mut word: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", inout(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}
