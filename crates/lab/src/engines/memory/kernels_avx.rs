//! Moving memory with the vectors and string instructions of x86-64. Every function is safe to call: lengths are
//! checked, and so is the processor.
#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_add_epi64, _mm_loadu_si128, _mm_set1_epi8, _mm_setzero_si128,
    _mm_sfence, _mm_storeu_si128, _mm_stream_si128, _mm256_add_epi64, _mm256_loadu_si256,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi64,
    _mm512_loadu_si512, _mm512_reduce_add_epi64, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_storeu_si512,
};

/// Whether this processor has AVX-512 (F and BW).
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// Whether this processor has AVX2.
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Does nothing that the compiler can see through. Without it in the loop, the compiler recognizes a copy or a fill,
/// and calls memcpy or memset: seen as 210 GB/s of "SSE2", which can store 115 at most.
#[inline(always)]
fn as_written() {
    // SAFETY: no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// The three tasks for one kind of vector, four vectors a step.
macro_rules! vector_kernels {
    ($feature:literal, $has:expr, $vector:ty, $len:literal,
     $load:ident, $store:ident, $set:ident, $zero:ident, $add:ident, $sum:expr,
     $copy:ident, $write:ident, $read:ident) => {
        pub(super) fn $copy(to: &mut [u8], from: &[u8]) {
            #[target_feature(enable = $feature)]
            fn copy(to: &mut [u8], from: &[u8]) {
                let (to, to_rest) = to.as_chunks_mut::<{ 4 * $len }>();
                let (from, from_rest) = from.as_chunks::<{ 4 * $len }>();
                for (to, from) in to.iter_mut().zip(from) {
                    let mut vectors = [$zero(); 4];
                    for (vector, from) in vectors.iter_mut().zip(from.as_chunks::<$len>().0) {
                        // SAFETY: the array is as long as the vector; the load needs no alignment.
                        *vector = unsafe { $load(from.as_ptr().cast()) };
                    }
                    as_written();
                    for (vector, to) in vectors.iter().zip(to.as_chunks_mut::<$len>().0) {
                        // SAFETY: the array is as long as the vector; the store needs no alignment.
                        unsafe { $store(to.as_mut_ptr().cast(), *vector) };
                    }
                }
                to_rest.copy_from_slice(from_rest);
            }
            assert_eq!(to.len(), from.len(), "length");
            assert!($has);
            // SAFETY: the processor has the feature, as asserted.
            unsafe { copy(to, from) }
        }

        pub(super) fn $write(to: &mut [u8], value: u8) {
            #[target_feature(enable = $feature)]
            fn write(to: &mut [u8], value: u8) {
                let vector = $set(value.cast_signed());
                let (to, rest) = to.as_chunks_mut::<{ 4 * $len }>();
                for to in to {
                    as_written();
                    for to in to.as_chunks_mut::<$len>().0 {
                        // SAFETY: the array is as long as the vector; the store needs no alignment.
                        unsafe { $store(to.as_mut_ptr().cast(), vector) };
                    }
                }
                rest.fill(value);
            }
            assert!($has);
            // SAFETY: the processor has the feature, as asserted.
            unsafe { write(to, value) }
        }

        pub(super) fn $read(from: &[u8]) -> u64 {
            #[target_feature(enable = $feature)]
            fn read(from: &[u8]) -> u64 {
                let mut sums: [$vector; 4] = [$zero(); 4];
                let (from, rest) = from.as_chunks::<{ 4 * $len }>();
                for from in from {
                    as_written();
                    for (sum, from) in sums.iter_mut().zip(from.as_chunks::<$len>().0) {
                        // SAFETY: the array is as long as the vector; the load needs no alignment.
                        *sum = $add(*sum, unsafe { $load(from.as_ptr().cast()) });
                    }
                }
                let sums = $add($add(sums[0], sums[1]), $add(sums[2], sums[3]));
                $sum(sums).wrapping_add(super::plain_sum(rest))
            }
            assert!($has);
            // SAFETY: the processor has the feature, as asserted.
            unsafe { read(from) }
        }
    };
}

vector_kernels!(
    "avx512f,avx512bw",
    has_avx512(),
    __m512i,
    64,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_set1_epi8,
    _mm512_setzero_si512,
    _mm512_add_epi64,
    |sums| _mm512_reduce_add_epi64(sums).cast_unsigned(),
    copy_avx512,
    write_avx512,
    read_avx512
);
vector_kernels!(
    "avx2",
    has_avx2(),
    __m256i,
    32,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi8,
    _mm256_setzero_si256,
    _mm256_add_epi64,
    |sums| {
        let mut words = [0_u8; 32];
        // SAFETY: the array is as long as the vector; the store needs no alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), sums) };
        super::plain_sum(&words)
    },
    copy_avx2,
    write_avx2,
    read_avx2
);
vector_kernels!(
    "sse2",
    true, // part of x86-64
    __m128i,
    16,
    _mm_loadu_si128,
    _mm_storeu_si128,
    _mm_set1_epi8,
    _mm_setzero_si128,
    _mm_add_epi64,
    |sums| {
        let mut words = [0_u8; 16];
        // SAFETY: the array is as long as the vector; the store needs no alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), sums) };
        super::plain_sum(&words)
    },
    copy_sse2,
    write_sse2,
    read_sse2
);

/// `rep movsb`, the instruction that the kernel copies with.
pub(super) fn copy_rep(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    // SAFETY: both ranges are as long as the count, do not overlap (one is borrowed mutably), and the direction flag is
    // clear, as the calling convention promises.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") from.len() => _,
            inout("rdi") to.as_mut_ptr() => _,
            inout("rsi") from.as_ptr() => _,
            options(nostack, preserves_flags)
        );
    }
}

