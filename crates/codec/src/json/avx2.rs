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
use super::text::{Escapes, Text};
use super::tokens::{Brackets, Kinds, Tokens};
use crate::kernel::{load16, load32};
use crate::tier::Avx2;

/// Reads as far as the input is valid and whole batches allow, to a position between two tokens.
pub(super) fn read(proof: Avx2, input: &[u8], begin: Between, watch: &mut impl Watch) -> Progress {
    batches::read(proof, input, begin, watch)
}

impl Passes for Avx2 {
    fn text<W: Watch>(
        self,
        state: &mut Text,
        blocks: &[[u8; 64]],
        first_bytes: &mut [u8; ROOM],
        scalars: &mut [u8; ROOM],
        watch: &mut W,
    ) -> Found {
        // SAFETY: the first argument exists only where the CPU has the tier.
        unsafe { text(state, blocks, first_bytes, scalars, watch) }
    }

    fn scalars(self, bytes: &mut [u8; ROOM], length: usize) -> u64 {
        // SAFETY: the first argument exists only where the CPU has the tier.
        unsafe { scalars(bytes, length) }
    }

    fn passed<W: Watch>(
        self,
        watch: &mut W,
        input: &[u8],
        valid: Range<usize>,
        depth: u32,
    ) -> bool {
        // SAFETY: the first argument exists only where the CPU has the tier.
        unsafe { passed(watch, input, valid, depth) }
    }

    fn tokens<W: Watch>(
        self,
        state: &mut Tokens,
        first_bytes: &[u8; ROOM],
        count: usize,
        watch: &mut W,
    ) -> u64 {
        // SAFETY: the first argument exists only where the CPU has the tier.
        unsafe { tokens(state, first_bytes, count, watch) }
    }
}

/// 64 bytes.
#[derive(Clone, Copy)]
struct Block(__m256i, __m256i);

#[inline]
#[target_feature(enable = "avx2")]
fn byte(value: u8) -> __m256i {
    _mm256_set1_epi8(value.cast_signed())
}

