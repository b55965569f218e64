//! Moves memory with AVX2 vectors, four a step.
#![allow(unsafe_code)]

use std::arch::x86_64::{_mm256_add_epi64, _mm256_set1_epi8, _mm256_setzero_si256};

use super::naive;
use super::vectors::{as_written, has_avx2, load32, store32};

const VECTOR: usize = 32;
/// Bytes that one step of the loop moves.
const STEP: usize = 4 * VECTOR;

/// Copies all of `from`.
///
/// # Panics
/// When the lengths differ, or the CPU lacks the vectors.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    assert!(has_avx2(), "no avx2 here");
    // SAFETY: the CPU has the vectors (checked above).
    unsafe { copy_vectors(to, from) }
}

#[target_feature(enable = "avx2")]
fn copy_vectors(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<STEP>();
    let (from, from_rest) = from.as_chunks::<STEP>();
    for (to, from) in to.iter_mut().zip(from) {
        let mut vectors = [_mm256_setzero_si256(); 4];
        for (number, vector) in vectors.iter_mut().enumerate() {
            *vector = load32(from, number * VECTOR);
        }
        as_written();
        for (number, vector) in vectors.into_iter().enumerate() {
            store32(to, number * VECTOR, vector);
        }
    }
    to_rest.copy_from_slice(from_rest);
}

/// Sets every byte to `value`.
///
/// # Panics
/// When the CPU lacks the vectors.
pub(super) fn write(to: &mut [u8], value: u8) {
    assert!(has_avx2(), "no avx2 here");
    // SAFETY: the CPU has the vectors (checked above).
    unsafe { write_vectors(to, value) }
}

#[target_feature(enable = "avx2")]
fn write_vectors(to: &mut [u8], value: u8) {
    let vector = _mm256_set1_epi8(value.cast_signed());
    let (to, rest) = to.as_chunks_mut::<STEP>();
    for to in to {
        as_written();
        for number in 0..4 {
            store32(to, number * VECTOR, vector);
        }
    }
    rest.fill(value);
}

/// Returns the sum of all whole words.
///
/// # Panics
/// When the CPU lacks the vectors.
pub(super) fn read(from: &[u8]) -> u64 {
    assert!(has_avx2(), "no avx2 here");
    // SAFETY: the CPU has the vectors (checked above).
    unsafe { read_vectors(from) }
}

#[target_feature(enable = "avx2")]
fn read_vectors(from: &[u8]) -> u64 {
    let mut sums = [_mm256_setzero_si256(); 4];
    let (from, rest) = from.as_chunks::<STEP>();
    for from in from {
        as_written();
        for (number, sum) in sums.iter_mut().enumerate() {
            *sum = _mm256_add_epi64(*sum, load32(from, number * VECTOR));
        }
    }
    let all =
        _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
    let mut words = [0; VECTOR];
    store32(&mut words, 0, all);
    let sum = naive::read(&words);
    sum.wrapping_add(naive::read(rest))
}
