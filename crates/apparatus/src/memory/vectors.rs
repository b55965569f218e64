//! Bounds-checked loads and stores of vectors, which let the kernels be safe functions.
#![allow(unsafe_code)]

use std::arch::asm;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_storeu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
};

/// Tells whether this processor has AVX2, which is all that the 32-byte kernels need.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Tells whether this processor has AVX-512 F and BW, which is all that the 64-byte kernels need.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// Loads 16 bytes of `bytes` from offset `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn load16(bytes: &[u8], at: usize) -> __m128i {
    let bytes = &bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Stores 16 bytes to `bytes` at offset `at`.
///
/// # Panics
/// When they do not fit.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn store16(bytes: &mut [u8], at: usize, vector: __m128i) {
    let bytes = &mut bytes[at..][..16];
    // SAFETY: the slice is 16 bytes long; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) }
}

/// Loads 32 bytes of `bytes` from offset `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load32(bytes: &[u8], at: usize) -> __m256i {
    let bytes = &bytes[at..][..32];
    // SAFETY: the slice is 32 bytes long; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Stores 32 bytes to `bytes` at offset `at`.
///
/// # Panics
/// When they do not fit.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store32(bytes: &mut [u8], at: usize, vector: __m256i) {
    let bytes = &mut bytes[at..][..32];
    // SAFETY: the slice is 32 bytes long; the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}

/// Loads 64 bytes of `bytes` from offset `at`.
///
/// # Panics
/// When there are fewer.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load64(bytes: &[u8], at: usize) -> __m512i {
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
pub(super) fn store64(bytes: &mut [u8], at: usize, vector: __m512i) {
    let bytes = &mut bytes[at..][..64];
    // SAFETY: the slice is 64 bytes long; the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// Does nothing, but makes the compiler complete all earlier stores first. Without it in the loop, the compiler
/// recognizes a copy or a fill and calls memcpy or memset: "SSE2" then seemed to reach 210 GB/s, although it can store
/// 115 at most.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn as_written() {
    // SAFETY: this emits no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// Returns the same word in a register, in a way that the compiler cannot analyse. A loop with this in it becomes
/// neither vector code nor a call of memcpy.
#[inline(always)]
pub(super) fn word_as_written(mut word: u64) -> u64 {
    // SAFETY: this emits no instruction.
    unsafe { asm!("/* {} */", inout(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[target_feature(enable = "sse2")]
    fn carry16(to: &mut [u8], from: &[u8], at: usize) {
        store16(to, at, load16(from, at));
    }

    #[target_feature(enable = "avx2")]
    fn carry32(to: &mut [u8], from: &[u8], at: usize) {
        store32(to, at, load32(from, at));
    }

    #[target_feature(enable = "avx512f")]
    fn carry64(to: &mut [u8], from: &[u8], at: usize) {
        store64(to, at, load64(from, at));
    }

    /// Loads `width` bytes of `bytes` from offset `at` and stores them to a copy of `bytes`; returns `None` where the
    /// CPU cannot.
    fn carry(width: usize, bytes: &[u8], at: usize) -> Option<Vec<u8>> {
        let mut to = vec![0; bytes.len()];
        match width {
            // SAFETY: SSE2 is part of x86-64.
            16 => unsafe { carry16(&mut to, bytes, at) },
            // SAFETY: the CPU has the vectors (checked here).
            32 if has_avx2() => unsafe { carry32(&mut to, bytes, at) },
            // SAFETY: the CPU has the vectors (checked here).
            64 if has_avx512() => unsafe { carry64(&mut to, bytes, at) },
            _ => return None,
        }
        Some(to)
    }

    #[test]
    fn a_load_or_store_that_leaves_the_bytes_by_one_is_refused() {
        let bytes: Vec<u8> = (1..=100).collect();
        for width in [16, 32, 64] {
            if carry(width, &bytes, 0).is_none() {
                crate::skip::lacking(&format!("vectors of {width} bytes"));
                continue;
            }
            for at in 0..=100 - width {
                let carried = carry(width, &bytes, at).unwrap();
                assert_eq!(carried[at..at + width], bytes[at..at + width], "{width} at {at}");
                assert!(carried[..at].iter().chain(&carried[at + width..]).all(|byte| *byte == 0));
            }
            let refused = |at| catch_unwind(|| carry(width, &bytes, at)).is_err();
            assert!([100 - width + 1, 100, usize::MAX].into_iter().all(refused), "{width}");
        }
    }
}
