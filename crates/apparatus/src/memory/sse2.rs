//! Moves memory with SSE2 vectors, four a step.
#![allow(unsafe_code)]

use std::arch::x86_64::{_mm_add_epi64, _mm_set1_epi8, _mm_setzero_si128};

use super::naive;
use super::vectors::{as_written, load16, store16};

const VECTOR: usize = 16;
/// Bytes that one step of the loop moves.
const STEP: usize = 4 * VECTOR;

/// Copies all of `from`.
///
/// # Panics
/// When the lengths differ.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    // SAFETY: SSE2 is part of x86-64.
    unsafe { copy_vectors(to, from) }
}

#[target_feature(enable = "sse2")]
fn copy_vectors(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<STEP>();
    let (from, from_rest) = from.as_chunks::<STEP>();
    for (to, from) in to.iter_mut().zip(from) {
        let mut vectors = [_mm_setzero_si128(); 4];
        for (number, vector) in vectors.iter_mut().enumerate() {
            *vector = load16(from, number * VECTOR);
        }
        as_written();
        for (number, vector) in vectors.into_iter().enumerate() {
            store16(to, number * VECTOR, vector);
        }
    }
    to_rest.copy_from_slice(from_rest);
}

/// Sets every byte to `value`.
pub(super) fn write(to: &mut [u8], value: u8) {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { write_vectors(to, value) }
}

#[target_feature(enable = "sse2")]
fn write_vectors(to: &mut [u8], value: u8) {
    let vector = _mm_set1_epi8(value.cast_signed());
    let (to, rest) = to.as_chunks_mut::<STEP>();
    for to in to {
        as_written();
        for number in 0..4 {
            store16(to, number * VECTOR, vector);
        }
    }
    rest.fill(value);
}

/// Returns the sum of all whole words.
pub(super) fn read(from: &[u8]) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { read_vectors(from) }
}

#[target_feature(enable = "sse2")]
fn read_vectors(from: &[u8]) -> u64 {
    let mut sums = [_mm_setzero_si128(); 4];
    let (from, rest) = from.as_chunks::<STEP>();
    for from in from {
        as_written();
        for (number, sum) in sums.iter_mut().enumerate() {
            *sum = _mm_add_epi64(*sum, load16(from, number * VECTOR));
        }
    }
    let all = _mm_add_epi64(_mm_add_epi64(sums[0], sums[1]), _mm_add_epi64(sums[2], sums[3]));
    let mut words = [0; VECTOR];
    store16(&mut words, 0, all);
    let sum = naive::read(&words);
    sum.wrapping_add(naive::read(rest))
}
