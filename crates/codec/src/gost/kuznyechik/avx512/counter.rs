//! Counter mode: does the work that 64 consecutive counters have in common only once.

use std::arch::x86_64::*;

use super::super::super::block::Counter;
use super::super::naive::Block;
use super::super::standard::PI;
use super::batches::{BATCH, Keys, encrypt, encrypt_planes, rounds_from, store_batch};
use super::constants::COUNTING_COLUMNS;
use super::planes::{Planes, add, rounds};
use super::registers::{load, load_table, look_up};

/// The block of a batch that each byte of a plane belongs to: 4b + l for byte b of lane l, because transposing
/// registers of four blocks each gives that order.
const ORDER: [u8; 64] = {
    let (mut order, mut index) = ([0; 64], 0_u8);
    while index < 64 {
        order[index as usize] = 4 * (index % 16) + index / 16;
        index += 1;
    }
    order
};

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// Returns the planes of the next 64 counters: one byte counts, and where it overflows the others advance by one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn counter_planes(counter: &Counter) -> Planes {
    let (first, counting) = (counter.value().to_be_bytes(), counter.counting_byte());
    let mut after = counter.clone();
    after.advance(256 - u64::from(first[counting]));
    let over = after.value().to_be_bytes();

    let count = _mm512_add_epi8(broadcast(first[counting]), load(&ORDER));
    let has_turned = _mm512_cmplt_epu8_mask(count, broadcast(first[counting]));
    let mut planes = [count; 16];
    for index in (0..16).filter(|index| *index != counting) {
        planes[index] =
            _mm512_mask_blend_epi8(has_turned, broadcast(first[index]), broadcast(over[index]));
    }
    planes
}

/// The first round of counters that differ in one byte only: the common part is computed once for 256 of them.
struct FirstRound {
    /// The counter without its counting byte.
    of: Block,
    /// The planes after the first round; the counting byte after π is in `counted`.
    planes: Planes,
    counted: __m512i,
}

impl FirstRound {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn new(keys: &Keys, counter: &Counter) -> Self {
        let (first, counting) = (counter.value().to_be_bytes(), counter.counting_byte());
        let mut planes = [_mm512_setzero_si512(); 16];
        for (plane, byte) in planes.iter_mut().zip(first) {
            *plane = broadcast(byte);
        }
        add(&mut planes, &keys.encryption.edge);
        let counted = look_up(&load_table(&PI), planes[counting]);
        let planes = rounds::<false, true>(&keys.encryption.rounds[..1], planes);
        Self { of: Self::rest(counter), planes, counted }
    }

    /// Returns the counter without its counting byte.
    fn rest(counter: &Counter) -> Block {
        let mut rest = counter.value().to_be_bytes();
        rest[counter.counting_byte()] = 0;
        rest
    }

    /// Returns the planes of the next 64 counters after the first round.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn next(&self, keys: &Keys, counter: &Counter) -> Planes {
        let counting = counter.counting_byte();
        let first = broadcast(counter.value().to_be_bytes()[counting]);
        let count = _mm512_add_epi8(first, load(&ORDER));
        let key = _mm512_set1_epi32(keys.encryption.edge[counting].cast_signed());
        let substituted = look_up(&load_table(&PI), _mm512_xor_si512(count, key));
        let change = _mm512_xor_si512(substituted, self.counted);
        let matrices = &COUNTING_COLUMNS[usize::from(counting == 15)];
        let mut planes = self.planes;
        for (plane, matrix) in planes.iter_mut().zip(matrices) {
            let matrix = _mm512_set1_epi64(*matrix);
            *plane = _mm512_xor_si512(*plane, _mm512_gf2p8affine_epi64_epi8::<0>(change, matrix));
        }
        planes
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn fill(keys: &Keys, counter: &mut Counter, gamma: &mut [Block]) {
    let (batches, rest) = gamma.as_chunks_mut::<BATCH>();
    let mut first_round: Option<FirstRound> = None;
    for batch in batches {
        let turns_over = counter.value().to_be_bytes()[counter.counting_byte()] > 192;
        let planes = if turns_over {
            encrypt_planes(keys, counter_planes(counter))
        } else {
            let rest = FirstRound::rest(counter);
            if first_round.as_ref().is_none_or(|known| known.of != rest) {
                first_round = None;
            }
            let known = first_round.get_or_insert_with(|| FirstRound::new(keys, counter));
            rounds_from(keys, 1, known.next(keys, counter))
        };
        store_batch(batch, planes);
        counter.advance(BATCH as u64);
    }
    counter.fill(rest.as_flattened_mut());
    encrypt(keys, rest);
}
