//! Kuznyechik as the standard writes it, to compare the other kernels with. It leaks through the cache and is slow.
//!
//! Source: GOST R 34.12-2015, 4.2–4.4 (RFC 7801, section 4).

use super::standard::{COEFFICIENTS, CONSTANTS, PI, PI_INVERSE, ROUND_KEYS, mix, product};

/// A block; the first byte is a₁₅.
pub type Block = [u8; 16];

/// The round keys K₁ … K₁₀.
pub(super) type RoundKeys = [Block; ROUND_KEYS];

fn xor(a: Block, b: &Block) -> Block {
    std::array::from_fn(|index| a[index] ^ b[index])
}

fn substitute(block: Block) -> Block {
    block.map(|byte| PI[usize::from(byte)])
}

fn substitute_back(block: Block) -> Block {
    block.map(|byte| PI_INVERSE[usize::from(byte)])
}

/// Computes the inverse of R: the byte that left the register at its end comes back.
fn shift_back(block: Block) -> Block {
    let mut shifted = [0; 16];
    shifted[..15].copy_from_slice(&block[1..]);
    // ℓ of the earlier state was block[0], and the coefficient of a₀ is one.
    shifted[15] = block[0];
    for index in 0..15 {
        shifted[15] ^= product(COEFFICIENTS[index], shifted[index]);
    }
    shifted
}

fn mix_back(block: Block) -> Block {
    (0..16).fold(block, |mixed, _| shift_back(mixed))
}

/// Computes the key schedule, 4.3, with some kernel's S and L together: eight steps of a Feistel network between one
/// pair of round keys and the next.
pub(super) fn round_keys_by(key: &[u8; 32], round: impl Fn(Block) -> Block) -> RoundKeys {
    let mut keys = [[0; 16]; ROUND_KEYS];
    let (left, right) = key.split_at(16);
    keys[0].copy_from_slice(left);
    keys[1].copy_from_slice(right);
    for pair in 0..4 {
        let (mut left, mut right) = (keys[2 * pair], keys[2 * pair + 1]);
        for constant in &CONSTANTS[8 * pair..8 * pair + 8] {
            let next = xor(round(xor(left, constant)), &right);
            (left, right) = (next, left);
        }
        (keys[2 * pair + 2], keys[2 * pair + 3]) = (left, right);
    }
    keys
}

/// Kuznyechik under one key.
#[derive(Clone)]
pub struct Naive(RoundKeys);

impl Naive {
    /// Sets up the cipher under `key`.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(round_keys_by(key, |block| mix(substitute(block))))
    }

    /// Encrypts one block, 4.4.1.
    #[must_use]
    pub fn encrypt(&self, block: Block) -> Block {
        let round = |state, key| mix(substitute(xor(state, key)));
        xor(self.0[..9].iter().fold(block, round), &self.0[9])
    }

    /// Decrypts one block, 4.4.2.
    #[must_use]
    pub fn decrypt(&self, block: Block) -> Block {
        let round = |state, key| xor(substitute_back(mix_back(state)), key);
        self.0[..9].iter().rev().fold(xor(block, &self.0[9]), round)
    }
}

#[cfg(test)]
mod tests {
    use super::super::standard::shift;
    use super::*;

    fn block(hex: u128) -> Block {
        hex.to_be_bytes()
    }

    #[test]
    fn the_transformations_give_the_examples_of_rfc_7801() {
        assert_eq!(
            substitute(block(0xffee_ddcc_bbaa_9988_1122_3344_5566_7700)),
            block(0xb66c_d888_7d38_e8d7_7765_aeea_0c9a_7efc)
        );
        assert_eq!(shift(block(0x100)), block(0x9400_0000_0000_0000_0000_0000_0000_0001));
        let mixed = block(0xd456_584d_d0e3_e84c_c316_6e4b_7fa2_890d);
        assert_eq!(mix(block(0x64a5_9400_0000_0000_0000_0000_0000_0000)), mixed);
        assert_eq!(mix_back(mixed), block(0x64a5_9400_0000_0000_0000_0000_0000_0000));
        assert_eq!(CONSTANTS[0], block(0x6ea2_7672_6c48_7ab8_5d27_bd10_dd84_9401));
        assert_eq!(CONSTANTS[7], block(0xf659_3616_e605_5689_adfb_a180_27aa_2a08));
    }

    #[test]
    fn the_round_keys_are_those_of_rfc_7801() {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&block(0x8899_aabb_ccdd_eeff_0011_2233_4455_6677));
        key[16..].copy_from_slice(&block(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef));
        let Naive(keys) = Naive::new(&key);
        assert_eq!(keys[2], block(0xdb31_4853_1569_4343_228d_6aef_8cc7_8c44));
        assert_eq!(keys[5], block(0xbd07_9435_165c_6432_b532_e828_34da_581b));
        assert_eq!(keys[9], block(0x72e9_dd74_16bc_f45b_755d_baa8_8e4a_4043));
    }
}
