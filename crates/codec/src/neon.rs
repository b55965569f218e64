//! 64 bytes in registers of NEON, and masks of them.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::arch::asm;

use crate::kernel::{load16, load64_in_turn};

/// 64 bytes, dealt out to four registers in turn, so that a mask of them takes few instructions.
#[derive(Clone, Copy)]
pub(crate) struct Block(pub(crate) [uint8x16_t; 4]);

#[inline]
#[target_feature(enable = "neon")]
fn byte(value: u8) -> uint8x16_t {
    vdupq_n_u8(value)
}

/// Keeps the highest `BY` bits of each byte of `kept`, with the highest bits of `below` behind them (SRI).
///
/// The compiler makes several instructions of `vsriq_n_u8`.
#[inline]
#[target_feature(enable = "neon")]
fn insert_right<const BY: u8>(mut kept: uint8x16_t, below: uint8x16_t) -> uint8x16_t {
    const { assert!(BY >= 1 && BY <= 8) };
    // SAFETY: the instruction changes its first register and nothing else; it is part of the tier.
    unsafe {
        asm!(
            "sri {kept:v}.16b, {below:v}.16b, #{by}",
            kept = inout(vreg) kept,
            below = in(vreg) below,
            by = const BY,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    kept
}

impl Block {
    /// Loads 64 bytes of `bytes` from offset `at`.
    ///
    /// # Panics
    /// When there are fewer.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn load(bytes: &[u8], at: usize) -> Self {
        let uint8x16x4_t(a, b, c, d) = load64_in_turn(bytes, at);
        Self([a, b, c, d])
    }

    /// Returns the highest bits of all bytes; the lowest bit of the result stands for the first byte.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn high_bits(self) -> u64 {
        let [a, b, c, d] = self.0;
        let (low, high) = (insert_right::<1>(b, a), insert_right::<1>(d, c));
        let half = insert_right::<2>(high, low);
        let halves = vreinterpretq_u16_u8(insert_right::<4>(half, half));
        vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(halves)))
    }

    /// Returns a number that is not 0 if any byte has its highest bit.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn high_mark(self) -> u64 {
        let [a, b, c, d] = self.0;
        u64::from(vmaxvq_u8(vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d))) & 0x80)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn same_as(self, other: Self) -> u64 {
        Self(std::array::from_fn(|index| vceqq_u8(self.0[index], other.0[index]))).high_bits()
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn equal(self, value: u8) -> u64 {
        Self(self.0.map(|vector| vceqq_u8(vector, byte(value)))).high_bits()
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn at_most(self, value: u8) -> u64 {
        Self(self.0.map(|vector| vcleq_u8(vector, byte(value)))).high_bits()
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn minus(self, value: u8) -> Self {
        Self(self.0.map(|vector| vsubq_u8(vector, byte(value))))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn or(self, value: u8) -> Self {
        Self(self.0.map(|vector| vorrq_u8(vector, byte(value))))
    }

    /// Returns which bytes have a bit in common with their counterpart in `other`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn meets(self, other: Self) -> u64 {
        Self(std::array::from_fn(|index| vtstq_u8(self.0[index], other.0[index]))).high_bits()
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| vandq_u8(self.0[index], other.0[index])))
    }

    /// Returns which bytes have bit `BIT`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn has<const BIT: u8>(self) -> u64 {
        Self(self.0.map(|vector| vshlq_u8(vector, vdupq_n_s8(7 - BIT.cast_signed())))).high_bits()
    }

    /// Tells whether any byte is 0.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn has_zero(self) -> bool {
        let [a, b, c, d] = self.0;
        vminvq_u8(vminq_u8(vminq_u8(a, b), vminq_u8(c, d))) == 0
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn plus(self, value: u8) -> Self {
        Self(self.0.map(|vector| vaddq_u8(vector, byte(value))))
    }

    /// Moves the bits of each byte up by so many places.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn shifted<const BY: i32>(self) -> Self {
        Self(self.0.map(|vector| vshlq_n_u8::<BY>(vector)))
    }

    /// Returns the lower four bits of each byte.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn lower_halves(self) -> Self {
        Self(self.0.map(|vector| vandq_u8(vector, byte(15))))
    }

    /// Returns the upper four bits of each byte, as a number.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn upper_halves(self) -> Self {
        Self(self.0.map(|vector| vshrq_n_u8::<4>(vector)))
    }

    /// Looks each byte up by its lower four bits.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn look_up_lower(self, table: &[u8; 16]) -> Self {
        self.lower_halves().look_up(table)
    }

    /// Looks each byte up; 0 for bytes above 15.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn look_up(self, table: &[u8; 16]) -> Self {
        let table = load16(table, 0);
        Self(self.0.map(|vector| vqtbl1q_u8(table, vector)))
    }
}

/// Returns, for each bit, whether an odd number of bits up to it are 1.
#[inline]
pub(crate) fn prefix_xor(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, shift| bits ^ bits << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tier;

    #[target_feature(enable = "neon")]
    fn masks_of(bytes: &[u8]) -> ([u64; 4], bool) {
        let block = Block::load(bytes, 0);
        let masks = [block.equal(b'b'), !block.at_most(b'a'), block.has::<1>(), block.high_bits()];
        (masks, block.high_mark() != 0)
    }

    fn masks(bytes: &[u8]) -> ([u64; 4], bool) {
        assert!(Tier::all().contains(&Tier::Neon));
        // SAFETY: the CPU has the tier.
        unsafe { masks_of(bytes) }
    }

    #[test]
    fn every_byte_of_a_block_has_its_bit() {
        for at in 0..64 {
            let mut bytes = [b'a'; 64];
            bytes[at] = b'b';
            assert_eq!(masks(&bytes), ([1 << at, 1 << at, 1 << at, 0], false));
            bytes[at] = 0x80;
            assert_eq!(masks(&bytes), ([0, 1 << at, 0, 1 << at], true));
        }
    }

    #[test]
    fn a_prefix_is_odd_from_one_bit_to_the_next() {
        assert_eq!(prefix_xor(0b0010_0010), 0b0001_1110);
        assert_eq!(prefix_xor(1), u64::MAX);
        assert_eq!(prefix_xor(1 << 63), 1 << 63);
    }

    #[test]
    #[should_panic(expected = "range end index 64 out of range")]
    fn a_block_beyond_the_end_is_refused() {
        let _ = masks(&[0; 63]);
    }
}
