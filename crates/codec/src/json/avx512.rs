//! Checks JSON with AVX-512, in the passes of `batches`; `vpcompressb` compresses.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::batches::{self, Found, Passes, ROOM};
use super::between::{Between, Progress, depth_of};
use super::classes::{
    BITS, BRACKET, CLOSES, COLON, DIGIT, END, ESCAPED, ESCAPES, FOLLOWERS, HEXADECIMAL, HIGH,
    IN_OBJECT, IS_D, KEY_FOLLOWS, LAST, LETTER_E, LOW, MINUS, NUMBERS, OF_OBJECT, PLUS, POINT,
    SECOND_LAST, STRING, THIRD_LAST, TOKENS, TOP, ZERO,
};
use super::marks::{Mark, Watch, Word, candidates};
use super::numbers::{Literals, Numbers, Scalars};
use super::passes::implement_passes;
use super::text::{Escapes, Text};
use super::tokens::{Brackets, Tokens};
use crate::avx2::prefix_xor;
use crate::kernel::{load16, load64, store64};
use crate::tier::Avx512;

/// Reads as far as the input is valid and whole batches allow, to a position between two tokens.
pub(super) fn read(
    proof: Avx512,
    input: &[u8],
    begin: Between,
    watch: &mut impl Watch,
) -> Progress {
    batches::read(proof, input, begin, watch)
}

implement_passes!(Avx512);

/// White space at the lower four bits of its value; elsewhere bytes that do not have the lower bits of their place.
const SPACES: [u8; 16] = [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];
/// Brackets, colon and comma, with 0x20 added, at the lower four bits of their value.
const OPERATORS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn byte(value: u8) -> __m512i {
    _mm512_set1_epi8(value.cast_signed())
}

/// Returns the table four times.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn four(table: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(load16(table, 0))
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq"
)]
fn text<W: Watch>(
    text: &mut Text,
    blocks: &[[u8; 64]],
    first_bytes: &mut [u8; ROOM],
    scalar_bytes: &mut [u8; ROOM],
    watch: &mut W,
) -> Found {
    let (mut tokens, mut scalars, mut wrong) = (0, 0, 0);
    let mut high = 0;
    // A copy, which the compiler keeps in registers.
    let mut state = *text;
    let filter = watch.filter();
    let table = filter.map_or(&ESCAPES, |filter| &filter.classes);
    let escapes = (load64(table, 0), load64(table, 64));
    let (is_watched, has_escaped) = (filter.is_some(), filter.is_some_and(|f| f.has_escaped));
    for (index, block) in blocks.iter().enumerate() {
        let bytes = load64(block, 0);
        // Of a vector in their place, every round would wait for its way to memory and back.
        let above_ascii = _mm512_movepi8_mask(bytes);
        high |= above_ascii;
        let escaped = state.escaped(_mm512_cmpeq_epi8_mask(bytes, byte(b'\\')));
        let classes = _mm512_permutex2var_epi8(escapes.0, bytes, escapes.1);
        // The table has 128 entries; the lookup ignores the highest bit.
        let usual = _mm512_test_epi8_mask(classes, byte(ESCAPED)) & !above_ascii;
        let unusual = escaped & !usual;
        if unusual != 0 || state.is_escape_pending() {
            wrong |= state.check_unicode(&in_escapes(bytes), unusual);
        }
        let quotes = _mm512_cmpeq_epi8_mask(bytes, byte(b'"')) & !escaped;
        let controls = _mm512_cmplt_epu8_mask(bytes, byte(0x20));
        let escaped = if has_escaped { escaped } else { unusual };
        if quotes == 0 && state.is_in_string() {
            wrong |= controls;
            if is_watched {
                watch.note(index, Mark { escaped, tokens, ..Mark::default() });
            }
            continue;
        }
        let inside = state.inside(prefix_xor(quotes));
        wrong |= controls & inside;
        let outside = !(inside | quotes);
        let spaces = _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(four(&SPACES), bytes));
        let operator = _mm512_shuffle_epi8(four(&OPERATORS), bytes);
        let with_20 = _mm512_or_si512(bytes, byte(0x20));
        let operators = _mm512_cmpeq_epi8_mask(with_20, operator) & outside;
        let scalar = outside & !(spaces | operators);
        let after_scalar = state.after_scalar(scalar);
        let begins = operators | quotes & inside | scalar & !after_scalar;
        if is_watched {
            let test = |bit| _mm512_test_epi8_mask(classes, byte(bit));
            let after = quotes & !inside;
            let candidates = candidates(after, test(LAST), test(SECOND_LAST), test(THIRD_LAST));
            watch.note(index, Mark { begins, candidates, escaped, tokens });
        }
        store64(first_bytes, tokens, _mm512_maskz_compress_epi8(begins, bytes));
        tokens += begins.count_ones() as usize;
        let kept = scalar | after_scalar;
        store64(scalar_bytes, scalars, _mm512_maskz_compress_epi8(kept, bytes));
        scalars += kept.count_ones() as usize;
    }
    *text = state;
    Found { tokens, scalars, wrong, has_high: high != 0 }
}

