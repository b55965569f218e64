//! Decodes with AVX2: two look-ups of half bytes give the masks of 64 bytes; the loop over the signs is the portable
//! one.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::decode_portable::{Masks, run};
use super::letters::{Letters, PREFETCH};
use super::written::Progress;
use crate::kernel::{load32, prefetch};
use crate::tier::Avx2;

/// Decodes like `decode_portable`.
pub(super) fn decode(_: Avx2, input: &[u8], output: &mut [u8], letters: &Letters) -> Progress {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(input, output, letters) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn kernel(input: &[u8], output: &mut [u8], letters: &Letters) -> Progress {
    run(input, output, letters, |window| {
        prefetch(window, PREFETCH);
        let [dashes, gaps, spaces, unknown] = classes(window, 0);
        let [more_dashes, more_gaps, more_spaces, more_unknown] = classes(window, 32);
        Masks {
            dashes: dashes | more_dashes << 32,
            gaps: gaps | more_gaps << 32,
            spaces: spaces | more_spaces << 32,
            unknown: unknown | more_unknown << 32,
        }
    })
}

const DASH: i8 = 0b00010;
const UNDERSCORE: i8 = 0b10000;
const SPACE: i8 = 0b00100;
const SLASH: i8 = 0b01000;
const CONTROL: i8 = 0b10_0000;
const DOT: i8 = 0b00001;

/// Returns the masks of the dashes, the gaps, the spaces among these and everything unknown among the 32 bytes from `at`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn classes(window: &[u8; 64], at: usize) -> [u64; 4] {
    let bytes = load32(window, at);
    // Indexed by the low half of a byte: 0, 9, A, D, E, F.
    let low = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        SPACE,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        CONTROL,
        CONTROL,
        0,
        0,
        DASH | CONTROL,
        DOT,
        SLASH | UNDERSCORE,
    ));
    // Indexed by the high half: 0 (tab and line ends), 2 and 5 (underscore).
    let marks = DOT | DASH | SPACE | SLASH;
    let high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        CONTROL, 0, marks, 0, 0, UNDERSCORE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ));
    let halves = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0F));
    let class =
        _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, halves));
    let has_none = |wanted: i8| {
        let found = _mm256_and_si256(class, _mm256_set1_epi8(wanted));
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())).cast_unsigned()
    };
    [
        u64::from(!has_none(DASH | UNDERSCORE)),
        u64::from(!has_none(SPACE | SLASH | CONTROL)),
        u64::from(!has_none(SPACE)),
        u64::from(has_none(-1)),
    ]
}
