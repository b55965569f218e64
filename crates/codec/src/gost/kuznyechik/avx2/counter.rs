//! Counter mode: does the first round of counters that differ in one byte only once for 256 of them.

use std::arch::x86_64::*;

use super::super::super::block::Counter;
use super::super::decomposition::{omega, omega_back};
use super::super::naive::Block;
use super::super::standard::mix;
use super::maps::{Loaded, Map, OMEGA_BACK, map_of, mapped};
use super::planes::{BATCH, Planes, WideKey, encrypted, load, rounds, run, store_batch};

/// Number of blocks in two batches in step.
const GROUP: usize = 2 * BATCH;

/// How far the counting byte counts in a batch.
const COUNTS: u8 = 32;
const _: () = assert!(COUNTS as usize == BATCH);

/// The block of a batch that each byte of a plane belongs to: transposing registers of two blocks each gives that order.
const ORDER: [u8; 32] = {
    let (mut order, mut index) = ([0; 32], 0_u8);
    while index < 32 {
        order[index as usize] = 2 * (index % 16) + index / 16;
        index += 1;
    }
    order
};

/// What L makes of byte 7, and of byte 15, in each byte, with ω on both sides.
const COLUMNS: [[Map; 16]; 2] = [column(7), column(15)];

const fn column(byte: usize) -> [Map; 16] {
    let (mut images, mut bit) = ([[0; 8]; 16], 0);
    while bit < 8 {
        let mut block = [0; 16];
        block[byte] = omega(1 << bit);
        let (mixed, mut index) = (mix(block), 0);
        while index < 16 {
            images[index][bit] = omega_back(mixed[index]);
            index += 1;
        }
        bit += 1;
    }
    let (mut maps, mut index) = ([map_of([0; 8]); 16], 0);
    while index < 16 {
        maps[index] = map_of(images[index]);
        index += 1;
    }
    maps
}

/// Counters after the first round. They have all bytes but one in common, whose part in the planes is computed once.
struct FirstRound {
    /// The counter without its counting byte.
    of: Block,
    /// The planes of one of these counters.
    planes: Planes,
    /// Its counting byte after π.
    counted: __m256i,
}

/// Returns the counter without its counting byte, and that byte.
fn parts(counter: &Counter) -> (Block, u8) {
    let mut rest = counter.value().to_be_bytes();
    let count = std::mem::take(&mut rest[counter.counting_byte()]);
    (rest, count)
}

#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

impl FirstRound {
    #[target_feature(enable = "avx2")]
    fn new<const GFNI: bool>(keys: &[WideKey; 10], counter: &Counter) -> Self {
        let (of, counting) = (parts(counter).0, counter.counting_byte());
        let mut planes = [_mm256_setzero_si256(); 16];
        for (plane, byte) in planes.iter_mut().zip(of) {
            *plane = mapped::<GFNI>(&OMEGA_BACK, broadcast(byte));
        }
        let counted = encrypted::<GFNI>(planes[counting], keys[0][counting]);
        let mut states = [planes];
        rounds::<GFNI, 1, false>(&keys[..2], &mut states);
        Self { of, planes: states[0], counted }
    }

    /// Returns the planes of the 32 counters from the one whose counting byte is `first`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of_batch<const GFNI: bool>(&self, key: &WideKey, counting: usize, first: u8) -> Planes {
        let count = _mm256_add_epi8(broadcast(first), load(&ORDER));
        let substituted = encrypted::<GFNI>(mapped::<GFNI>(&OMEGA_BACK, count), key[counting]);
        let change = _mm256_xor_si256(substituted, self.counted);
        let mut planes = self.planes;
        for (plane, column) in planes.iter_mut().zip(&COLUMNS[counting / 8]) {
            *plane = _mm256_xor_si256(*plane, Loaded::<GFNI>::new(column).of(change));
        }
        planes
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn fill<const GFNI: bool>(
    keys: &[WideKey; 10],
    counter: &mut Counter,
    gamma: &mut [Block],
) {
    let counting = counter.counting_byte();
    let (groups, rest) = gamma.as_chunks_mut::<GROUP>();
    let mut first_round: Option<FirstRound> = None;
    for group in groups {
        let (of, first) = parts(counter);
        if usize::from(first) + GROUP > 256 {
            counter.fill(group.as_flattened_mut());
            run::<GFNI, false>(keys, group);
            continue;
        }
        if first_round.as_ref().is_none_or(|known| known.of != of) {
            first_round = None;
        }
        let known = first_round.get_or_insert_with(|| FirstRound::new::<GFNI>(keys, counter));
        let mut states =
            [first, first + COUNTS].map(|first| known.of_batch::<GFNI>(&keys[0], counting, first));
        rounds::<GFNI, 2, false>(&keys[1..], &mut states);
        let (batches, _) = group.as_chunks_mut::<BATCH>();
        for (batch, planes) in batches.iter_mut().zip(states) {
            store_batch::<GFNI, false>(batch, planes, &keys[9]);
        }
        counter.advance(GROUP as u64);
    }
    counter.fill(rest.as_flattened_mut());
    run::<GFNI, false>(keys, rest);
}

#[cfg(test)]
mod tests {
    use super::super::super::super::block::Turn;
    use super::super::super::naive::Naive;
    use super::super::Kernel;
    use super::*;
    use crate::Tier;

    #[test]
    fn gamma_is_that_of_the_standard_wherever_the_counter_begins() {
        for tier in [Tier::Avx2, Tier::Avx2Gfni] {
            match Kernel::new(&[0x5a; 32], tier) {
                Some(kernel) => is_that_of_the_standard(&kernel, &[0x5a; 32]),
                None => crate::tiers::lacking(&format!("the kernels of {tier}")),
            }
        }
    }

    fn is_that_of_the_standard(kernel: &Kernel, key: &[u8; 32]) {
        let naive = Naive::new(key);
        let of = |count: u8| {
            let mut block = *b"\x01\x02\x03\x04\x05\x06\xff_  right_";
            (block[7], block[15]) = (count, count);
            block
        };
        for (turn, first) in [
            (Turn::Whole, [0; 16]),
            (Turn::Whole, [0xff; 16]),
            (Turn::Right, of(191)),
            (Turn::Right, of(193)),
            (Turn::Left, of(7)),
        ] {
            let mut counter = Counter::new(&first, turn);
            let mut gamma = vec![[0; 16]; 9 * GROUP + BATCH + 1];
            counter.clone().fill(gamma.as_flattened_mut());
            let expected: Vec<Block> = gamma.iter().map(|block| naive.encrypt(*block)).collect();
            let mut after = counter.clone();
            after.advance(gamma.len() as u64);
            kernel.gamma(&mut counter, &mut gamma);
            assert!(gamma == expected, "{turn:?} from {first:?}");
            assert_eq!(counter, after);
        }
    }
}
