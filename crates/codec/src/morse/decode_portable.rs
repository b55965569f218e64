//! Decodes without intrinsics: 64 bytes become masks of dashes and gaps, and the loop over the gaps finds the ends of
//! signs without reading a byte.

use super::letters::{Letters, UNKNOWN};
use super::written::Progress;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// The classes of 64 bytes, one bit for each.
#[derive(Clone, Copy)]
pub(super) struct Masks {
    pub(super) dashes: u64,
    /// Everything that ends a sign.
    pub(super) gaps: u64,
    /// Those of them that end nothing else.
    pub(super) spaces: u64,
    /// Not 0 if there is anything that only the slow path handles.
    pub(super) unknown: u64,
}

/// Decodes up to the first window that contains anything but signs of the alphabet in ASCII.
pub(super) fn decode(input: &[u8], output: &mut [u8], letters: &Letters) -> Progress {
    run(input, output, letters, masks)
}

/// The body of [`decode`], compiled for several tiers.
#[inline(always)]
pub(super) fn run(
    input: &[u8],
    output: &mut [u8],
    letters: &Letters,
    masks: impl Fn(&[u8; 64]) -> Masks,
) -> Progress {
    let mut progress = Progress { read: 0, written: 0 };
    while let Some(window) = input[progress.read..].first_chunk::<64>() {
        let masks = masks(window);
        let elements = !masks.gaps;
        let two = elements & elements >> 1;
        let four = two & two >> 2;
        let has_long_sign = four & four >> 4 != 0;
        if masks.unknown != 0 || masks.gaps == 0 || has_long_sign {
            break;
        }
        let output = &mut output[progress.written..];
        let Some(written) = window_letters(window, masks, output, letters) else { break };
        progress.written += written;
        progress.read += 64 - masks.gaps.leading_zeros() as usize;
    }
    progress
}

/// Writes the letters of a window up to its last gap; returns `None` when a sign has no letter.
#[inline(always)]
fn window_letters(
    window: &[u8; 64],
    masks: Masks,
    output: &mut [u8],
    letters: &Letters,
) -> Option<usize> {
    // A gap gives at most a letter of three bytes and one of its own, so no window fills this.
    let output = output.first_chunk_mut::<{ 256 + 4 }>()?;
    let elements = !masks.gaps;
    let before_last_gap = u64::MAX >> masks.gaps.leading_zeros();
    let mut begins = elements & !(elements << 1) & before_last_gap;
    let mut ends = masks.gaps & elements << 1;
    // What ends more than a letter.
    let mut breaks = masks.gaps & !masks.spaces;
    let mut written = 0;
    let mut all = 0;
    loop {
        let until_break = if breaks == 0 { u64::MAX } else { breaks ^ (breaks - 1) };
        let mut here = ends & until_break;
        ends &= !until_break;
        while here != 0 {
            // The lowest bits of both, and the elements between them.
            let (begin, end) = (begins & begins.wrapping_neg(), here & here.wrapping_neg());
            let sign = masks.dashes & end.wrapping_sub(begin) | end;
            let index = sign >> (begins.trailing_zeros() & 63);
            let letter = letters.by_first[(index & 0xFF) as usize];
            all |= letter;
            output[written & 0xFF..][..4].copy_from_slice(&letter.to_le_bytes());
            written += (letter >> 24 & 3) as usize;
            begins ^= begin;
            here ^= end;
        }
        if breaks == 0 {
            return (all & UNKNOWN == 0).then_some(written);
        }
        let gap = window[(breaks.trailing_zeros() & 63) as usize];
        output[written & 0xFF] = if gap == b'/' { b' ' } else { gap };
        written += 1;
        breaks &= breaks - 1;
    }
}

/// Sets the high bit of every byte of `word` that equals `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    !(((difference & !HIGH) + !HIGH) | difference) & HIGH
}

/// Gathers the high bits of the bytes next to each other.
fn gather(high_bits: u64) -> u64 {
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

fn masks(window: &[u8; 64]) -> Masks {
    let mut masks = Masks { dashes: 0, gaps: 0, spaces: 0, unknown: 0 };
    let (words, _) = window.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let dots = equal(word, b'.');
        let mut dashes = equal(word, b'-');
        let spaces = equal(word, b' ');
        let mut gaps = spaces | equal(word, b'/');
        if dots | dashes | gaps != HIGH {
            dashes |= equal(word, b'_');
            gaps |= equal(word, b'\n') | equal(word, b'\r') | equal(word, b'\t');
        }
        masks.dashes |= gather(dashes) << (8 * index);
        masks.spaces |= gather(spaces) << (8 * index);
        masks.gaps |= gather(gaps) << (8 * index);
        masks.unknown |= (dots | dashes | gaps) ^ HIGH;
    }
    masks
}
