//! Magma with AVX2 in constant time: no address and no branch depends on a key or on data.
//!
//! 32 blocks at once, one byte of each in a register (a *plane*), so that one permutation serves all of a register.
//! The price is that the addition carries from plane to plane.
//! The rotation costs nothing: by 8 bits it renames planes, by the other 3 it is part of the tables.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

use std::arch::x86_64::*;

use super::naive::{Block, RoundKeys};
use super::standard::{PI, ROUNDS};
use crate::Tier;

/// Blocks of one batch of planes.
const BATCH: usize = 32;

type Planes = [__m256i; 8];

/// Per place of a byte: what its nibbles contribute to the byte above it (low, high), and to the second above it.
const TABLES: [[[u8; 16]; 3]; 4] = {
    let (mut tables, mut place) = ([[[0; 16]; 3]; 4], 0);
    while place < 4 {
        let mut value = 0;
        while value < 16 {
            // Rotated by 11, a byte goes up by 8 and by 3 more; the top three bits leave it.
            let (low, high) = (PI[2 * place][value], PI[2 * place + 1][value]);
            tables[place][0][value] = low << 3;
            tables[place][1][value] = high << 7;
            tables[place][2][value] = high >> 1;
            value += 1;
        }
        place += 1;
    }
    tables
};

/// The proof that the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel(());

impl Kernel {
    /// `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() >= Tier::Avx2).then_some(Self(()))
    }

    /// Runs the blocks through the rounds; with the keys in reverse, that is decryption.
    pub(super) fn run(&self, keys: &RoundKeys, blocks: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { run(keys, blocks) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; 32], value: __m256i) {
    // SAFETY: the reference is to 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

/// A table in both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// A byte in all of a register, given four times, which is what the CPU can broadcast as it loads.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(bytes: u32) -> __m256i {
    _mm256_set1_epi32(bytes.cast_signed())
}

/// A byte of a round key in the forms that the addition takes, four times each: ready to be broadcast.
#[derive(Clone, Copy)]
struct KeyByte {
    plain: u32,
    /// One more.
    carried: u32,
    /// With the top bit changed: where bytes are compared as signed.
    signed: u32,
}

type RoundKey = [KeyByte; 4];

fn round_key(key: u32) -> RoundKey {
    key.to_le_bytes().map(|byte| {
        let [plain, carried, signed] =
            [byte, byte.wrapping_add(1), byte ^ 0x80].map(|byte| u32::from_ne_bytes([byte; 4]));
        KeyByte { plain, carried, signed }
    })
}

/// Interleaves the first half of the rows with the second `TIMES` times. A byte's row and column, as one number of
/// seven bits, turn left by one each time: four times make planes of blocks, three more make blocks of planes.
#[inline]
#[target_feature(enable = "avx2")]
fn turned<const TIMES: usize>(mut rows: Planes) -> Planes {
    for _ in 0..TIMES {
        let mut next = rows;
        for index in 0..4 {
            next[2 * index] = _mm256_unpacklo_epi8(rows[index], rows[index + 4]);
            next[2 * index + 1] = _mm256_unpackhi_epi8(rows[index], rows[index + 4]);
        }
        rows = next;
    }
    rows
}

/// `word` + `key` byte by byte, least significant first.
#[inline]
#[target_feature(enable = "avx2")]
fn sum(key: &RoundKey, word: [__m256i; 4]) -> [__m256i; 4] {
    let mut sums = word;
    let mut is_carried = _mm256_setzero_si256();
    for ((sum, byte), key) in sums.iter_mut().zip(word).zip(key) {
        let plain = _mm256_add_epi8(byte, broadcast(key.plain));
        let carried = _mm256_add_epi8(byte, broadcast(key.carried));
        *sum = _mm256_blendv_epi8(plain, carried, is_carried);
        // A sum that is less than what was added to it has turned over; with a carry, also one that is equal.
        let signed = _mm256_add_epi8(byte, broadcast(key.signed));
        let without = _mm256_cmpgt_epi8(broadcast(key.signed), signed);
        let with = _mm256_cmpeq_epi8(_mm256_min_epu8(carried, broadcast(key.plain)), carried);
        is_carried = _mm256_blendv_epi8(without, with, is_carried);
    }
    sums
}

