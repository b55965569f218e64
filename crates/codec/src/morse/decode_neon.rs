//! Decodes with NEON: two look-ups of half bytes give the masks of 64 bytes; the loop over the signs is the portable one.
#![allow(unsafe_code)]

use super::decode_portable::{Masks, run};
use super::letters::Letters;
use super::written::Progress;
use crate::neon::Block;
use crate::tier::Neon;

/// Decodes like `decode_portable`.
pub(super) fn decode(_: Neon, input: &[u8], output: &mut [u8], letters: &Letters) -> Progress {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(input, output, letters) }
}

#[target_feature(enable = "neon")]
fn kernel(input: &[u8], output: &mut [u8], letters: &Letters) -> Progress {
    run(input, output, letters, |window| {
        let bytes = Block::load(window, 0);
        let class = bytes.look_up_lower(&LOWER).and(bytes.upper_halves().look_up(&UPPER));
        // No byte is of two classes, so a sum has the highest bit where the byte has one of the highest three, or two.
        Masks {
            dashes: class.shifted::<3>().plus(0x40).high_bits(),
            gaps: class.plus(0x60).high_bits(),
            spaces: class.shifted::<2>().high_bits(),
            unknown: u64::from(class.has_zero()),
        }
    })
}

const DOT: u8 = 1;
const DASH: u8 = 1 << 3;
const UNDERSCORE: u8 = 1 << 4;
const SPACE: u8 = 1 << 5;
const SLASH: u8 = 1 << 6;
const CONTROL: u8 = 1 << 7;

/// What a byte may be by its lower half …
const LOWER: [u8; 16] = {
    let mut table = [0; 16];
    table[0] = SPACE;
    table[9] = CONTROL;
    table[0xA] = CONTROL;
    table[0xD] = DASH | CONTROL;
    table[0xE] = DOT;
    table[0xF] = SLASH | UNDERSCORE;
    table
};
/// … and by its upper half.
const UPPER: [u8; 16] = {
    let mut table = [0; 16];
    table[0] = CONTROL;
    table[2] = DOT | DASH | SPACE | SLASH;
    table[5] = UNDERSCORE;
    table
};
