//! Magma as the standard writes it, to compare the other kernels with. It leaks through the cache and is slow.
//!
//! Source: GOST R 34.12-2015, 5.2–5.4 (RFC 8891, sections 4 and 5).

use super::standard::{PI, ROTATION_BITS, ROUNDS};

/// A block; a₁ is its first four bytes, most significant first.
pub type Block = [u8; 8];

/// The round keys K₁ … K₃₂.
pub(super) type RoundKeys = [u32; ROUNDS];

/// Computes the transformation t: each nibble by its own permutation.
fn substitute(word: u32) -> u32 {
    (0..8).fold(0, |sum, place| {
        let nibble = word >> (4 * place) & 15;
        sum | u32::from(PI[place as usize][nibble as usize]) << (4 * place)
    })
}

/// Computes the transformation g\[k\].
fn g(key: u32, word: u32) -> u32 {
    substitute(word.wrapping_add(key)).rotate_left(ROTATION_BITS)
}

/// Computes the key schedule, 5.3: the words of the key three times, and once in reverse.
pub(super) fn round_keys(key: &[u8; 32]) -> RoundKeys {
    let (words, _) = key.as_chunks::<4>();
    std::array::from_fn(|round| {
        let word = if round < 24 { round % 8 } else { 31 - round };
        u32::from_be_bytes(words[word])
    })
}

/// Magma under one key.
#[derive(Clone)]
pub struct Naive(RoundKeys);

impl Naive {
    /// Sets up the cipher under `key`.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(round_keys(key))
    }

    /// Encrypts one block, 5.4.1.
    #[must_use]
    pub fn encrypt(&self, block: Block) -> Block {
        run(self.0.iter(), block)
    }

    /// Decrypts one block, 5.4.2.
    #[must_use]
    pub fn decrypt(&self, block: Block) -> Block {
        run(self.0.iter().rev(), block)
    }
}

fn run<'a>(keys: impl Iterator<Item = &'a u32>, block: Block) -> Block {
    let number = u64::from_be_bytes(block);
    let halves = [number >> 32, number].map(|half| (half & 0xffff_ffff) as u32);
    let [left, right] = keys.fold(halves, |[left, right], key| [right, left ^ g(*key, right)]);
    // The last round does not swap.
    (u64::from(right) << 32 | u64::from(left)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transformations_give_the_examples_of_rfc_8891() {
        assert_eq!(substitute(0xfdb9_7531), 0x2a19_6f34);
        assert_eq!(substitute(0x2a19_6f34), 0xebd9_f03a);
        assert_eq!(g(0x8765_4321, 0xfedc_ba98), 0xfdcb_c20c);
        assert_eq!(g(0xfdcb_c20c, 0x8765_4321), 0x7e79_1a4b);
    }
}
