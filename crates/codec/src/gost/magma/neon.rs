//! Magma with NEON, in constant time: no address and no branch depends on a key or on data.
//!
//! Four blocks fill two registers, one with their left halves, one with their right halves, so the addition of the key has its
//! carries from the CPU. One look-up of four registers serves the low nibbles of all bytes: the place of a byte in its word
//! is part of the index. Another serves the high nibbles.
#![expect(unsafe_code, reason = "calls of functions that need the tier, and single instructions")]

use std::arch::aarch64::*;
use std::arch::asm;

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

/// The indices of a look-up, kept from round to round: the place of a byte in its word above, a nibble below.
///
/// The instructions that replace only the nibble are written in assembly: the compiler makes two or three of each.
struct Indices(uint8x16_t);

impl Indices {
    /// Takes the low nibble of each byte (BIT).
    #[inline]
    #[target_feature(enable = "neon")]
    fn low(&mut self, bytes: uint8x16_t, low_bits: uint8x16_t) -> uint8x16_t {
        // SAFETY: the instruction changes its first register and nothing else; it is part of the tier.
        unsafe {
            asm!(
                "bit {kept:v}.16b, {bytes:v}.16b, {mask:v}.16b",
                kept = inout(vreg) self.0,
                bytes = in(vreg) bytes,
                mask = in(vreg) low_bits,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        self.0
    }

    /// Takes the high nibble of each byte (SRI).
    #[inline]
    #[target_feature(enable = "neon")]
    fn high(&mut self, bytes: uint8x16_t) -> uint8x16_t {
        // SAFETY: as above.
        unsafe {
            asm!(
                "sri {kept:v}.16b, {bytes:v}.16b, #4",
                kept = inout(vreg) self.0,
                bytes = in(vreg) bytes,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        self.0
    }
}

/// Rotates each word by eleven bits to the left (SHL, SRI).
#[inline]
#[target_feature(enable = "neon")]
fn rotate(words: uint32x4_t) -> uint32x4_t {
    let mut rotated = vshlq_n_u32::<11>(words);
    // SAFETY: as above.
    unsafe {
        asm!(
            "sri {rotated:v}.4s, {words:v}.4s, #21",
            rotated = inout(vreg) rotated,
            words = in(vreg) words,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    rotated
}

/// What the rounds use.
struct Rounds {
    low_table: uint8x16x4_t,
    high_table: uint8x16x4_t,
    low_bits: uint8x16_t,
    low: Indices,
    high: Indices,
}

impl Rounds {
    #[inline]
    #[target_feature(enable = "neon")]
    fn new() -> Self {
        let places = || Indices(vreinterpretq_u8_u32(vdupq_n_u32(PLACES)));
        let low_bits = vdupq_n_u8(15);
        Self {
            low_table: tables(0),
            high_table: tables(1),
            low_bits,
            low: places(),
            high: places(),
        }
    }

    /// One round, which changes only the left halves.
    #[inline]
    #[target_feature(enable = "neon")]
    fn change(&mut self, left: &mut uint32x4_t, right: uint32x4_t, key: uint32x4_t) {
        let sum = vreinterpretq_u8_u32(vaddq_u32(right, key));
        let low = vqtbl4q_u8(self.low_table, self.low.low(sum, self.low_bits));
        let high = vqtbl4q_u8(self.high_table, self.high.high(sum));
        *left = veorq_u32(*left, rotate(vreinterpretq_u32_u8(vorrq_u8(low, high))));
    }
}

#[target_feature(enable = "neon")]
fn run_batch(keys: &RoundKeys, blocks: &mut [Block; BATCH]) {
    let bytes = blocks.as_flattened_mut();
    let mut rounds = Rounds::new();
    let mut halves: [_; LANES] = std::array::from_fn(|lane| load(&bytes[32 * lane..][..32]));
    for [even, odd] in keys.as_chunks().0 {
        let (even, odd) = (vdupq_n_u32(*even), vdupq_n_u32(*odd));
        for (left, right) in &mut halves {
            rounds.change(left, *right, even);
        }
        for (left, right) in &mut halves {
            rounds.change(right, *left, odd);
        }
    }
    for (lane, (left, right)) in halves.into_iter().enumerate() {
        // The last round does not swap.
        store(&mut bytes[32 * lane..][..32], right, left);
    }
}
