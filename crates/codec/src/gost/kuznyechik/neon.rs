//! Kuznyechik by the tables of `portable`, in registers of NEON: a load and a XOR of 16 bytes for each byte.
//!
//! **Leaks through the cache**, as `portable` does.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use super::naive::Block;
use super::portable::{self, Entries, decryption, encryption};
use super::standard::{PI, PI_INVERSE};
use crate::Tier;
use crate::kernel::{load16, store16};
use crate::tier::{Granted, Neon};

/// Bytes of the entries of one position.
const COLUMN_BYTES: usize = 256 * 16;
/// What each byte contributes: 256 entries for the first position, and so on. An entry may be asked for at any number of 16 bits.
type Table = [u8; 16 * COLUMN_BYTES + 16];

const fn table(entries: &Entries) -> Table {
    let mut table = [0; 16 * COLUMN_BYTES + 16];
    let mut place = 0;
    while place < 16 {
        let mut value = 0;
        while value < 256 {
            let (entry, mut at) = (entries[place][value].to_le_bytes(), 0);
            while at < 16 {
                table[place * COLUMN_BYTES + value * 16 + at] = entry[at];
                at += 1;
            }
            value += 1;
        }
        place += 1;
    }
    table
}

/// Where the entries of eight positions begin, from the first of them.
const COLUMNS: [u16; 8] = [0, 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000];

static ENCRYPTION: Table = table(&encryption());
static DECRYPTION: Table = table(&decryption());

/// Number of blocks that go through a round together, so that their loads overlap. Four take 8 % more instructions: the compiler
/// keeps them in memory.
const LANES: usize = 2;

/// Round keys, where the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel {
    _proof: Neon,
    keys: portable::Kernel,
}

impl Kernel {
    pub(super) fn new(key: &[u8; 32]) -> Option<Self> {
        let Granted::Neon(proof) = Tier::Neon.granted() else { return None };
        Some(Self { _proof: proof, keys: portable::Kernel::new(key) })
    }

    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        let (groups, rest) = blocks.as_chunks_mut::<LANES>();
        for group in groups {
            // SAFETY: this exists only where the CPU has the tier.
            unsafe { encrypt(&self.keys.encryption, group) }
        }
        for block in rest {
            // SAFETY: this exists only where the CPU has the tier.
            unsafe { encrypt(&self.keys.encryption, std::array::from_mut(block)) }
        }
    }

    pub(super) fn decrypt(&self, blocks: &mut [Block]) {
        let (groups, rest) = blocks.as_chunks_mut::<LANES>();
        for group in groups {
            // SAFETY: this exists only where the CPU has the tier.
            unsafe { decrypt(&self.keys.decryption, group) }
        }
        for block in rest {
            // SAFETY: this exists only where the CPU has the tier.
            unsafe { decrypt(&self.keys.decryption, std::array::from_mut(block)) }
        }
    }

    pub(super) fn chain(&self, previous: Block, blocks: &mut [Block]) {
        // SAFETY: this exists only where the CPU has the tier.
        unsafe { chain(&self.keys.encryption, previous, blocks) }
    }

    pub(super) fn erase(&mut self) {
        self.keys.erase();
    }
}

/// Returns the sum over all positions. It is a tree, not a chain, because the serial modes wait for its depth.
#[inline]
#[target_feature(enable = "neon")]
fn look_up(table: &Table, state: uint8x16_t) -> uint8x16_t {
    let zeros = vdupq_n_u8(0);
    let columns = vreinterpretq_u16_u8(load16(COLUMNS.map(u16::to_le_bytes).as_flattened(), 0));
    let entries =
        |bytes: uint8x16_t| vaddq_u16(vshlq_n_u16::<4>(vreinterpretq_u16_u8(bytes)), columns);
    let front = entries(vzip1q_u8(state, zeros));
    let back = vaddq_u16(entries(vzip2q_u8(state, zeros)), vdupq_n_u16(0x8000));
    let entry = |at: u16| load16(table, usize::from(at));
    let quad = |[a, b, c, d]: [u16; 4]| {
        veorq_u8(veorq_u8(entry(a), entry(b)), veorq_u8(entry(c), entry(d)))
    };
    veorq_u8(
        veorq_u8(quad(lower(front)), quad(upper(front))),
        veorq_u8(quad(lower(back)), quad(upper(back))),
    )
}

#[inline]
#[target_feature(enable = "neon")]
fn lower(numbers: uint16x8_t) -> [u16; 4] {
    [
        vgetq_lane_u16::<0>(numbers),
        vgetq_lane_u16::<1>(numbers),
        vgetq_lane_u16::<2>(numbers),
        vgetq_lane_u16::<3>(numbers),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn upper(numbers: uint16x8_t) -> [u16; 4] {
    [
        vgetq_lane_u16::<4>(numbers),
        vgetq_lane_u16::<5>(numbers),
        vgetq_lane_u16::<6>(numbers),
        vgetq_lane_u16::<7>(numbers),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn vector(number: u128) -> uint8x16_t {
    load16(&number.to_le_bytes(), 0)
}

#[inline]
#[target_feature(enable = "neon")]
fn substituted(table: &[u8; 256], state: uint8x16_t) -> uint8x16_t {
    let mut block = [0; 16];
    store16(&mut block, 0, state);
    load16(&block.map(|byte| table[usize::from(byte)]), 0)
}

#[target_feature(enable = "neon")]
fn encrypt<const N: usize>(keys: &[u128; 10], blocks: &mut [Block; N]) {
    let mut states = blocks.map(|block| load16(&block, 0));
    for key in &keys[..9] {
        let key = vector(*key);
        for state in &mut states {
            *state = look_up(&ENCRYPTION, veorq_u8(*state, key));
        }
    }
    let last = vector(keys[9]);
    for (block, state) in blocks.iter_mut().zip(states) {
        store16(block, 0, veorq_u8(state, last));
    }
}

#[target_feature(enable = "neon")]
fn decrypt<const N: usize>(keys: &[u128; 10], blocks: &mut [Block; N]) {
    let first = vector(keys[9]);
    let mut states = blocks
        .map(|block| veorq_u8(look_up(&DECRYPTION, substituted(&PI, load16(&block, 0))), first));
    for key in keys[1..9].iter().rev() {
        let key = vector(*key);
        for state in &mut states {
            *state = veorq_u8(look_up(&DECRYPTION, *state), key);
        }
    }
    let last = vector(keys[0]);
    for (block, state) in blocks.iter_mut().zip(states) {
        store16(block, 0, veorq_u8(substituted(&PI_INVERSE, state), last));
    }
}

/// See `portable::chain`.
#[target_feature(enable = "neon")]
fn chain(keys: &[u128; 10], previous: Block, blocks: &mut [Block]) {
    let mut state = load16(&previous, 0);
    for block in blocks {
        state = veorq_u8(state, load16(block, 0));
        for key in &keys[..9] {
            state = look_up(&ENCRYPTION, veorq_u8(state, vector(*key)));
        }
        state = veorq_u8(state, vector(keys[9]));
        store16(block, 0, state);
    }
}
