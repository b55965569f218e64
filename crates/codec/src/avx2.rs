//! 64 bytes in registers of AVX2, and masks of them.

use std::arch::x86_64::*;

use crate::kernel::{load16, load32};

/// 64 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Block(__m256i, __m256i);

#[inline]
#[target_feature(enable = "avx2")]
fn byte(value: u8) -> __m256i {
    _mm256_set1_epi8(value.cast_signed())
}

impl Block {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn load(bytes: &[u8], at: usize) -> Self {
        Self(load32(bytes, at), load32(bytes, at + 32))
    }

    /// Returns the highest bits of all bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn high_bits(self) -> u64 {
        let low = _mm256_movemask_epi8(self.0).cast_unsigned();
        let high = _mm256_movemask_epi8(self.1).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn same_as(self, other: Self) -> u64 {
        Self(_mm256_cmpeq_epi8(self.0, other.0), _mm256_cmpeq_epi8(self.1, other.1)).high_bits()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn equal(self, value: u8) -> u64 {
        self.same_as(Self(byte(value), byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn at_most(self, value: u8) -> u64 {
        let most = byte(value);
        self.same_as(Self(_mm256_min_epu8(self.0, most), _mm256_min_epu8(self.1, most)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn minus(self, value: u8) -> Self {
        Self(_mm256_sub_epi8(self.0, byte(value)), _mm256_sub_epi8(self.1, byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn or(self, value: u8) -> Self {
        Self(_mm256_or_si256(self.0, byte(value)), _mm256_or_si256(self.1, byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(_mm256_and_si256(self.0, other.0), _mm256_and_si256(self.1, other.1))
    }

    /// Returns the upper four bits of each byte, as a number.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn upper_halves(self) -> Self {
        let half = |vector| _mm256_and_si256(_mm256_srli_epi16::<4>(vector), byte(15));
        Self(half(self.0), half(self.1))
    }

    /// Returns the lower four bits of each byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn lower_halves(self) -> Self {
        self.and(Self(byte(15), byte(15)))
    }

    /// Looks each byte up by its lower four bits. A byte above 0x7F gives 0 or what it would give without its highest bit.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn look_up_lower(self, table: &[u8; 16]) -> Self {
        let table = _mm256_broadcastsi128_si256(load16(table, 0));
        Self(_mm256_shuffle_epi8(table, self.0), _mm256_shuffle_epi8(table, self.1))
    }

    /// Looks each byte, which is below 16, up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn look_up(self, table: &[u8; 16]) -> Self {
        self.look_up_lower(table)
    }

    /// Returns which bytes have a bit in common with their counterpart in `other`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn meets(self, other: Self) -> u64 {
        !self.and(other).equal(0)
    }

    /// Returns which bytes have bit `BIT`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn has<const BIT: u8>(self) -> u64 {
        // Moved to the highest, from which a mask is made; no bit of another byte gets there.
        let count = _mm_cvtsi32_si128(7 - i32::from(BIT));
        Self(_mm256_sll_epi16(self.0, count), _mm256_sll_epi16(self.1, count)).high_bits()
    }

    /// Returns a number that is not 0 if any byte has its highest bit.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn high_mark(self) -> u64 {
        self.high_bits()
    }
}

/// Returns, for each bit, whether an odd number of bits up to it are 1.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(crate) fn prefix_xor(bits: u64) -> u64 {
    let product =
        _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(bits.cast_signed()), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product).cast_unsigned()
}
