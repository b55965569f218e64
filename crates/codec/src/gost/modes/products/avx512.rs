//! Computes products by VPCLMULQDQ, 64 bytes of blocks at a time, in constant time.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

use std::arch::x86_64::*;

use super::avx2;
use super::sum::Sum;
use crate::Tier;

/// Proves that the CPU has the tier.
#[derive(Clone, Copy)]
pub(super) struct Kernel(avx2::Kernel);

impl Kernel {
    /// Returns the kernel, or `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() >= Tier::Avx512).then(avx2::Kernel::available).flatten().map(Self)
    }

    pub(super) fn sum128(self, left: &[[u8; 16]], right: &[[u8; 16]]) -> Sum {
        let (left_rows, left_rest) = left.as_flattened().as_chunks::<64>();
        let (right_rows, right_rest) = right.as_flattened().as_chunks::<64>();
        // SAFETY: `available` made sure of the tier.
        let sum = unsafe { sum128(left_rows, right_rows) };
        let rest = self.0.sum128(left_rest.as_chunks().0, right_rest.as_chunks().0);
        Sum { low: sum.low ^ rest.low, high: sum.high ^ rest.high }
    }

    pub(super) fn sum64(self, left: &[[u8; 8]], right: &[[u8; 8]]) -> Sum {
        let (left_rows, left_rest) = left.as_flattened().as_chunks::<64>();
        let (right_rows, right_rest) = right.as_flattened().as_chunks::<64>();
        // SAFETY: `available` made sure of the tier.
        let sum = unsafe { sum64(left_rows, right_rows) };
        let rest = self.0.sum64(left_rest.as_chunks().0, right_rest.as_chunks().0);
        Sum { low: sum.low ^ rest.low, high: 0 }
    }
}

/// Loads four blocks as numbers, or eight, whose pairs swap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(row: &[u8; 64]) -> __m512i {
    let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    // SAFETY: the reference is to 64 bytes, and the load needs no alignment.
    let row = unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
    _mm512_shuffle_epi8(row, _mm512_broadcast_i32x4(reverse))
}

/// Returns the sum of the four numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn folded(sum: __m512i) -> u128 {
    let mut numbers = [0_u128; 4];
    // SAFETY: the array has 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), sum) }
    numbers.iter().fold(0, |sum, number| sum ^ number)
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn sum128(left: &[[u8; 64]], right: &[[u8; 64]]) -> Sum {
    let zero = _mm512_setzero_si512();
    let (mut low, mut middle, mut high) = (zero, zero, zero);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (load(left), load(right));
        low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128::<0x00>(left, right));
        high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128::<0x11>(left, right));
        middle = _mm512_ternarylogic_epi64::<0x96>(
            middle,
            _mm512_clmulepi64_epi128::<0x01>(left, right),
            _mm512_clmulepi64_epi128::<0x10>(left, right),
        );
    }
    let middle = folded(middle);
    Sum { low: folded(low) ^ middle << 64, high: folded(high) ^ middle >> 64 }
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn sum64(left: &[[u8; 64]], right: &[[u8; 64]]) -> Sum {
    let mut sum = _mm512_setzero_si512();
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (load(left), load(right));
        sum = _mm512_ternarylogic_epi64::<0x96>(
            sum,
            _mm512_clmulepi64_epi128::<0x00>(left, right),
            _mm512_clmulepi64_epi128::<0x11>(left, right),
        );
    }
    Sum { low: folded(sum), high: 0 }
}
