//! Bounds-checked loads and stores of vectors, which let the kernels be safe functions.
#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{uint8x16_t, uint8x16x4_t, vld1q_u8, vld4q_u8, vst1q_u8};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_ET0, _MM_HINT_T0, _mm_loadu_si128, _mm_maskz_loadu_epi8,
    _mm_prefetch, _mm256_loadu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
};

/// Loads 16 bytes of `bytes` from offset `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn load16(bytes: &[u8], at: usize) -> uint8x16_t {
    let bytes = &bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Loads 64 bytes of `bytes` from offset `at` into four vectors in turn: the first has bytes 0, 4, 8 …, the next 1, 5, 9 ….
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn load64_in_turn(bytes: &[u8], at: usize) -> uint8x16x4_t {
    let bytes = &bytes[at..][..64];
    // SAFETY: the slice is 64 bytes long; the load needs no alignment.
    unsafe { vld4q_u8(bytes.as_ptr()) }
}

/// Stores 16 bytes to `bytes` at offset `at`.
///
/// # Panics
/// When they do not fit.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store16(bytes: &mut [u8], at: usize, vector: uint8x16_t) {
    let bytes = &mut bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the store needs no alignment.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), vector) }
}

/// Loads 16 bytes of `bytes` from offset `at`.
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

/// Loads `len` bytes of `bytes`, at most 15, from offset `at`; the others are zero.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn load_up_to_15(bytes: &[u8], at: usize, len: usize) -> __m128i {
    let bytes = &bytes[at..][..len];
    let mask = (1_u16 << (len & 15)) - 1;
    // SAFETY: the mask has `len` bits at most, and the slice is as long; bytes without a bit are not accessed.
    unsafe { _mm_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// Loads 32 bytes of `bytes` from offset `at`.
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

/// Loads 64 bytes of `bytes` from offset `at`.
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

/// Stores 64 bytes to `bytes` at offset `at`.
///
/// # Panics
/// When they do not fit.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store64(bytes: &mut [u8], at: usize, vector: __m512i) {
    let bytes = &mut bytes[at..][..64];
    // SAFETY: the slice is 64 bytes long; the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// Prefetches the cache line `ahead` bytes after the beginning of `bytes`, which may be outside of them.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch(bytes: &[u8], ahead: usize) {
    // SAFETY: a prefetch reads nothing that the program sees, and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(ahead).cast()) }
}

/// Prefetches for writing the cache line `ahead` bytes after the beginning of `bytes`, which may be outside of them.
/// Stores to lines outside the first-level cache then wait less for one another (an Intel Xeon, a loop like that of
/// FizzBuzz in C, into the second-level cache: 41 → 58 GB/s, into the third: 24 → 29).
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch_to_write(bytes: &[u8], ahead: usize) {
    // SAFETY: a prefetch changes nothing that the program sees, and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(bytes.as_ptr().wrapping_add(ahead).cast()) }
}

/// Prefetches the first cache line of a value.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing that the program sees, and does not fault, whatever the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
