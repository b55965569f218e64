//! Finds the end of an array or object with AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::inside::{Inside, Text};
use crate::json::avx2::prefix_xor;
use crate::kernel::load32;
use crate::tier::Avx2;

/// Reads whole blocks of 64 bytes, up to the one in which the value ends. `at` is outside of strings. Returns where the next
/// block would begin, and where the value ends if it does.
pub(super) fn skip(
    proof: Avx2,
    inside: &mut Inside,
    text: &[u8],
    at: usize,
) -> (usize, Option<usize>) {
    let _ = proof;
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { skip_blocks(inside, text, at) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
fn skip_blocks(inside: &mut Inside, text: &[u8], at: usize) -> (usize, Option<usize>) {
    let mut strings = crate::json::text::Text::default();
    let (blocks, _) = text[at..].as_chunks::<64>();
    let mut depth = inside.depth;
    let mut last_escapes = false;
    for (index, block) in blocks.iter().enumerate() {
        let (low, high) = (load32(block, 0), load32(block, 32));
        let backslashes = equal(low, high, b'\\');
        let escaped = strings.escaped(backslashes);
        last_escapes = (backslashes & !escaped) >> 63 == 1;
        let in_string = strings.inside(prefix_xor(equal(low, high, b'"') & !escaped));
        let bit = _mm256_set1_epi8(0x20);
        let (low, high) = (_mm256_or_si256(low, bit), _mm256_or_si256(high, bit));
        let opening = equal(low, high, b'{') & !in_string;
        let closing = equal(low, high, b'}') & !in_string;
        if depth > closing.count_ones() as usize {
            depth = depth + opening.count_ones() as usize - closing.count_ones() as usize;
            continue;
        }
        let mut brackets = opening | closing;
        while brackets != 0 {
            let bracket = brackets & brackets.wrapping_neg();
            brackets ^= bracket;
            if opening & bracket != 0 {
                depth += 1;
            } else {
                depth -= 1;
                if depth == 0 {
                    let end = at + index * 64 + bracket.trailing_zeros() as usize + 1;
                    return (end, Some(end));
                }
            }
        }
    }
    inside.depth = depth;
    inside.string = match (strings.is_in_string(), last_escapes) {
        (false, _) => Text::Outside,
        (true, false) => Text::Inside,
        (true, true) => Text::AfterBackslash,
    };
    (at + blocks.len() * 64, None)
}

/// Returns which of 64 bytes are equal to `byte`.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
    let wanted = _mm256_set1_epi8(byte.cast_signed());
    let bits = |bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted)).cast_unsigned();
    u64::from(bits(low)) | u64::from(bits(high)) << 32
}
