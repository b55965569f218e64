//! Computes products by PCLMULQDQ, one block at a time, in constant time.
#![expect(unsafe_code, reason = "loads, and calls of functions that need the tier")]

use std::arch::x86_64::*;

use super::sum::Sum;
use crate::Tier;

/// Proves that the CPU has the tier.
#[derive(Clone, Copy)]
pub(super) struct Kernel(());

impl Kernel {
    /// Returns the kernel, or `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() >= Tier::Avx2).then_some(Self(()))
    }

    pub(super) fn sum128(self, left: &[[u8; 16]], right: &[[u8; 16]]) -> Sum {
        // SAFETY: `available` made sure of the tier.
        unsafe { sum128(left, right) }
    }

    pub(super) fn sum64(self, left: &[[u8; 8]], right: &[[u8; 8]]) -> Sum {
        // SAFETY: `available` made sure of the tier.
        unsafe { sum64(left, right) }
    }
}

/// Loads a block as a number.
#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &[u8; 16]) -> __m128i {
    let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm_shuffle_epi8(unsafe { _mm_loadu_si128(block.as_ptr().cast()) }, reverse)
}

#[inline]
#[target_feature(enable = "avx2")]
fn number(value: __m128i) -> u128 {
    let low = _mm_cvtsi128_si64(value).cast_unsigned();
    let high = _mm_extract_epi64::<1>(value).cast_unsigned();
    u128::from(high) << 64 | u128::from(low)
}

#[target_feature(enable = "avx2,pclmulqdq")]
fn sum128(left: &[[u8; 16]], right: &[[u8; 16]]) -> Sum {
    let zero = _mm_setzero_si128();
    let (mut low, mut middle, mut high) = (zero, zero, zero);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (load(left), load(right));
        low = _mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(left, right));
        high = _mm_xor_si128(high, _mm_clmulepi64_si128::<0x11>(left, right));
        middle = _mm_xor_si128(middle, _mm_clmulepi64_si128::<0x01>(left, right));
        middle = _mm_xor_si128(middle, _mm_clmulepi64_si128::<0x10>(left, right));
    }
    let middle = number(middle);
    Sum { low: number(low) ^ middle << 64, high: number(high) ^ middle >> 64 }
}

#[target_feature(enable = "avx2,pclmulqdq")]
fn sum64(left: &[[u8; 8]], right: &[[u8; 8]]) -> Sum {
    let mut sum = _mm_setzero_si128();
    let (left_pairs, left_rest) = left.as_chunks::<2>();
    let (right_pairs, right_rest) = right.as_chunks::<2>();
    for (left, right) in left_pairs.iter().zip(right_pairs) {
        // Reversing all sixteen bytes swaps the two blocks, in both factors alike.
        let (left, right) = (as_block(left), as_block(right));
        let (left, right) = (load(&left), load(&right));
        sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x00>(left, right));
        sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x11>(left, right));
    }
    for (left, right) in left_rest.iter().zip(right_rest) {
        let left = _mm_cvtsi64_si128(i64::from_be_bytes(*left));
        let right = _mm_cvtsi64_si128(i64::from_be_bytes(*right));
        sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x00>(left, right));
    }
    Sum { low: number(sum), high: 0 }
}

/// Joins two blocks of 64 bits into one of 128.
#[inline]
fn as_block(pair: &[[u8; 8]; 2]) -> [u8; 16] {
    let mut block = [0; 16];
    block.copy_from_slice(pair.as_flattened());
    block
}
