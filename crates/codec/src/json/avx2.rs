//! Checks JSON with AVX2, in the passes of `batches`.
//!
//! PEXT compresses eight bytes at a time; it is slow on Zen 1 and 2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::batches::{self, Found, Passes, ROOM};
use super::between::{Between, Progress, depth_of};
use super::marks::{Mark, Watch, Word, candidates};
use super::numbers::{Literals, Numbers, Scalars};
use super::passes::passes;
use super::text::{Escapes, Text};
use super::tokens::{Brackets, Kinds, Tokens};
use crate::avx2::{Block, prefix_xor};
use crate::tier::Avx2;

/// Reads as far as the input is valid and whole batches allow, to a position between two tokens.
pub(super) fn read(proof: Avx2, input: &[u8], begin: Between, watch: &mut impl Watch) -> Progress {
    batches::read(proof, input, begin, watch)
}

/// Stores the bytes of `block` that `kept` names from offset `at` on, and returns where they end.
#[inline]
#[target_feature(enable = "bmi1,bmi2,popcnt")]
fn compress(block: &[u8; 64], kept: u64, bytes: &mut [u8; ROOM], mut at: usize) -> usize {
    let (words, _) = block.as_chunks::<8>();
    for (word, kept) in words.iter().zip(kept.to_le_bytes()) {
        let whole_bytes = _pdep_u64(kept.into(), 0x0101_0101_0101_0101) * 0xFF;
        let word = _pext_u64(u64::from_le_bytes(*word), whole_bytes);
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        at += kept.count_ones() as usize;
    }
    at
}

/// Returns the place of the bit of `bits` that has `below` others below it.
#[inline]
#[target_feature(enable = "bmi2")]
fn nth_bit(bits: u64, below: usize) -> usize {
    _pdep_u64(1 << below, bits).trailing_zeros() as usize
}

passes!(Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq");