impl Block {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8], at: usize) -> Self {
        Self(load32(bytes, at), load32(bytes, at + 32))
    }

    /// Returns the highest bits of all bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn high_bits(self) -> u64 {
        let low = _mm256_movemask_epi8(self.0).cast_unsigned();
        let high = _mm256_movemask_epi8(self.1).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn same_as(self, other: Self) -> u64 {
        Self(_mm256_cmpeq_epi8(self.0, other.0), _mm256_cmpeq_epi8(self.1, other.1)).high_bits()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(self, value: u8) -> u64 {
        self.same_as(Self(byte(value), byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn at_most(self, value: u8) -> u64 {
        let most = byte(value);
        self.same_as(Self(_mm256_min_epu8(self.0, most), _mm256_min_epu8(self.1, most)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn minus(self, value: u8) -> Self {
        Self(_mm256_sub_epi8(self.0, byte(value)), _mm256_sub_epi8(self.1, byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn or(self, value: u8) -> Self {
        Self(_mm256_or_si256(self.0, byte(value)), _mm256_or_si256(self.1, byte(value)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn and(self, other: Self) -> Self {
        Self(_mm256_and_si256(self.0, other.0), _mm256_and_si256(self.1, other.1))
    }

    /// Returns the upper four bits of each byte, as a number.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn upper_halves(self) -> Self {
        let half = |vector| _mm256_and_si256(_mm256_srli_epi16::<4>(vector), byte(15));
        Self(half(self.0), half(self.1))
    }

    /// Looks the lower four bits of each byte up; 0 for bytes above 0x7F.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn look_up(self, table: &[u8; 16]) -> Self {
        let table = _mm256_broadcastsi128_si256(load16(table, 0));
        Self(_mm256_shuffle_epi8(table, self.0), _mm256_shuffle_epi8(table, self.1))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn spaces(self) -> u64 {
        const SPACES: [u8; 16] = [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];
        self.same_as(self.look_up(&SPACES))
    }

    /// Returns brackets, colons and commas.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn operators(self) -> u64 {
        const OPERATORS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];
        self.or(0x20).same_as(self.look_up(&OPERATORS)) & !self.at_most(0x1F)
    }
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
fn text<W: Watch>(
    text: &mut Text,
    blocks: &[[u8; 64]],
    first_bytes: &mut [u8; ROOM],
    scalar_bytes: &mut [u8; ROOM],
    watch: &mut W,
) -> Found {
    let mut found = Found { tokens: 0, scalars: 0, wrong: 0, has_high: false };
    let mut high = 0;
    // A copy, which the compiler keeps in registers.
    let mut state = *text;
    let names = watch.filter().map(|filter| (filter.lower, filter.upper));
    let has_escaped = watch.filter().is_some_and(|filter| filter.has_escaped);
    for (index, block) in blocks.iter().enumerate() {
        let bytes = Block::load(block, 0);
        high |= bytes.high_bits();
        let escaped = state.escaped(bytes.equal(b'\\'));
        let mut noted = if has_escaped { escaped } else { 0 };
        if escaped != 0 || state.is_escape_pending() {
            let unusual = escaped & !one_character_escapes(bytes);
            noted |= unusual;
            if unusual != 0 || state.is_escape_pending() {
                found.wrong |= state.check_unicode(&Escapes::of(block), unusual);
            }
        }
        let quotes = bytes.equal(b'"') & !escaped;
        let controls = bytes.at_most(0x1F);
        if quotes == 0 && state.is_in_string() {
            found.wrong |= controls;
            if names.is_some() {
                watch.note(index, Mark { escaped: noted, tokens: found.tokens, ..Mark::default() });
            }
            continue;
        }
        let inside = state.inside(prefix_xor(quotes));
        found.wrong |= controls & inside;
        let outside = !(inside | quotes);
        let operators = bytes.operators() & outside;
        let scalar = outside & !(bytes.spaces() | operators);
        let after_scalar = state.after_scalar(scalar);
        let begins = operators | quotes & inside | scalar & !after_scalar;
        if let Some((lower, upper)) = &names {
            let candidates = name_candidates(bytes, quotes & !inside, lower, upper);
            let tokens = found.tokens;
            watch.note(index, Mark { begins, candidates, escaped: noted, tokens });
        }
        found.tokens = compress(block, begins, first_bytes, found.tokens);
        found.scalars = compress(block, scalar | after_scalar, scalar_bytes, found.scalars);
    }
    *text = state;
    found.has_high = high != 0;
    found
}

/// Returns the quotes that may end a name, given bits of bytes by their lower and upper four bits.
#[inline]
#[target_feature(enable = "avx2")]
fn name_candidates(bytes: Block, quotes: u64, lower: &[u8; 16], upper: &[u8; 16]) -> u64 {
    let low = Block(_mm256_and_si256(bytes.0, byte(15)), _mm256_and_si256(bytes.1, byte(15)));
    let both = low.look_up(lower).and(bytes.upper_halves().look_up(upper));
    // Bits 5, 6 and 7 of the bytes, moved to the highest, from which a mask is made; no bit of another byte gets there.
    let at_top = |shift: i32| {
        let count = _mm_cvtsi32_si128(shift);
        Block(_mm256_sll_epi16(both.0, count), _mm256_sll_epi16(both.1, count)).high_bits()
    };
    candidates(quotes, at_top(2), at_top(1), at_top(0))
}

/// Returns the characters that a backslash may precede, except u.
#[inline]
#[target_feature(enable = "avx2")]
fn one_character_escapes(bytes: Block) -> u64 {
    // A bit for each upper half in which a character with this lower half is escaped: 1 for 2, 2 for 5, 4 for 6, 8 for 7.
    const LOWER: [u8; 16] = [0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];
    const UPPER: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
    let both = bytes.upper_halves().look_up(&UPPER).and(bytes.look_up(&LOWER));
    !both.equal(0)
}

/// Returns, for each bit, whether an odd number of bits up to it are 1.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn prefix_xor(bits: u64) -> u64 {
    let product =
        _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(bits.cast_signed()), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product).cast_unsigned()
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scalars(bytes: &mut [u8; ROOM], length: usize) -> u64 {
    bytes[length..length + 128].fill(b' ');
    let mut numbers = Numbers::default();
    let mut wrong = 0;
    for at in (0..length).step_by(64) {
        let chunk = Block::load(bytes, at);
        wrong |= chunk.high_bits();
        let ends = chunk.spaces() | chunk.operators() | chunk.equal(b'"');
        let scalars = Scalars {
            inside: !ends,
            digits: chunk.minus(b'0').at_most(9),
            zeros: chunk.equal(b'0'),
            points: chunk.equal(b'.'),
            minuses: chunk.equal(b'-'),
            pluses: chunk.equal(b'+'),
            letters_e: chunk.or(0x20).equal(b'e'),
        };
        wrong |= numbers.check(&scalars, |starts| literals(bytes, at, starts));
    }
    wrong
}

/// Finds the literals among `starts`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn literals(bytes: &[u8; ROOM], at: usize, starts: u64) -> Literals {
    let word = |letters: &[u8]| {
        letters.iter().enumerate().fold(starts, |found, (index, letter)| {
            found & Block::load(bytes, at + index).equal(*letter)
        })
    };
    Literals { of_four: word(b"true") | word(b"null"), of_five: word(b"false") }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn tokens<W: Watch>(
    tokens: &mut Tokens,
    first_bytes: &[u8; ROOM],
    count: usize,
    watch: &mut W,
) -> u64 {
    let mut wrong = 0;
    for at in (0..count).step_by(64) {
        let length = (count - at).min(64);
        let bytes = Block::load(first_bytes, at);
        let with_20 = bytes.or(0x20);
        let (curly_open, curly_close) = (bytes.equal(b'{'), bytes.equal(b'}'));
        let valid = u64::MAX >> (64 - length);
        let all = (with_20.equal(b'{') | with_20.equal(b'}')) & valid;
        let brackets =
            Brackets { all, closing: with_20.equal(b'}'), of_objects: curly_open | curly_close };
        let kinds = Kinds {
            strings: bytes.equal(b'"'),
            colons: bytes.equal(b':'),
            commas: bytes.equal(b','),
            brackets,
        };
        let depth = depth_of(tokens.stack);
        let around = tokens.around(brackets);
        if watch.filter().is_some() {
            let (opening, closing) = brackets.sides();
            watch.note_tokens(Word { opening, closing, ends: around.nothing & valid, depth });
        }
        wrong |= tokens.pairs(&first_bytes[at..at + length], &kinds, around);
    }
    wrong
}

/// Calls the method, which is inlined here and so compiled for the tier.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn passed<W: Watch>(watch: &mut W, input: &[u8], valid: Range<usize>, depth: u32) -> bool {
    watch.passed(input, valid, depth, |bits, below| {
        _pdep_u64(1 << below, bits).trailing_zeros() as usize
    })
}
