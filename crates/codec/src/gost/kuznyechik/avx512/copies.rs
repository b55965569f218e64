//! Encrypts one block at a time, with four copies of it in a register, in the field that GFNI multiplies in.
#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::*;

use super::super::carried::{CARRY, CARRY_BACK, ROTATIONS};
use super::super::naive::{Block, RoundKeys, round_keys_by};
use super::constants::CARRIED_PI;
use super::registers::{load, load_table, look_up, xor3};

/// What a round on four copies of one block, in the other field, reads from memory.
struct Copies {
    table: [__m512i; 4],
    places: [__m512i; 4],
    factors: [__m512i; 4],
}

impl Copies {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Self {
        let rows =
            |rows: &[[u8; 64]; 4]| [load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3])];
        let (places, factors) = &ROTATIONS;
        Self { table: load_table(&CARRIED_PI), places: rows(places), factors: rows(factors) }
    }

    /// Applies π and L, and adds `key`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn round(&self, state: __m512i, key: &Block) -> __m512i {
        let bytes = look_up(&self.table, state);
        let term = |index: usize| {
            let rotated = _mm512_shuffle_epi8(bytes, self.places[index]);
            _mm512_gf2p8mul_epi8(rotated, self.factors[index])
        };
        let sum = _mm512_xor_si512(xor3(term(0), term(1), term(2)), term(3));
        let others = xor3(
            _mm512_shuffle_i64x2::<0b00_11_10_01>(sum, sum),
            _mm512_shuffle_i64x2::<0b01_00_11_10>(sum, sum),
            _mm512_shuffle_i64x2::<0b10_01_00_11>(sum, sum),
        );
        xor3(others, sum, copies(key))
    }
}

/// Makes four copies of a block in the other field.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn carried_copies(block: &Block) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(copies(block), _mm512_set1_epi64(CARRY))
}

/// Maps the block back from its copies in the other field.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,gfni")]
fn carry_back(state: __m512i) -> Block {
    let matrix = _mm_set1_epi64x(CARRY_BACK);
    let back = _mm_gf2p8affine_epi64_epi8::<0>(_mm512_castsi512_si128(state), matrix);
    let mut block = [0; 16];
    // SAFETY: the array has 16 bytes, and the store needs no alignment.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), back) }
    block
}

/// Encrypts in a chain.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn chain(keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
    let (way, [first, others @ ..]) = (Copies::new(), keys);
    let mut last = carried_copies(&previous);
    for block in blocks {
        last = xor3(last, carried_copies(block), copies(first));
        for key in others {
            last = way.round(last, key);
        }
        *block = carry_back(last);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn round_keys(key: &[u8; 32]) -> RoundKeys {
    let way = Copies::new();
    round_keys_by(key, |block| carry_back(way.round(carried_copies(&block), &[0; 16])))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn copies(block: &Block) -> __m512i {
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
}
