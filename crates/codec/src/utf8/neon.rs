//! Validates UTF-8 with NEON, and counts lines in the same pass where that is wanted.
//!
//! Source: John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte" (2020). Three look-ups by
//! four bits each find everything that is wrong with two neighbouring bytes. Longer characters need a look at the bytes two
//! and three before, which text without such characters does without.
//!
//! What is looked up of a byte is moved to the next bytes, not the byte itself, and stays in a register for the next half
//! block.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::arch::asm;

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

/// What a byte of a lead demands of the byte two places later, by its upper half: that it continues.
const OF_THIRD: [u8; 16] = {
    let mut table = [0; 16];
    table[0xE] = TWO_CONTINUE;
    table[0xF] = TWO_CONTINUE;
    table
};

/// … of the byte three places later.
const OF_FOURTH: [u8; 16] = {
    let mut table = [0; 16];
    table[0xF] = TWO_CONTINUE;
    table
};

/// The least lead byte of a character of three bytes.
const LEAD_3: u8 = 0xE0;
/// What is checked in one step: two registers. With more, the compiler runs out of registers.
type Pair = [u8; 32];
/// After so many pairs, it is decided anew how much has to be checked.
const BLOCK_PAIRS: usize = 8;
/// Pairs whose line feeds fit in the bytes of a register: each adds at most two to a byte. Whole blocks.
const PAIRS: usize = 112;

/// The look-ups, in registers.
struct Tables {
    first_upper: uint8x16_t,
    first_lower: uint8x16_t,
    second_upper: uint8x16_t,
    of_third: uint8x16_t,
    of_fourth: uint8x16_t,
}

/// The longest characters of a block.
#[derive(Clone, Copy, PartialEq)]
enum Longest {
    Ascii,
    TwoBytes,
    Long,
}

impl Longest {
    #[inline]
    fn of(greatest_byte: u8) -> Self {
        match greatest_byte {
            0..0x80 => Self::Ascii,
            0x80..LEAD_3 => Self::TwoBytes,
            _ => Self::Long,
        }
    }
}

/// What was found.
///
/// Where a check leaves out what only longer characters need, the registers of that stay as they were after the last block
/// that was checked for it. They are right: that block had no such character either, or its successor would have been checked
/// as well, and each block without them leaves the same.
#[derive(Clone, Copy)]
struct Found {
    wrong: uint8x16_t,
    /// Line feeds, which were subtracted as −1.
    lines: uint8x16_t,
    /// What may be wrong after each of the last 16 bytes.
    after: uint8x16_t,
    /// What the last 16 bytes demand of the byte two places later, and three.
    third: uint8x16_t,
    fourth: uint8x16_t,
}

/// Returns how many line feeds `bytes` has, if it is UTF-8 and ends with a whole character.
pub(super) fn lines_if_valid(_: Neon, bytes: &[u8]) -> Option<u64> {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { scan::<true>(bytes) }
}

/// Returns whether `bytes` is UTF-8 and ends with a whole character.
pub(super) fn is_valid(_: Neon, bytes: &[u8]) -> bool {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { scan::<false>(bytes) }.is_some()
}

#[target_feature(enable = "neon")]
fn scan<const COUNTS_LINES: bool>(bytes: &[u8]) -> Option<u64> {
    let tables = Tables {
        first_upper: in_register(&FIRST_UPPER),
        first_lower: in_register(&FIRST_LOWER),
        second_upper: in_register(&SECOND_UPPER),
        of_third: in_register(&OF_THIRD),
        of_fourth: in_register(&OF_FOURTH),
    };
    let zeros = vdupq_n_u8(0);
    let after = vdupq_n_u8(TOO_LONG);
    let mut found = Found { wrong: zeros, lines: zeros, after, third: zeros, fourth: zeros };
    let mut longest = Longest::Ascii;
    let mut lines = 0;
    let (pairs, rest) = bytes.as_chunks();
    // The zeros after the rest would not continue a character.
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    for mut pairs in pairs.chunks(PAIRS).chain([&[last][..]]) {
        while !pairs.is_empty() {
            (pairs, longest) = match longest {
                Longest::Ascii => found.skip_ascii::<COUNTS_LINES>(pairs),
                Longest::TwoBytes => found.check::<COUNTS_LINES, false>(pairs, &tables),
                Longest::Long => found.check::<COUNTS_LINES, true>(pairs, &tables),
            }
        }
        lines += u64::from(vaddlvq_u8(found.lines));
        found.lines = zeros;
    }
    (vmaxvq_u8(found.wrong) == 0).then_some(lines)
}

