//! Defines what the modes need from a block cipher, and how counters count.

use super::Key;
use crate::Tier;

/// A block cipher under one key, with kernels that process many blocks at once.
///
/// All methods work in place. Slices must hold whole blocks, or the call panics.
pub trait BlockCipher: Clone + Send + Sync {
    /// Length of a block in bytes: 16 or 8.
    const BLOCK_BYTES: usize;

    /// Sets up the cipher under `key`, with the kernels of `tier`, or of the greatest lesser tier that the CPU has.
    fn new(key: &Key, tier: Tier) -> Self;

    /// Encrypts each block.
    fn encrypt_blocks(&self, blocks: &mut [u8]);

    /// Decrypts each block.
    fn decrypt_blocks(&self, blocks: &mut [u8]);

    /// Encrypts in a chain: XORs each block with the ciphertext before it (the first one with `previous`, which is one
    /// block) and encrypts it.
    fn chain_blocks(&self, previous: &[u8], blocks: &mut [u8]);

    /// Overwrites `gamma` with the encrypted counters, one a block, and advances `counter`.
    fn gamma(&self, counter: &mut Counter, gamma: &mut [u8]);
}

/// Which part of a counter block counts; the rest stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The whole block: the counter mode of GOST R 34.13-2015, 5.2.
    Whole,
    /// The right half: incr_r of RFC 9058, section 3.
    Right,
    /// The left half: incr_l of RFC 9058, section 3.
    Left,
}

/// A block whose counting part counts modulo 2 to the number of its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The block as a big-endian number.
    value: u128,
    block_bytes: usize,
    turn: Turn,
}

impl Counter {
    /// Makes a counter that starts at `block`.
    ///
    /// # Panics
    /// When the block has neither 8 nor 16 bytes.
    #[must_use]
    pub fn new(block: &[u8], turn: Turn) -> Self {
        assert!(matches!(block.len(), 8 | 16), "a block of {} bytes", block.len());
        let value = block.iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
        Self { value, block_bytes: block.len(), turn }
    }

    /// Returns the block as a big-endian number.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn value(&self) -> u128 {
        self.value
    }

    /// Returns which byte of a block of 16 changes with every step, while the others mostly stay the same.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn counting_byte(&self) -> usize {
        if self.turn == Turn::Left { 7 } else { 15 }
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn turn(&self) -> Turn {
        self.turn
    }

    /// Advances by `blocks`.
    pub fn advance(&mut self, blocks: u64) {
        let half_bits = self.block_bytes * 4;
        let half = (1_u128 << half_bits) - 1;
        let step = u128::from(blocks);
        self.value = match self.turn {
            Turn::Whole => self.value.wrapping_add(step) & (half << half_bits | half),
            Turn::Right => self.value & !half | self.value.wrapping_add(step) & half,
            Turn::Left => {
                let left = ((self.value >> half_bits) + (step & half)) & half;
                left << half_bits | self.value & half
            }
        };
    }

    /// Writes the counters, one a block, and advances.
    pub(super) fn fill(&mut self, blocks: &mut [u8]) {
        if self.block_bytes == 16 {
            let blocks = blocks.as_chunks_mut().0;
            self.fill_with(blocks, |value| value.to_be_bytes());
        } else {
            let blocks = blocks.as_chunks_mut().0;
            self.fill_with(blocks, |value| low_half(value).to_be_bytes());
        }
    }

    #[inline]
    fn fill_with<const N: usize>(
        &mut self,
        blocks: &mut [[u8; N]],
        bytes: impl Fn(u128) -> [u8; N],
    ) {
        let half_bits = 4 * N;
        let (first, half) = (self.value, (1_u128 << half_bits) - 1);
        self.advance(blocks.len() as u64);
        let numbered = (0_u64..).zip(blocks);
        match self.turn {
            Turn::Whole => {
                numbered.for_each(|(n, block)| *block = bytes(first.wrapping_add(u128::from(n))));
            }
            Turn::Right => numbered.for_each(|(n, block)| {
                *block = bytes(first & !half | first.wrapping_add(u128::from(n)) & half);
            }),
            Turn::Left => numbered.for_each(|(n, block)| {
                *block = bytes(first.wrapping_add(u128::from(n) << half_bits));
            }),
        }
    }
}

/// Returns the lower 64 bits of a number.
#[expect(clippy::cast_possible_truncation, reason = "what is above is not wanted")]
pub(super) const fn low_half(number: u128) -> u64 {
    number as u64
}

/// XORs `gamma`, of the same length, into `data`.
pub(super) fn add(data: &mut [u8], gamma: &[u8]) {
    debug_assert_eq!(data.len(), gamma.len());
    for (byte, gamma) in data.iter_mut().zip(gamma) {
        *byte ^= gamma;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(block: &[u8], turn: Turn, steps: u64) -> Vec<u8> {
        let mut counter = Counter::new(block, turn);
        counter.advance(steps);
        let mut next = vec![0; block.len()];
        counter.fill(&mut next);
        next
    }

    #[test]
    fn only_the_part_that_counts_turns_over() {
        let block = [0xff; 8];
        assert_eq!(after(&block, Turn::Whole, 1), [0; 8]);
        assert_eq!(after(&block, Turn::Right, 1), [255, 255, 255, 255, 0, 0, 0, 0]);
        assert_eq!(after(&block, Turn::Left, 2), [0, 0, 0, 1, 255, 255, 255, 255]);
        let block = [0xff; 16];
        assert_eq!(after(&block, Turn::Whole, 1), [0; 16]);
        assert_eq!(after(&block, Turn::Right, 1)[7..9], [255, 0]);
        assert_eq!(after(&block, Turn::Left, 1)[7..9], [0, 255]);
    }
}
