//! Magma with NEON, in constant time: no address and no branch depends on a key or on data.
//!
//! Four blocks fill two registers, one with their left halves, one with their right halves, so the addition of the key has its
//! carries from the CPU. One look-up of four registers serves the low nibbles of all bytes: the place of a byte in its word
//! is part of the index. Another serves the high nibbles.
#![expect(unsafe_code, reason = "calls of functions that need the tier")]

use std::arch::aarch64::*;

use super::naive::{Block, RoundKeys};
use super::standard::PI;
use crate::Tier;
use crate::kernel::{load16, store16};

/// Registers of left halves that go through a round together: one waits for its look-ups, four do not.
const LANES: usize = 4;
/// Number of blocks in them.
const BATCH: usize = 4 * LANES;

/// Tables of the low nibbles of bytes 0 to 3 of a word, and of their high nibbles.
static TABLES: [[[u8; 16]; 4]; 2] = {
    let (mut tables, mut place) = ([[[0; 16]; 4]; 2], 0);
    while place < 4 {
        let mut value = 0;
        while value < 16 {
            tables[0][place][value] = PI[2 * place][value];
            tables[1][place][value] = PI[2 * place + 1][value] << 4;
            value += 1;
        }
        place += 1;
    }
    tables
};

/// What an index has above the nibble.
const PLACES: u32 = 0x3020_1000;

/// Returns the four tables of a kind of nibble.
#[inline]
#[target_feature(enable = "neon")]
fn tables(kind: usize) -> uint8x16x4_t {
    let [a, b, c, d] = TABLES[kind].map(|table| load16(&table, 0));
    uint8x16x4_t(a, b, c, d)
}

/// Loads four blocks as numbers: their left halves, and their right halves.
#[inline]
#[target_feature(enable = "neon")]
fn load(blocks: &[u8]) -> (uint32x4_t, uint32x4_t) {
    let words = |at| vreinterpretq_u32_u8(vrev32q_u8(load16(blocks, at)));
    let (front, back) = (words(0), words(16));
    (vuzp1q_u32(front, back), vuzp2q_u32(front, back))
}

#[inline]
#[target_feature(enable = "neon")]
fn store(blocks: &mut [u8], left: uint32x4_t, right: uint32x4_t) {
    let bytes = |words| vrev32q_u8(vreinterpretq_u8_u32(words));
    store16(blocks, 0, bytes(vzip1q_u32(left, right)));
    store16(blocks, 16, bytes(vzip2q_u32(left, right)));
}

/// Proves that the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel(());

impl Kernel {
    /// Returns the kernel, or `None` unless the CPU has the tier.
    pub(super) fn available() -> Option<Self> {
        (Tier::best() == Tier::Neon).then_some(Self(()))
    }

    /// Runs the blocks through the rounds; reversed keys make that decryption.
    pub(super) fn run(&self, keys: &RoundKeys, blocks: &mut [Block]) {
        // SAFETY: `available` made sure of the tier.
        unsafe { run(keys, blocks) }
    }
}

#[target_feature(enable = "neon")]
fn run(keys: &RoundKeys, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    batches.iter_mut().for_each(|batch| run_batch(keys, batch));
    if !rest.is_empty() {
        let mut batch = [[0; 8]; BATCH];
        batch[..rest.len()].copy_from_slice(rest);
        run_batch(keys, &mut batch);
        rest.copy_from_slice(&batch[..rest.len()]);
    }
}

#[target_feature(enable = "neon")]
fn run_batch(keys: &RoundKeys, blocks: &mut [Block; BATCH]) {
    let bytes = blocks.as_flattened_mut();
    let (low_table, high_table) = (tables(0), tables(1));
    let places = vreinterpretq_u8_u32(vdupq_n_u32(PLACES));
    let low_bits = vdupq_n_u8(15);
    let mut halves: [_; LANES] = std::array::from_fn(|lane| load(&bytes[32 * lane..][..32]));
    for key in keys {
        let key = vdupq_n_u32(*key);
        for (left, right) in &mut halves {
            let sum = vreinterpretq_u8_u32(vaddq_u32(*right, key));
            let low = vqtbl4q_u8(low_table, vbslq_u8(low_bits, sum, places));
            // The nibble replaces the lower half of each place.
            let high = vqtbl4q_u8(high_table, vsriq_n_u8::<4>(places, sum));
            let image = vreinterpretq_u32_u8(vorrq_u8(low, high));
            let turned = vsriq_n_u32::<21>(vshlq_n_u32::<11>(image), image);
            (*left, *right) = (*right, veorq_u32(*left, turned));
        }
    }
    for (lane, (left, right)) in halves.into_iter().enumerate() {
        // The last round does not swap.
        store(&mut bytes[32 * lane..][..32], right, left);
    }
}