/// Loads a table once. The compiler knows what a constant is and would load it again in each step.
#[inline]
#[target_feature(enable = "neon")]
fn in_register(table: &[u8; 16]) -> uint8x16_t {
    let mut table = load16(table, 0);
    // SAFETY: this is no instruction.
    unsafe {
        asm!("/* {0:v} */", inout(vreg) table, options(pure, nomem, nostack, preserves_flags))
    };
    table
}

/// These take pairs in as long as they are of the kind that they are for. They return those that are left, and what they are
/// for.
impl Found {
    #[inline]
    #[target_feature(enable = "neon")]
    fn skip_ascii<'a, const COUNTS_LINES: bool>(
        &mut self,
        pairs: &'a [Pair],
    ) -> (&'a [Pair], Longest) {
        let (blocks, rest) = pairs.as_chunks::<BLOCK_PAIRS>();
        for (index, block) in blocks.iter().enumerate() {
            let (mut lines, mut greatest) = (self.lines, vdupq_n_u8(0));
            for pair in block {
                for bytes in [load16(pair, 0), load16(pair, 16)] {
                    greatest = vmaxq_u8(greatest, bytes);
                    if COUNTS_LINES {
                        lines = less_lines(lines, bytes);
                    }
                }
            }
            let longest = Longest::of(vmaxvq_u8(greatest));
            if longest != Longest::Ascii {
                return (&pairs[index * BLOCK_PAIRS..], longest);
            }
            self.lines = lines;
        }
        (rest, if rest.is_empty() { Longest::Ascii } else { Longest::TwoBytes })
    }

    /// Without `IS_LONG`, no character in the block before may have more than two bytes; a block that has one is left.
    #[inline]
    #[target_feature(enable = "neon")]
    fn check<'a, const COUNTS_LINES: bool, const IS_LONG: bool>(
        &mut self,
        mut pairs: &'a [Pair],
        tables: &Tables,
    ) -> (&'a [Pair], Longest) {
        let expected = if IS_LONG { Longest::Long } else { Longest::TwoBytes };
        while !pairs.is_empty() {
            let (block, rest) = pairs.split_at(pairs.len().min(BLOCK_PAIRS));
            let (mut found, mut greatest) = (*self, vdupq_n_u8(0));
            for pair in block {
                for bytes in [load16(pair, 0), load16(pair, 16)] {
                    greatest = vmaxq_u8(greatest, bytes);
                    if COUNTS_LINES {
                        found.lines = less_lines(found.lines, bytes);
                    }
                    found.check_register::<IS_LONG>(bytes, tables);
                }
            }
            let longest = Longest::of(vmaxvq_u8(greatest));
            if longest == Longest::Long && !IS_LONG {
                return (pairs, longest);
            }
            (*self, pairs) = (found, rest);
            if longest != expected {
                return (pairs, longest);
            }
        }
        (pairs, expected)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn check_register<const IS_LONG: bool>(&mut self, bytes: uint8x16_t, tables: &Tables) {
        let upper = vshrq_n_u8::<4>(bytes);
        let lower = vandq_u8(bytes, vdupq_n_u8(15));
        let by_lower = vqtbl1q_u8(tables.first_lower, lower);
        let after = vandq_u8(vqtbl1q_u8(tables.first_upper, upper), by_lower);
        let before = vextq_u8::<15>(self.after, after);
        self.after = after;
        let mut wrong = vandq_u8(before, vqtbl1q_u8(tables.second_upper, upper));
        if IS_LONG {
            // The highest bit, where this byte must be the third or fourth of a character.
            let third = vqtbl1q_u8(tables.of_third, upper);
            let fourth = vqtbl1q_u8(tables.of_fourth, upper);
            let is_third = vextq_u8::<14>(self.third, third);
            let is_fourth = vextq_u8::<13>(self.fourth, fourth);
            (self.third, self.fourth) = (third, fourth);
            wrong = veorq_u8(wrong, vorrq_u8(is_third, is_fourth));
        }
        self.wrong = vorrq_u8(self.wrong, wrong);
    }
}

/// Subtracts −1 for each line feed.
#[inline]
#[target_feature(enable = "neon")]
fn less_lines(lines: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    vsubq_u8(lines, vceqq_u8(bytes, vdupq_n_u8(b'\n')))
}
