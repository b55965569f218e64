//! Encodes plain ASCII with AVX-512, in one loop for both phases of `encode_avx512`. The second phase runs two windows
//! behind the first, so that each uses the CPU ports and the memory time that the other leaves.
//!
//! Floor where one port shuffles and moves masks (Intel): 12 cycles of it for the signs of 64 bytes, 4 to spell eight
//! signs: 44 for 64 bytes, 0.7 a byte. Measured there: 0.86 (docs/text-speed.md).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::pages::Page;
use super::stage_avx512::{WINDOW, byte, look_up};
use super::written::Progress;
use crate::kernel::{load16, load64, prefetch, store64};

/// Number of windows between the phases.
const BEHIND: usize = 2;
/// Number of windows that fit between the phases.
const KEPT: usize = 4;
/// Most bytes that spelling a window writes or touches.
const SPELLED_BYTES: usize = 64 * 8;
/// Prefetch distance for input.
const PREFETCH: usize = 2048;

/// Shuffle that makes two slots from the dashes and first bytes of eight signs: the first byte becomes the second byte
/// of a slot, and the dashes its last two, which then are rows of a bit matrix.
const SPREAD: [u8; 64] = {
    let mut lanes = [0x80; 64];
    let mut slot = 0;
    while slot < 8 {
        lanes[slot as usize * 8 + 1] = 8 + slot;
        lanes[slot as usize * 8 + 6] = slot;
        lanes[slot as usize * 8 + 7] = slot;
        slot += 1;
    }
    lanes
};
/// Bit that each byte of a slot takes in the product with such a matrix; none for the gap and the first byte.
const COLUMNS: i64 = i64::from_le_bytes([0, 0, 4, 8, 16, 32, 64, 128]);
/// Bits in which dashes differ from dots, applied where the product is one.
const DIFFERENCE: i64 = i64::from_le_bytes([0, 0, 3, 3, 3, 3, 3, 3]);
/// A slot before its signs: the gap, zero for the first byte, dots.
const DOTS: i64 = i64::from_le_bytes(*b" \0......");
/// Mask of the byte of a slot that is used as it was spread.
const FIRSTS: i64 = 0xFF00;
/// Brings together the dashes and the first bytes of eight signs: those of the first half of a window, and of the
/// second.
const BESIDE: [[i64; 8]; 2] = [[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]];

/// The signs of windows that are not spelled yet.
#[repr(align(64))]
struct Kept {
    /// The dashes of eight signs and their first bytes.
    elements: [[u8; 128]; KEPT],
    keep: [[u8; 64]; KEPT],
}

/// Encodes windows of `input` from `from` on to the front of `output`, as long as all of their characters are ASCII and
/// have a short code, or have none and may be skipped (`SKIP`).
///
/// The last byte before each window must predict gaps correctly: a gap goes before the next sign unless that byte is a
/// tab or ends a line. The function is not inlined: among more code, the compiler would reload the constants for each
/// window.
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) fn encode<const SKIP: bool>(
    input: &[u8],
    from: usize,
    output: &mut [u8],
    ascii: &Page,
) -> Progress {
    let mut kept = Kept { elements: [[0; 128]; KEPT], keep: [[0; 64]; KEPT] };
    let mut progress = Progress { read: 0, written: 0 };
    let (mut windows, mut spelled) = (0, 0);
    while let Some(window) = input[from + progress.read..].first_chunk::<WINDOW>()
        && output.len() - progress.written >= (BEHIND + 1) * SPELLED_BYTES
    {
        prefetch(window, PREFETCH);
        let bytes = load64(window, 0);
        let signs = look_up(ascii, bytes);
        let ungapped = _mm512_cmplt_epu8_mask(load64(input, from + progress.read - 1), byte(0x20));
        let unknown = _mm512_testn_epi8_mask(signs.keep, signs.keep);
        // Bytes that are not ASCII, and characters that are left out.
        let others = _mm512_movepi8_mask(_mm512_or_si512(bytes, signs.first));
        // A character after a skipped one may begin a line, and a skipped control character does not.
        let skipped = ungapped | _mm512_cmplt_epu8_mask(bytes, byte(0x20));
        if others | unknown & if SKIP { skipped } else { u64::MAX } != 0 {
            break;
        }
        let without_gap = _mm512_and_si512(signs.keep, byte(0xFE));
        let place = windows % KEPT;
        let [low, high] = BESIDE.map(|[a, b, c, d, e, f, g, h]| {
            let places = _mm512_set_epi64(h, g, f, e, d, c, b, a);
            _mm512_permutex2var_epi64(signs.dash, places, signs.first)
        });
        store64(&mut kept.elements[place], 0, low);
        store64(&mut kept.elements[place], 64, high);
        store64(&mut kept.keep[place], 0, _mm512_mask_mov_epi8(signs.keep, ungapped, without_gap));
        windows += 1;
        progress.read += 64;
        if windows - spelled > BEHIND {
            progress.written += spell(&kept, spelled % KEPT, &mut output[progress.written..]);
            spelled += 1;
        }
    }
    while spelled < windows {
        progress.written += spell(&kept, spelled % KEPT, &mut output[progress.written..]);
        spelled += 1;
    }
    progress
}

/// Writes the signs of a window to the front of `output`, and returns the length.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn spell(kept: &Kept, place: usize, output: &mut [u8]) -> usize {
    let output = &mut output[..SPELLED_BYTES];
    let spread = load64(&SPREAD, 0);
    let [columns, difference, dots, firsts] =
        [COLUMNS, DIFFERENCE, DOTS, FIRSTS].map(|each| _mm512_set1_epi64(each));
    let (groups, _) = kept.elements[place].as_chunks::<16>();
    let (keeps, _) = kept.keep[place].as_chunks::<8>();
    let mut written = 0;
    for (elements, keep) in groups.iter().zip(keeps) {
        let keep = u64::from_le_bytes(*keep);
        let slots = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(load16(elements, 0)), spread);
        // Every byte of a slot takes its bit of the dashes. A mask would take another cycle of the busiest port.
        let dashes = _mm512_gf2p8affine_epi64_epi8::<0>(columns, slots);
        let text = _mm512_ternarylogic_epi64::<0x6A>(dashes, difference, dots);
        let text = _mm512_ternarylogic_epi64::<0xCA>(firsts, slots, text);
        let text = _mm512_maskz_compress_epi8(keep, text);
        let end = output.as_mut_ptr().wrapping_add(written);
        // SAFETY: `output` is 64 bytes long for each of the eight groups (checked above), and each group so far has
        // added at most 64, the bits of a word, to `written`; so there are 64 bytes for this one.
        unsafe { _mm512_storeu_si512(end.cast(), text) };
        written += keep.count_ones() as usize;
    }
    written
}