#[cold]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn in_escapes(bytes: __m512i) -> Escapes {
    let classes = _mm512_permutex2var_epi8(load64(&ESCAPES, 0), bytes, load64(&ESCAPES, 64));
    let ascii = !_mm512_movepi8_mask(bytes);
    let test = |bit| _mm512_test_epi8_mask(classes, byte(bit)) & ascii;
    Escapes {
        letters: _mm512_cmpeq_epi8_mask(bytes, byte(b'u')),
        hexadecimal: test(HEXADECIMAL),
        ds: test(IS_D),
        high: test(HIGH),
        low: test(LOW),
    }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn scalars(bytes: &mut [u8; ROOM], length: usize) -> u64 {
    store64(bytes, length, byte(b' '));
    store64(bytes, length + 64, byte(b' '));
    let mut numbers = Numbers::default();
    let mut wrong = 0;
    for at in (0..length).step_by(64) {
        let chunk = load64(bytes, at);
        let classes = _mm512_permutex2var_epi8(load64(&NUMBERS, 0), chunk, load64(&NUMBERS, 64));
        let test = |bit| _mm512_test_epi8_mask(classes, byte(bit));
        wrong |= _mm512_movepi8_mask(chunk);
        let scalars = Scalars {
            inside: !test(END),
            digits: test(DIGIT),
            zeros: test(ZERO),
            points: test(POINT),
            minuses: test(MINUS),
            pluses: test(PLUS),
            letters_e: test(LETTER_E),
        };
        wrong |= numbers.check(&scalars, |starts| literals(bytes, at, starts));
    }
    wrong
}

/// Letters of the literals, at the lower four bits of the first: of `true` at 4, `false` at 6, `null` at 14.
const LETTERS: [[u8; 16]; 4] = [
    [0xFF, 0, 0, 0, b't', 0, b'f', 0, 0, 0, 0, 0, 0, 0, b'n', 0],
    [0, 0, 0, 0, b'r', 0, b'a', 0, 0, 0, 0, 0, 0, 0, b'u', 0],
    [0, 0, 0, 0, b'u', 0, b'l', 0, 0, 0, 0, 0, 0, 0, b'l', 0],
    [0, 0, 0, 0, b'e', 0, b's', 0, 0, 0, 0, 0, 0, 0, b'l', 0],
];

/// Finds the literals among `starts`.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn literals(bytes: &[u8; ROOM], at: usize, starts: u64) -> Literals {
    let first = load64(bytes, at);
    let low = _mm512_and_si512(first, byte(15));
    let mut found = starts;
    for (index, letters) in LETTERS.iter().enumerate() {
        let expected = _mm512_shuffle_epi8(four(letters), low);
        found = _mm512_mask_cmpeq_epi8_mask(found, load64(bytes, at + index), expected);
    }
    let begin_false = _mm512_mask_cmpeq_epi8_mask(found, first, byte(b'f'));
    let of_five = _mm512_mask_cmpeq_epi8_mask(begin_false, load64(bytes, at + 4), byte(b'e'));
    Literals { of_four: found & !begin_false, of_five }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn tokens<W: Watch>(
    tokens: &mut Tokens,
    first_bytes: &[u8; ROOM],
    count: usize,
    watch: &mut W,
) -> u64 {
    let mut wrong = 0;
    let mut last = byte(tokens.last);
    for at in (0..count).step_by(64) {
        let length = (count - at).min(64);
        let valid = u64::MAX >> (64 - length);
        let bytes = load64(first_bytes, at);
        let classes = _mm512_permutex2var_epi8(load64(&TOKENS, 0), bytes, load64(&TOKENS, 64));
        let test = |bit| _mm512_test_epi8_mask(classes, byte(bit));
        let brackets = Brackets {
            all: test(BRACKET) & valid,
            closing: test(CLOSES),
            of_objects: test(OF_OBJECT),
        };
        let depth = depth_of(tokens.stack);
        let around = tokens.around(brackets);
        if watch.filter().is_some() {
            let (opening, closing) = brackets.sides();
            watch.note_tokens(Word { opening, closing, ends: around.nothing & valid, depth });
        }
        wrong |= around.wrong | _mm512_movepi8_mask(bytes) & valid;
        tokens.documents += u64::from((around.nothing & valid).count_ones());
        let in_object = _mm512_maskz_mov_epi8(around.object, byte(IN_OBJECT));
        let at_top = _mm512_maskz_mov_epi8(around.nothing, byte(TOP));
        let full = _mm512_or_si512(classes, _mm512_or_si512(in_object, at_top));
        let before = _mm512_alignr_epi8::<15>(full, _mm512_alignr_epi64::<6>(full, last));
        let followers = _mm512_permutexvar_epi8(before, load64(&FOLLOWERS, 0));
        let bits = _mm512_shuffle_epi8(four(&BITS), classes);
        wrong |= _mm512_testn_epi8_mask(followers, bits) & valid;
        let strings = _mm512_cmpeq_epi8_mask(classes, byte(STRING));
        let keys = _mm512_mask_test_epi8_mask(strings, followers, byte(KEY_FOLLOWS));
        let colons = _mm512_cmpeq_epi8_mask(classes, byte(COLON));
        wrong |= (colons ^ (keys << 1 | u64::from(tokens.is_key))) & valid;
        tokens.is_key = keys >> (length - 1) & 1 == 1;
        let end = byte(u8::try_from(length - 1).unwrap_or(63));
        last = _mm512_permutexvar_epi8(end, full);
        tokens.before_last = first_lane(_mm512_permutexvar_epi8(end, before));
    }
    tokens.last = first_lane(last);
    wrong
}

#[inline]
#[target_feature(enable = "avx512f")]
fn first_lane(vector: __m512i) -> u8 {
    _mm_cvtsi128_si32(_mm512_castsi512_si128(vector)).to_le_bytes()[0]
}

/// Calls the method, which is inlined here and so compiled for the tier.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn passed<W: Watch>(watch: &mut W, input: &[u8], valid: Range<usize>, depth: u32) -> bool {
    watch.passed(input, valid, depth, |bits, below| {
        _pdep_u64(1 << below, bits).trailing_zeros() as usize
    })
}
