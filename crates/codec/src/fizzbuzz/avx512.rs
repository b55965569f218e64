//! FizzBuzz with AVX-512. One vector holds the three numbers of a block in 21 lanes each; another holds the words and
//! the last digits. One `vpermi2b` of both, by a pattern that is the same for all numbers of a length, makes 64 bytes
//! of output.
//!
//! Floor: a load, a shuffle and a store for 64 bytes. A block of nine-digit numbers is 2.1 KB: 34 of those, and about
//! ten instructions to count.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::block::Block;
use crate::kernel::{load64, prefetch_to_write, store64};
use crate::tier::Avx512;

/// Most digits of a number, without the last two, that fit a third of a vector.
pub(super) const MOST_DIGITS: usize = 21;
/// All other characters of the lines.
const REST: &[u8; 15] = b"0123456789FizBu";

/// Source lanes of 64 bytes of output, aligned to a cache line: loads that cross a line take twice as long.
#[derive(Clone)]
#[repr(align(64))]
struct Lanes([u8; 64]);

/// The pattern of a block: for every byte, its lane in the two vectors.
#[derive(Clone)]
pub(super) struct Pattern {
    lanes: Vec<Lanes>,
    length: usize,
}

impl Pattern {
    pub(super) fn new(block: &Block) -> Self {
        let mut lanes = vec![[0; 64]; block.text.len().div_ceil(64)];
        let flat = lanes.as_flattened_mut();
        for (lane, byte) in flat.iter_mut().zip(&block.text) {
            // The last lane holds a line feed.
            let rest = REST.iter().position(|rest| rest == byte).unwrap_or(63);
            *lane = 64 + rest.to_le_bytes()[0];
        }
        for (value, starts) in block.starts.iter().enumerate() {
            for start in starts {
                for (digit, lane) in flat[*start..][..block.upper_digits].iter_mut().enumerate() {
                    *lane = (value * MOST_DIGITS + digit).to_le_bytes()[0];
                }
            }
        }
        Self { lanes: lanes.into_iter().map(Lanes).collect(), length: block.text.len() }
    }
}

/// Writes up to `blocks` whole blocks to the front of `output`, counts them, and returns the length.
///
/// It advances `uppers` to the next block. After the last block of their length, `uppers` hold the truncated sums:
/// zeros, ones and twos.
pub(super) fn fill(
    _: Avx512,
    pattern: &Pattern,
    uppers: &mut [Vec<u8>; 3],
    blocks: &mut u64,
    output: &mut [u8],
) -> usize {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { fill_blocks(pattern, uppers, blocks, output) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn fill_blocks(
    pattern: &Pattern,
    uppers: &mut [Vec<u8>; 3],
    blocks: &mut u64,
    output: &mut [u8],
) -> usize {
    let mut rest = [b'\n'; 64];
    rest[..REST.len()].copy_from_slice(REST);
    let rest = load64(&rest, 0);
    let mut lanes = [0; 64];
    let (mut firsts, mut lasts) = (0u64, 0u64);
    for (upper, lanes) in uppers.iter().zip(lanes.chunks_exact_mut(MOST_DIGITS)) {
        lanes[..upper.len()].copy_from_slice(upper);
        firsts = firsts << MOST_DIGITS | 1;
        lasts = lasts << MOST_DIGITS | 1 << (upper.len() - 1);
    }
    let mut numbers = load64(&lanes, 0);
    let padded = pattern.lanes.len() * 64;
    let mut written = 0;
    let mut is_longer = false;
    while *blocks > 0 && !is_longer {
        let Some(room) = output[written..].get_mut(..padded) else { break };
        for (lanes, room) in pattern.lanes.iter().zip(room.chunks_exact_mut(64)) {
            prefetch_to_write(room, 1024);
            store64(room, 0, _mm512_permutex2var_epi8(numbers, load64(&lanes.0, 0), rest));
        }
        written += pattern.length;
        *blocks -= 1;
        (numbers, is_longer) = add_three(numbers, firsts, lasts);
    }
    store64(&mut lanes, 0, numbers);
    for (upper, lanes) in uppers.iter_mut().zip(lanes.chunks_exact(MOST_DIGITS)) {
        let digits = upper.len();
        upper.copy_from_slice(&lanes[..digits]);
    }
    written
}

/// Adds three to each of the numbers, and tells whether they need one more digit.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn add_three(numbers: __m512i, firsts: u64, lasts: u64) -> (__m512i, bool) {
    let nine = _mm512_set1_epi8(b'9'.cast_signed());
    let mut numbers = _mm512_mask_add_epi8(numbers, lasts, numbers, _mm512_set1_epi8(3));
    let mut is_longer = false;
    loop {
        let over = _mm512_cmpgt_epu8_mask(numbers, nine);
        numbers = _mm512_mask_sub_epi8(numbers, over, numbers, _mm512_set1_epi8(10));
        is_longer |= over & firsts != 0;
        let carries = (over & !firsts) >> 1;
        numbers = _mm512_mask_add_epi8(numbers, carries, numbers, _mm512_set1_epi8(1));
        if _mm512_cmpgt_epu8_mask(numbers, nine) == 0 {
            return (numbers, is_longer);
        }
    }
}