/// `rep stosb`.
pub(super) fn write_rep(to: &mut [u8], value: u8) {
    // SAFETY: the range is as long as the count; the direction flag is clear.
    unsafe {
        asm!(
            "rep stosb",
            inout("rcx") to.len() => _,
            inout("rdi") to.as_mut_ptr() => _,
            in("al") value,
            options(nostack, preserves_flags)
        );
    }
}

/// Stores that go past the cache.
pub(super) fn copy_non_temporal(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    let head = before_alignment(to);
    let (to_head, to) = to.split_at_mut(head);
    let (from_head, from) = from.split_at(head);
    to_head.copy_from_slice(from_head);
    let (to, to_rest) = to.as_chunks_mut::<16>();
    let (from, from_rest) = from.as_chunks::<16>();
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: the array is as long as the vector; the load needs no alignment.
        let vector = unsafe { _mm_loadu_si128(from.as_ptr().cast()) };
        // SAFETY: the array is as long as the vector and aligned to it: `before_alignment` and steps of 16.
        unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), vector) };
    }
    // So that other threads see these stores in their order, which the language takes for granted.
    // SAFETY: part of x86-64.
    unsafe { _mm_sfence() };
    to_rest.copy_from_slice(from_rest);
}

/// Stores that go past the cache.
pub(super) fn write_non_temporal(to: &mut [u8], value: u8) {
    let (head, to) = to.split_at_mut(before_alignment(to));
    head.fill(value);
    // SAFETY: part of x86-64.
    let vector = unsafe { _mm_set1_epi8(value.cast_signed()) };
    let (to, rest) = to.as_chunks_mut::<16>();
    for to in to {
        // SAFETY: the array is as long as the vector and aligned to it: `before_alignment` and steps of 16.
        unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), vector) };
    }
    // SAFETY: part of x86-64.
    unsafe { _mm_sfence() };
    rest.fill(value);
}

/// Bytes before the first multiple of 16.
fn before_alignment(bytes: &[u8]) -> usize {
    ((bytes.as_ptr() as usize).wrapping_neg() % 16).min(bytes.len())
}
