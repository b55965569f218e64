//! Checks JSON with NEON, in the passes of `batches`.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::ops::Range;

use super::batches::{self, Found, Passes, ROOM};
use super::between::{Between, Progress, depth_of};
use super::marks::{Mark, Watch, Word, candidates};
use super::numbers::{Literals, Numbers, Scalars};
use super::passes::passes;
use super::text::{Escapes, Text};
use super::tokens::{Brackets, Kinds, Tokens};
use crate::neon::{Block, prefix_xor};
use crate::tier::Neon;

/// Reads as far as the input is valid and whole batches allow, to a position between two tokens.
pub(super) fn read(proof: Neon, input: &[u8], begin: Between, watch: &mut impl Watch) -> Progress {
    batches::read(proof, input, begin, watch)
}

/// For each byte of a mask, the places of its bits: looked up in eight bytes, they move those with a bit to the front.
static PLACES: [u64; 256] = {
    let (mut places, mut kept) = ([0; 256], 0);
    while kept < 256 {
        let (mut count, mut bit) = (0, 0);
        while bit < 8 {
            if kept >> bit & 1 == 1 {
                places[kept] |= bit << (8 * count);
                count += 1;
            }
            bit += 1;
        }
        kept += 1;
    }
    places
};

/// Stores the bytes of `block` that `kept` names from offset `at` on, and returns where they end.
#[inline]
#[target_feature(enable = "neon")]
fn compress(block: &[u8; 64], kept: u64, bytes: &mut [u8; ROOM], at: usize) -> usize {
    // How many bits there are up to and with each byte of the mask.
    let counts = vget_lane_u64::<0>(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(kept))));
    let ends = counts.wrapping_mul(0x0101_0101_0101_0101);
    let (words, _) = block.as_chunks::<8>();
    let mut to = at;
    for ((word, kept), end) in words.iter().zip(kept.to_le_bytes()).zip(ends.to_le_bytes()) {
        let word = vcreate_u8(u64::from_le_bytes(*word));
        let moved = vtbl1_u8(word, vcreate_u8(PLACES[usize::from(kept)]));
        let moved = vget_lane_u64::<0>(vreinterpret_u64_u8(moved));
        bytes[to..to + 8].copy_from_slice(&moved.to_le_bytes());
        to = at + usize::from(end);
    }
    to
}

/// Returns the place of the bit of `bits` that has `below` others below it.
#[inline]
fn nth_bit(bits: u64, below: usize) -> usize {
    (0..below).fold(bits, |bits, _| bits & bits.wrapping_sub(1)).trailing_zeros() as usize
}

passes!(Neon, "neon");
