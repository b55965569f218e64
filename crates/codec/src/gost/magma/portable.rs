//! Magma by tables of bytes, eight blocks in step.
//!
//! **Leaks through the cache.** Which entries of the 4 KiB tables are read depends on the key and the data; whoever
//! shares the cache can learn about both. What docs/gost.md calls constant does not leak this way.

use super::naive::{Block, RoundKeys};
use super::standard::{PI, ROTATION_BITS};

/// What each byte of a word contributes to g after the addition.
static TABLES: [[u32; 256]; 4] = {
    let (mut tables, mut place) = ([[0; 256]; 4], 0);
    while place < 4 {
        let mut value = 0;
        while value < 256 {
            let low = PI[2 * place][value & 15] as u32;
            let high = PI[2 * place + 1][value >> 4] as u32;
            #[expect(clippy::cast_possible_truncation, reason = "below 4")]
            let shift = 8 * place as u32 + ROTATION_BITS;
            tables[place][value] = (high << 4 | low).rotate_left(shift);
            value += 1;
        }
        place += 1;
    }
    tables
};

/// Number of blocks that go through a round together: one waits for its look-ups, eight do not.
const LANES: usize = 8;

fn g(key: u32, word: u32) -> u32 {
    let bytes = word.wrapping_add(key).to_le_bytes();
    let entry = |place: usize| TABLES[place][usize::from(bytes[place])];
    (entry(0) ^ entry(1)) ^ (entry(2) ^ entry(3))
}

fn run_lanes<const N: usize>(keys: &RoundKeys, blocks: &mut [Block; N]) {
    let numbers = blocks.map(u64::from_be_bytes);
    let mut left = numbers.map(|number| (number >> 32) as u32);
    let mut right = numbers.map(|number| (number & 0xffff_ffff) as u32);
    for key in keys {
        for lane in 0..N {
            let next = left[lane] ^ g(*key, right[lane]);
            (left[lane], right[lane]) = (right[lane], next);
        }
    }
    // The last round does not swap.
    *blocks = std::array::from_fn(|lane| {
        (u64::from(right[lane]) << 32 | u64::from(left[lane])).to_be_bytes()
    });
}

/// Runs the blocks through the rounds; reversed keys make that decryption.
pub(super) fn run(keys: &RoundKeys, blocks: &mut [Block]) {
    let (groups, rest) = blocks.as_chunks_mut::<LANES>();
    groups.iter_mut().for_each(|group| run_lanes(keys, group));
    rest.iter_mut().for_each(|block| run_lanes(keys, std::array::from_mut(block)));
}

/// Encrypts `blocks` in a chain: XORs each with the ciphertext before it, the first one with `previous`, and encrypts
/// it.
pub(super) fn chain(keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
    let mut last = previous;
    for block in blocks {
        *block = std::array::from_fn(|index| block[index] ^ last[index]);
        run_lanes(keys, std::array::from_mut(block));
        last = *block;
    }
}
