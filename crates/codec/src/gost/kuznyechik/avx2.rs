//! Kuznyechik with AVX2: 32 blocks at once, one byte of each in a register (a *plane*), and two such batches in step.
//!
//! It takes constant time, except for chains without GFNI: no address and no branch depends on a key or on data. π is decomposed
//! into look-ups of nibbles ([`super::decomposition`]). Between π and the next π every byte is stored as its image
//! under ω, so that ω is part of the tables of L, and α ∘ ω is one map. L is the standard's shift register; bytes that
//! share a coefficient are added first, and a product is a look-up for each nibble. With GFNI (tier `avx2-gfni`), a product is
//! one instruction, and so is each linear map.
//!
//! A chain has one block at a time, which would waste the other 31. Without GFNI it goes through the tables of
//! [`super::portable`] and leaks through the cache as they do.
#![expect(unsafe_code, reason = "calls of functions that need the tier")]

mod chain;
mod counter;
mod gfni;
mod maps;
mod planes;

use zeroize::Zeroize;

use super::super::block::Counter;
use super::naive::{Block, RoundKeys, round_keys_by};
use super::portable;
use super::standard::linear;
use crate::Tier;
use maps::OMEGA_BACK_BITS;
use planes::{AFTER_MIX, BATCH, WideKey, image_of_key, run, run_batches, wide};

/// Round keys in the forms that the rounds add. A value exists only where the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel {
    /// For nine rounds under α, and unchanged after them.
    encryption: [WideKey; 10],
    /// Under ω⁻¹, bytes and rounds in reverse.
    decryption: [WideKey; 10],
    chain: RoundKeys,
    has_gfni: bool,
}

impl Kernel {
    /// Prepares the keys for `tier`, one of those of AVX2; returns `None` unless the CPU has it.
    pub(super) fn new(key: &[u8; 32], tier: Tier) -> Option<Self> {
        if tier.or_best() != tier || tier < Tier::Avx2 {
            return None;
        }
        let mut keys = round_keys_by(key, |block| {
            let mut batch = [[[0; 16]; BATCH]];
            batch[0][0] = block;
            let round = [[0; 16], wide(AFTER_MIX, |byte| byte)];
            // SAFETY: the tier has been checked.
            unsafe { run_batches::<false, 1, false>(&round, &mut batch) }
            let image = batch[0][0];
            batch.zeroize();
            image
        });
        let has_gfni = tier != Tier::Avx2;
        let encryption = std::array::from_fn(|round| {
            let missing = if round == 0 { [0; 16] } else { AFTER_MIX };
            let key = std::array::from_fn(|index| keys[round][index] ^ missing[index]);
            let image = if has_gfni { image_of_key::<true> } else { image_of_key::<false> };
            wide(key, |byte| if round == 9 { byte } else { image(byte) })
        });
        let decryption = std::array::from_fn(|round| {
            let mut key = keys[9 - round];
            key.reverse();
            wide(key, |byte| linear(OMEGA_BACK_BITS, byte))
        });
        let chain = if has_gfni { chain::keys_of(&keys) } else { keys };
        keys.zeroize();
        Some(Self { encryption, decryption, chain, has_gfni })
    }

    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        let run = if self.has_gfni { run::<true, false> } else { run::<false, false> };
        // SAFETY: `new` made sure of the tier.
        unsafe { run(&self.encryption, blocks) }
    }

    pub(super) fn decrypt(&self, blocks: &mut [Block]) {
        let run = if self.has_gfni { run::<true, true> } else { run::<false, true> };
        // SAFETY: `new` made sure of the tier.
        unsafe { run(&self.decryption, blocks) }
    }

    pub(super) fn gamma(&self, counter: &mut Counter, gamma: &mut [Block]) {
        let fill = if self.has_gfni { counter::fill::<true> } else { counter::fill::<false> };
        // SAFETY: `new` made sure of the tier.
        unsafe { fill(&self.encryption, counter, gamma) }
    }

    pub(super) fn chain(&self, previous: Block, blocks: &mut [Block]) {
        if self.has_gfni {
            // SAFETY: `new` made sure of the tier.
            unsafe { chain::chain(&self.chain, previous, blocks) }
        } else {
            portable::chain(&self.chain, previous, blocks);
        }
    }

    pub(super) fn erase(&mut self) {
        self.encryption.zeroize();
        self.decryption.zeroize();
        self.chain.zeroize();
    }
}
