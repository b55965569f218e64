//! Moving memory with stores that go past the cache.
#![allow(unsafe_code)]

use std::arch::x86_64::{__m128i, _mm_set1_epi8, _mm_sfence, _mm_stream_si128};

use crate::kernel::load16;

/// As long as a vector, and as aligned as the stores want it.
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

/// Puts `value` into every byte.
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

/// Bytes before the first multiple of a vector.
fn before_alignment(bytes: &[u8]) -> usize {
    ((bytes.as_ptr() as usize).wrapping_neg() % VECTOR).min(bytes.len())
}

/// A store past the cache; [`order`] must follow before anyone else is told of it.
#[inline]
#[target_feature(enable = "sse2")]
fn stream(to: &mut [u8; VECTOR], vector: __m128i) {
    debug_assert!(to.as_ptr().cast::<__m128i>().is_aligned());
    // SAFETY: the array is as long as the vector and aligned to it: `before_alignment` and steps of a vector.
    unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), vector) };
}

/// Lets other threads see these stores in their order, which the language takes for granted.
fn order() {
    // SAFETY: part of x86-64.
    unsafe { _mm_sfence() };
}
