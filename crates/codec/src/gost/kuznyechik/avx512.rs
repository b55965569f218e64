//! Kuznyechik with AVX-512, VBMI and GFNI, in constant time: no address and no branch depends on a key or on data.
//!
//! Many blocks go 64 at once, one byte of each in a register (a *plane*). π is a look-up in the parts of its table and
//! a choice between them. L is sixteen steps of the standard's shift register; registers change names instead of
//! moving. The coefficients of a step are a palindrome, so bytes that share one are added first: seven products a step,
//! each one GFNI instruction. For the same reason L⁻¹ is L on the bytes in reverse. The steps add the round keys, as
//! one more term where there is room for it.
//!
//! Floor where there are two ports for such registers (Intel): 7 micro-operations for each π and 18 a step are 200
//! cycles a round, and in counter mode, where the first round is done once for 256 blocks, 1.6 cycles a byte; 0.1 more
//! for turning planes into blocks. Measured: 2.1, of which 1.85 in the rounds. We do not know what keeps them from 1.6
//! (a second batch beside the first, so that π and L overlap, changed nothing).
//!
//! A single block, or a chain, uses four copies of the block in a register. Its bytes are mapped into the field that
//! GFNI multiplies in (the two fields are isomorphic), where L is sixteen rotations times sixteen vectors, in four
//! instructions.
#![expect(unsafe_code, reason = "calls of functions that need the tier")]

mod batches;
mod constants;
mod copies;
mod counter;
mod planes;
mod registers;

use super::super::block::Counter;
use super::naive::Block;
use crate::Tier;
use batches::{Keys, decrypt, encrypt};
use copies::chain;

/// Keys of one CPU that has the tier; a value exists only there.
#[derive(Clone)]
pub(super) struct Kernel(Keys);

impl Kernel {
    /// Prepares the keys; returns `None` unless the CPU has the tier.
    pub(super) fn new(key: &[u8; 32]) -> Option<Self> {
        (Tier::best() >= Tier::Avx512).then(|| {
            // SAFETY: the tier has just been checked.
            Self(unsafe { Keys::new(key) })
        })
    }

    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { encrypt(&self.0, blocks) }
    }

    pub(super) fn decrypt(&self, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { decrypt(&self.0, blocks) }
    }

    pub(super) fn chain(&self, previous: Block, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { chain(&self.0.carried, previous, blocks) }
    }

    pub(super) fn gamma(&self, counter: &mut Counter, gamma: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { counter::fill(&self.0, counter, gamma) }
    }

    pub(super) fn erase(&mut self) {
        self.0.erase();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::block::Turn;
    use super::super::naive::Naive;
    use super::batches::{BATCH, FEW};
    use super::planes::Ports;
    use super::*;

    /// Tests both versions of the rounds, whichever the CPU would choose.
    #[test]
    fn both_versions_of_the_rounds_match_the_standard() {
        let key = [0x5a; 32];
        let Some(mut kernel) = Kernel::new(&key) else {
            return crate::tiers::lacking("the kernels of avx512");
        };
        let naive = Naive::new(&key);
        for ports in [Ports::Two, Ports::Four] {
            kernel.0.ports = ports;
            for (turn, first) in [
                (Turn::Whole, [0xff; 16]),
                (Turn::Left, *b"\x01\x02\x03\x04\x05\x06\xff\x90  right "),
            ] {
                let mut counter = Counter::new(&first, turn);
                let mut plain = vec![[0; 16]; 5 * BATCH + FEW + 1];
                counter.clone().fill(plain.as_flattened_mut());
                let expected: Vec<Block> =
                    plain.iter().map(|block| naive.encrypt(*block)).collect();
                let mut blocks = plain.clone();
                kernel.encrypt(&mut blocks);
                assert!(blocks == expected, "encryption, {ports:?}, {turn:?}");
                kernel.decrypt(&mut blocks);
                assert!(blocks == plain, "decryption, {ports:?}, {turn:?}");
                kernel.gamma(&mut counter, &mut blocks);
                assert!(blocks == expected, "counter mode, {ports:?}, {turn:?}");
            }
        }
    }
}
