//! Moves memory with stores that bypass the cache.
#![allow(unsafe_code)]

use std::arch::x86_64::{__m128i, _mm_set1_epi8, _mm_sfence, _mm_stream_si128};

use super::vectors::load16;

/// Length of a vector, and the alignment that the stores require.
const VECTOR: usize = 16;

/// Copies all of `from`.
///
/// # Panics
/// When the lengths differ.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    // SAFETY: SSE2 is part of x86-64.
    unsafe { copy_vectors(to, from) };
    order();
}

#[target_feature(enable = "sse2")]
fn copy_vectors(to: &mut [u8], from: &[u8]) {
    let head = before_alignment(to);
    let (to_head, to) = to.split_at_mut(head);
    let (from_head, from) = from.split_at(head);
    to_head.copy_from_slice(from_head);
    let (to, to_rest) = to.as_chunks_mut::<VECTOR>();
    let (from, from_rest) = from.as_chunks::<VECTOR>();
    for (to, from) in to.iter_mut().zip(from) {
        stream(to, load16(from, 0));
    }
    to_rest.copy_from_slice(from_rest);
}

/// Sets every byte to `value`.
pub(super) fn write(to: &mut [u8], value: u8) {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { write_vectors(to, value) };
    order();
}

#[target_feature(enable = "sse2")]
fn write_vectors(to: &mut [u8], value: u8) {
    let (head, to) = to.split_at_mut(before_alignment(to));
    head.fill(value);
    let vector = _mm_set1_epi8(value.cast_signed());
    let (to, rest) = to.as_chunks_mut::<VECTOR>();
    for to in to {
        stream(to, vector);
    }
    rest.fill(value);
}

/// Returns how many bytes precede the first multiple of a vector.
fn before_alignment(bytes: &[u8]) -> usize {
    ((bytes.as_ptr() as usize).wrapping_neg() % VECTOR).min(bytes.len())
}

/// Stores past the cache. Call [`order`] before telling anyone else of the stored bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn stream(to: &mut [u8; VECTOR], vector: __m128i) {
    debug_assert!(to.as_ptr().cast::<__m128i>().is_aligned());
    // SAFETY: the array is as long as the vector and aligned to it, thanks to `before_alignment` and steps of a vector.
    unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), vector) };
}

/// Makes these stores visible to other threads in order, as the language assumes of every store.
fn order() {
    // SAFETY: the instruction is part of x86-64.
    unsafe { _mm_sfence() };
}
