//! Magma with AVX-512 and VBMI, in constant time: no address and no branch depends on a key or on data.
//!
//! It processes 128 blocks at once: sixteen left or right halves in a register, eight pairs of registers, so that no
//! round waits for the one before. One table of 64 bytes holds the permutations of the even nibbles, another those of
//! the odd nibbles: the index is the nibble with the position of its byte above it.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

use std::arch::x86_64::*;

use super::super::block::{Counter, Turn};
use super::naive::{Block, RoundKeys};
use super::standard::PI;
use crate::Tier;

/// Number of blocks in one batch.
const BATCH: usize = 128;

/// Number of register pairs in one batch.
const PAIRS: usize = 8;

const LOW_NIBBLES: [u8; 64] = {
    let (mut table, mut index) = ([0; 64], 0);
    while index < 64 {
        table[index] = PI[index / 16 * 2][index % 16];
        index += 1;
    }
    table
};

const HIGH_NIBBLES: [u8; 64] = {
    let (mut table, mut index) = ([0; 64], 0);
    while index < 64 {
        table[index] = PI[index / 16 * 2 + 1][index % 16] << 4;
        index += 1;
    }
    table
};

/// Positions of the left halves' bytes in sixteen blocks, least significant first; the right ones are 4 further.
const LEFT: [u8; 64] = {
    let (mut places, mut index) = ([0; 64], 0_u8);
    while index < 64 {
        places[index as usize] = index / 4 * 8 + 3 - index % 4;
        index += 1;
    }
    places
};

/// Positions of the first eight blocks' bytes in sixteen first halves and sixteen second halves; those of the others
/// are 32 further.
const BLOCKS: [u8; 64] = {
    let (mut places, mut index) = ([0; 64], 0_u8);
    while index < 64 {
        let (block, byte) = (index / 8, index % 8);
        places[index as usize] =
            if byte < 4 { 4 * block + 3 - byte } else { 64 + 4 * block + 7 - byte };
        index += 1;
    }
    places
};

/// Proves that the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel(());

impl Kernel {
    /// Returns the kernel, or `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() >= Tier::Avx512).then_some(Self(()))
    }

    /// Runs the blocks through the rounds; reversed keys make that decryption.
    pub(super) fn run(&self, keys: &RoundKeys, blocks: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { run(keys, blocks) }
    }

    pub(super) fn chain(&self, keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { chain(keys, previous, blocks) }
    }

    pub(super) fn gamma(&self, keys: &RoundKeys, counter: &mut Counter, gamma: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { fill_gamma(keys, counter, gamma) }
    }
}

/// The halves of a batch; the left one is a₁.
struct Halves<const N: usize> {
    left: [__m512i; N],
    right: [__m512i; N],
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; 64], value: __m512i) {
    // SAFETY: the reference is to 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}

/// Returns `into` after one round, with g of `from` added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn round<const N: usize>(key: u32, into: &mut [__m512i; N], from: &[__m512i; N]) {
    let (low_table, high_table) = (load(&LOW_NIBBLES), load(&HIGH_NIBBLES));
    let nibbles = _mm512_set1_epi32(0x0f0f_0f0f);
    let places = _mm512_set1_epi32(0x3020_1000);
    let key = _mm512_set1_epi32(key.cast_signed());
    for (into, from) in into.iter_mut().zip(from) {
        let word = _mm512_add_epi32(*from, key);
        // (word and nibbles) or places
        let low = _mm512_ternarylogic_epi32::<0xea>(word, nibbles, places);
        let high = _mm512_ternarylogic_epi32::<0xea>(_mm512_srli_epi32::<4>(word), nibbles, places);
        let word = _mm512_or_si512(
            _mm512_permutexvar_epi8(low, low_table),
            _mm512_permutexvar_epi8(high, high_table),
        );
        *into = _mm512_xor_si512(*into, _mm512_rol_epi32::<11>(word));
    }
}