/// `into` after one round: with g of `from` added. Plane 0 is the least significant byte.
#[inline]
#[target_feature(enable = "avx2")]
fn round(key: &RoundKey, into: &mut [__m256i; 4], from: [__m256i; 4]) {
    let nibble = broadcast(0x0f0f_0f0f);
    for (place, byte) in sum(key, from).into_iter().enumerate() {
        let low = _mm256_and_si256(byte, nibble);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(byte), nibble);
        let [of_low, of_high, of_top] = &TABLES[place];
        let above = (place + 1) % 4;
        into[above] = _mm256_xor_si256(into[above], _mm256_shuffle_epi8(table(of_low), low));
        into[above] = _mm256_xor_si256(into[above], _mm256_shuffle_epi8(table(of_high), high));
        let second = (place + 2) % 4;
        into[second] = _mm256_xor_si256(into[second], _mm256_shuffle_epi8(table(of_top), high));
    }
}

/// The planes of a batch: bytes of the left halves and of the right ones, least significant first.
struct Halves {
    left: [__m256i; 4],
    right: [__m256i; 4],
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_batch(blocks: &[Block; BATCH]) -> Halves {
    let (rows, _) = blocks.as_flattened().as_chunks::<32>();
    let mut planes = [_mm256_setzero_si256(); 8];
    for (plane, row) in planes.iter_mut().zip(rows) {
        *plane = load(row);
    }
    let [l3, l2, l1, l0, r3, r2, r1, r0] = turned::<4>(planes);
    Halves { left: [l0, l1, l2, l3], right: [r0, r1, r2, r3] }
}

/// Stores the halves swapped, because the last round does not swap.
#[inline]
#[target_feature(enable = "avx2")]
fn store_batch(blocks: &mut [Block; BATCH], halves: &Halves) {
    let [l0, l1, l2, l3] = halves.left;
    let [r0, r1, r2, r3] = halves.right;
    let rows = turned::<3>([r3, r2, r1, r0, l3, l2, l1, l0]);
    let (places, _) = blocks.as_flattened_mut().as_chunks_mut::<32>();
    for (place, row) in places.iter_mut().zip(rows) {
        store(place, row);
    }
}

/// Runs `N` batches in step: one alone would wait for its carries.
#[inline]
#[target_feature(enable = "avx2")]
fn run_batches<const N: usize>(keys: &[RoundKey; ROUNDS], batches: &mut [[Block; BATCH]; N]) {
    let zeros = [_mm256_setzero_si256(); 4];
    let mut states = [const { None }; N].map(|_: Option<()>| Halves { left: zeros, right: zeros });
    for (state, batch) in states.iter_mut().zip(&*batches) {
        *state = load_batch(batch);
    }
    let (pairs, _) = keys.as_chunks::<2>();
    for [odd, even] in pairs {
        for state in &mut states {
            round(odd, &mut state.left, state.right);
        }
        for state in &mut states {
            round(even, &mut state.right, state.left);
        }
    }
    for (state, batch) in states.iter().zip(batches) {
        store_batch(batch, state);
    }
}

#[target_feature(enable = "avx2")]
fn run(keys: &RoundKeys, blocks: &mut [Block]) {
    let keys = &keys.map(round_key);
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    let (groups, odd) = batches.as_chunks_mut::<2>();
    for group in groups {
        run_batches(keys, group);
    }
    for batch in odd {
        run_batches(keys, std::array::from_mut(batch));
    }
    if !rest.is_empty() {
        let mut last = [[[0; 8]; BATCH]];
        last[0][..rest.len()].copy_from_slice(rest);
        run_batches(keys, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }
}
