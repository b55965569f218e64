//! Validates UTF-8 with NEON, and counts lines in the same pass.
//!
//! Source: John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte" (2020). Three look-ups by
//! four bits each find everything that is wrong with two neighbouring bytes. Longer characters need a look at the bytes two
//! and three before, which text without such characters does without.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use crate::kernel::load16;
use crate::tier::Neon;

/// A lead byte without a byte that continues it.
const TOO_SHORT: u8 = 1;
/// A byte that continues nothing, after ASCII.
const TOO_LONG: u8 = 1 << 1;
const OVERLONG_3: u8 = 1 << 2;
const TOO_LARGE: u8 = 1 << 3;
const SURROGATE: u8 = 1 << 4;
const OVERLONG_2: u8 = 1 << 5;
/// Above U+10FFFF, from F5 on; or four bytes for what needs three.
const TOO_LARGE_1000: u8 = 1 << 6;
const OVERLONG_4: u8 = 1 << 6;
/// Two bytes that continue, which is right as the third or fourth of a character.
const TWO_CONTINUE: u8 = 1 << 7;
/// What does not depend on the lower half of the first byte.
const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUE;
const LARGE: u8 = ANY | TOO_LARGE | TOO_LARGE_1000;

/// What may be wrong, by the upper half of the first byte.
const FIRST_UPPER: [u8; 16] = {
    let mut table = [TOO_LONG; 16];
    let mut at = 8;
    while at < 12 {
        table[at] = TWO_CONTINUE;
        at += 1;
    }
    table[12] = TOO_SHORT | OVERLONG_2;
    table[13] = TOO_SHORT;
    table[14] = TOO_SHORT | OVERLONG_3 | SURROGATE;
    table[15] = TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4;
    table
};

/// … by its lower half.
const FIRST_LOWER: [u8; 16] = {
    let mut table = [LARGE; 16];
    table[0] = ANY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4;
    table[1] = ANY | OVERLONG_2;
    table[2] = ANY;
    table[3] = ANY;
    table[4] = ANY | TOO_LARGE;
    table[13] = LARGE | SURROGATE;
    table
};

/// … by the upper half of the second byte.
const SECOND_UPPER: [u8; 16] = {
    let mut table = [TOO_SHORT; 16];
    let any = TOO_LONG | OVERLONG_2 | TWO_CONTINUE;
    table[8] = any | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4;
    table[9] = any | OVERLONG_3 | TOO_LARGE;
    table[10] = any | SURROGATE | TOO_LARGE;
    table[11] = table[10];
    table
};

/// The least lead byte of a character of three bytes.
const LEAD_3: u8 = 0xE0;
/// Blocks of 64 bytes whose line feeds fit in the bytes of a register: each adds at most four to a byte.
const BLOCKS: usize = 63;

/// The registers of one block.
type Block = [uint8x16_t; 4];

/// What was found.
struct State {
    /// The last bytes of the block before.
    previous: uint8x16_t,
    /// The greatest byte of the block before.
    greatest: u8,
    wrong: uint8x16_t,
    /// Line feeds, which were subtracted as −1.
    lines: uint8x16_t,
}

/// Returns how many line feeds `bytes` has, if it is UTF-8 and ends with a whole character.
pub(super) fn lines_if_valid(_: Neon, bytes: &[u8]) -> Option<u64> {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { lines(bytes) }
}

#[target_feature(enable = "neon")]
fn lines(bytes: &[u8]) -> Option<u64> {
    let zeros = vdupq_n_u8(0);
    let mut state = State { previous: zeros, greatest: 0, wrong: zeros, lines: zeros };
    let mut lines = 0;
    let (blocks, rest) = bytes.as_chunks::<64>();
    for blocks in blocks.chunks(BLOCKS) {
        for block in blocks {
            state.take(block);
        }
        lines += u64::from(vaddlvq_u8(state.lines));
        state.lines = zeros;
    }
    // The zeros after the rest would not continue a character.
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    state.take(&last);
    lines += u64::from(vaddlvq_u8(state.lines));
    (vmaxvq_u8(state.wrong) == 0).then_some(lines)
}

impl State {
    #[inline]
    #[target_feature(enable = "neon")]
    fn take(&mut self, block: &[u8; 64]) {
        let block = [0, 16, 32, 48].map(|at| load16(block, at));
        let [a, b, c, d] = block;
        let feed = vdupq_n_u8(b'\n');
        let [e, f, g, h] = block.map(|vector| vceqq_u8(vector, feed));
        let found = vaddq_u8(vaddq_u8(e, f), vaddq_u8(g, h));
        self.lines = vsubq_u8(self.lines, found);
        let greatest = vmaxvq_u8(vmaxq_u8(vmaxq_u8(a, b), vmaxq_u8(c, d)));
        let both = greatest.max(self.greatest);
        self.greatest = greatest;
        if both >= LEAD_3 {
            self.check::<true>(block);
        } else if both >= 0x80 {
            self.check::<false>(block);
        }
        self.previous = d;
    }

    /// Checks a block; without `IS_LONG`, no character in it or before it has more than two bytes.
    #[inline]
    #[target_feature(enable = "neon")]
    fn check<const IS_LONG: bool>(&mut self, block: Block) {
        let [first_upper, first_lower, second_upper] =
            [&FIRST_UPPER, &FIRST_LOWER, &SECOND_UPPER].map(|table| load16(table, 0));
        let mut previous = self.previous;
        for bytes in block {
            let first = vextq_u8::<15>(previous, bytes);
            let by_upper = vqtbl1q_u8(first_upper, vshrq_n_u8::<4>(first));
            let by_lower = vqtbl1q_u8(first_lower, vandq_u8(first, vdupq_n_u8(15)));
            let by_second = vqtbl1q_u8(second_upper, vshrq_n_u8::<4>(bytes));
            let mut wrong = vandq_u8(vandq_u8(by_upper, by_lower), by_second);
            if IS_LONG {
                // The highest bit, where this byte must be the third or fourth of a character.
                let third = vqsubq_u8(vextq_u8::<14>(previous, bytes), vdupq_n_u8(LEAD_3 - 0x80));
                let fourth = vqsubq_u8(vextq_u8::<13>(previous, bytes), vdupq_n_u8(0xF0 - 0x80));
                let must = vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(TWO_CONTINUE));
                wrong = veorq_u8(wrong, must);
            }
            self.wrong = vorrq_u8(self.wrong, wrong);
            previous = bytes;
        }
    }
}
