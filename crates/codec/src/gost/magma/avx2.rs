//! Magma with AVX2, in constant time: no address and no branch depends on a key or on data.
//!
//! It processes 32 blocks at once, one byte of each in a register (a *plane*), so that one permutation serves a whole
//! register. The price is that the addition carries from plane to plane. The rotation costs nothing: 8 of its 11 bits
//! rename planes, and the other 3 are part of the tables.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

use std::arch::x86_64::*;

use super::super::block::{Counter, Turn};
use super::naive::{Block, RoundKeys};
use super::standard::{PI, ROUNDS};
use crate::Tier;

/// Number of blocks in one batch of planes.
const BATCH: usize = 32;

type Planes = [__m256i; 8];

/// For each position of a byte: what its nibbles contribute to the byte above it (low, high), and to the second above
/// it.
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

/// Proves that the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel(());

impl Kernel {
    /// Returns the kernel, or `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() >= Tier::Avx2).then_some(Self(()))
    }

    /// Runs the blocks through the rounds; reversed keys make that decryption.
    pub(super) fn run(&self, keys: &RoundKeys, blocks: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { run(keys, blocks) }
    }

    pub(super) fn gamma(&self, keys: &RoundKeys, counter: &mut Counter, gamma: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { fill_gamma(keys, counter, gamma) }
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

/// Loads a table into both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Fills a register with a byte that is given four times, which the CPU can broadcast as it loads.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(bytes: u32) -> __m256i {
    _mm256_set1_epi32(bytes.cast_signed())
}

/// The top bit of each byte. All state is stored with this bit inverted, because AVX2 compares bytes as signed.
const OFFSET: u32 = 0x8080_8080;

/// A byte of a round key in the forms that the addition uses, four times each, ready to broadcast.
#[derive(Clone, Copy)]
struct KeyByte {
    /// Added to a byte with [`OFFSET`], this gives the sum without it.
    added: u32,
    /// Greatest byte to which it can be added without a carry, with [`OFFSET`].
    greatest: u32,
}

type RoundKey = [KeyByte; 4];

fn round_key(key: u32) -> RoundKey {
    key.to_le_bytes().map(|byte| {
        let [plain, greatest] = [byte, !byte].map(|byte| u32::from_ne_bytes([byte; 4]) ^ OFFSET);
        KeyByte { added: plain, greatest }
    })
}

/// Interleaves the first half of the rows with the second `TIMES` times. Each time rotates a byte's row and column, as
/// one number of seven bits, left by one: four times make planes of blocks, three more make blocks of planes.
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

/// Adds `word` and `key` byte by byte, least significant first; `word` has [`OFFSET`], the sum does not.
#[inline]
#[target_feature(enable = "avx2")]
fn sum(key: &RoundKey, word: [__m256i; 4]) -> [__m256i; 4] {
    let mut sums = word;
    // All bits of a byte are set, which is −1, or none.
    let mut carry = None;
    for ((sum, byte), key) in sums.iter_mut().zip(word).zip(key) {
        let greatest = broadcast(key.greatest);
        *sum = _mm256_add_epi8(byte, broadcast(key.added));
        let mut carries = _mm256_cmpgt_epi8(byte, greatest);
        if let Some(carry) = carry {
            *sum = _mm256_sub_epi8(*sum, carry);
            let passes_on = _mm256_and_si256(_mm256_cmpeq_epi8(byte, greatest), carry);
            carries = _mm256_or_si256(carries, passes_on);
        }
        carry = Some(carries);
    }
    sums
}

/// Returns `into` after one round, with g of `from` added. Plane 0 is the least significant byte.
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
#[derive(Clone, Copy)]
struct Halves {
    left: [__m256i; 4],
    right: [__m256i; 4],
}

/// The block of a batch that each byte of a plane belongs to, after four rotations of the positions.
const ORDER: [u8; 32] = {
    let (mut order, mut index) = ([0; 32], 0_u8);
    while index < 32 {
        let (lane, column) = (index / 16, index % 16);
        order[index as usize] = 4 * (column / 2) + 2 * lane + column % 2;
        index += 1;
    }
    order
};

#[inline]
#[target_feature(enable = "avx2")]
fn load_batch(blocks: &[Block; BATCH]) -> Halves {
    let (rows, _) = blocks.as_flattened().as_chunks::<32>();
    let mut planes = [_mm256_setzero_si256(); 8];
    for (plane, row) in planes.iter_mut().zip(rows) {
        *plane = _mm256_xor_si256(load(row), broadcast(OFFSET));
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
        store(place, _mm256_xor_si256(row, broadcast(OFFSET)));
    }
}

/// Runs `N` batches in step, because one alone would wait for its carries.
#[inline]
#[target_feature(enable = "avx2")]
fn rounds<const N: usize>(keys: &[RoundKey; ROUNDS], mut states: [Halves; N]) -> [Halves; N] {
    let (pairs, _) = keys.as_chunks::<2>();
    for [odd, even] in pairs {
        for state in &mut states {
            round(odd, &mut state.left, state.right);
        }
        for state in &mut states {
            round(even, &mut state.right, state.left);
        }
    }
    states
}

#[inline]
#[target_feature(enable = "avx2")]
fn run_batches<const N: usize>(keys: &[RoundKey; ROUNDS], batches: &mut [[Block; BATCH]; N]) {
    let zeros = [_mm256_setzero_si256(); 4];
    let mut states = [Halves { left: zeros, right: zeros }; N];
    for (state, batch) in states.iter_mut().zip(&*batches) {
        *state = load_batch(batch);
    }
    for (state, batch) in rounds(keys, states).iter().zip(batches) {
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

/// Returns the planes of the next 32 counters; `None` when more than one byte of them changes.
#[inline]
#[target_feature(enable = "avx2")]
fn counters(counter: &mut Counter) -> Option<Halves> {
    let counting = if counter.turn() == Turn::Left { 4 } else { 0 };
    let bytes = counter.value().to_le_bytes();
    if usize::from(bytes[counting]) + BATCH > 256 {
        return None;
    }
    let mut planes = [_mm256_setzero_si256(); 8];
    for (plane, byte) in planes.iter_mut().zip(bytes) {
        *plane = broadcast(u32::from_ne_bytes([byte; 4]) ^ OFFSET);
    }
    planes[counting] = _mm256_add_epi8(planes[counting], load(&ORDER));
    counter.advance(BATCH as u64);
    let [r0, r1, r2, r3, l0, l1, l2, l3] = planes;
    Some(Halves { left: [l0, l1, l2, l3], right: [r0, r1, r2, r3] })
}

#[target_feature(enable = "avx2")]
fn fill_gamma(keys: &RoundKeys, counter: &mut Counter, gamma: &mut [Block]) {
    let spread = &keys.map(round_key);
    let (groups, rest) = gamma.as_chunks_mut::<{ 2 * BATCH }>();
    for group in groups {
        let mut next = counter.clone();
        if let (Some(one), Some(other)) = (counters(&mut next), counters(&mut next)) {
            let (batches, _) = group.as_chunks_mut::<BATCH>();
            for (state, batch) in rounds(spread, [one, other]).iter().zip(batches) {
                store_batch(batch, state);
            }
            *counter = next;
        } else {
            counter.fill(group.as_flattened_mut());
            run(keys, group);
        }
    }
    counter.fill(rest.as_flattened_mut());
    run(keys, rest);
}