/// Runs all rounds; the halves come out as the standard's last round leaves them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn rounds<const N: usize>(keys: &RoundKeys, mut halves: Halves<N>) -> Halves<N> {
    let (pairs, _) = keys.as_chunks::<2>();
    for [odd, even] in pairs {
        round(*odd, &mut halves.left, &halves.right);
        round(*even, &mut halves.right, &halves.left);
    }
    Halves { left: halves.right, right: halves.left }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn load_batch(blocks: &[Block; BATCH]) -> Halves<PAIRS> {
    let (rows, _) = blocks.as_flattened().as_chunks::<64>();
    let left_places = load(&LEFT);
    let right_places = _mm512_add_epi8(left_places, _mm512_set1_epi8(4));
    let zeros = [_mm512_setzero_si512(); PAIRS];
    let mut halves = Halves { left: zeros, right: zeros };
    for pair in 0..PAIRS {
        let (first, second) = (load(&rows[2 * pair]), load(&rows[2 * pair + 1]));
        halves.left[pair] = _mm512_permutex2var_epi8(first, left_places, second);
        halves.right[pair] = _mm512_permutex2var_epi8(first, right_places, second);
    }
    halves
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn store_batch(blocks: &mut [Block; BATCH], halves: &Halves<PAIRS>) {
    let (rows, _) = blocks.as_flattened_mut().as_chunks_mut::<64>();
    let first = load(&BLOCKS);
    let second = _mm512_add_epi8(first, _mm512_set1_epi8(32));
    for pair in 0..PAIRS {
        let (left, right) = (halves.left[pair], halves.right[pair]);
        store(&mut rows[2 * pair], _mm512_permutex2var_epi8(left, first, right));
        store(&mut rows[2 * pair + 1], _mm512_permutex2var_epi8(left, second, right));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn run(keys: &RoundKeys, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, &rounds(keys, load_batch(batch)));
    }
    if !rest.is_empty() {
        let mut last = [[0; 8]; BATCH];
        last[..rest.len()].copy_from_slice(rest);
        let halves = rounds(keys, load_batch(&last));
        store_batch(&mut last, &halves);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Returns the next 128 counters.
#[inline]
#[target_feature(enable = "avx512f")]
fn counters(counter: &mut Counter) -> Halves<PAIRS> {
    let [left, right] = [counter.value() >> 32, counter.value()]
        .map(|half| _mm512_set1_epi32(((half & 0xffff_ffff) as u32).cast_signed()));
    let mut halves = Halves { left: [left; PAIRS], right: [right; PAIRS] };
    let mut steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for pair in 0..PAIRS {
        if counter.turn() == Turn::Left {
            halves.left[pair] = _mm512_add_epi32(left, steps);
        } else {
            halves.right[pair] = _mm512_add_epi32(right, steps);
        }
        if counter.turn() == Turn::Whole {
            let has_turned = _mm512_cmplt_epu32_mask(halves.right[pair], right);
            let one = _mm512_set1_epi32(1);
            halves.left[pair] = _mm512_mask_add_epi32(left, has_turned, left, one);
        }
        steps = _mm512_add_epi32(steps, _mm512_set1_epi32(16));
    }
    counter.advance(BATCH as u64);
    halves
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn fill_gamma(keys: &RoundKeys, counter: &mut Counter, gamma: &mut [Block]) {
    let (batches, rest) = gamma.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, &rounds(keys, counters(counter)));
    }
    counter.fill(rest.as_flattened_mut());
    run(keys, rest);
}

/// Encrypts in a chain. One block fills no register, so only the latency of a round matters.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn chain(keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
    let mut last = u64::from_be_bytes(previous);
    for block in blocks {
        last ^= u64::from_be_bytes(*block);
        let [left, right] = [last >> 32, last]
            .map(|half| [_mm512_set1_epi32(((half & 0xffff_ffff) as u32).cast_signed())]);
        let halves = rounds(keys, Halves { left, right });
        let [left, right] = [halves.left, halves.right].map(|[half]| {
            u64::from(_mm_cvtsi128_si32(_mm512_castsi512_si128(half)).cast_unsigned())
        });
        last = left << 32 | right;
        *block = last.to_be_bytes();
    }
}
