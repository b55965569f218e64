//! Encodes without intrinsics: ASCII two characters at a time, everything else one.
//!
//! The text of a pair is 16 bytes from a table of 512 KiB, of which English touches about 12 KiB. The output position
//! of the next pair depends only on this pair's length, not on its text.

use super::OnError;
use super::naive::is_mark;
use super::pages::{BEGINS_IN_CONTROL, Codes, ENDS_IN_GAP, LONG, NO_PAIR, PAIRS, Rules};
use super::written::Progress;
use crate::utf8::first::{First, first};

const NOT_ASCII: u64 = 0x8080_8080_8080_8080;

/// Encodes up to the first thing that has no code and may not be skipped, or is a mark, which changes the character
/// before it.
pub(super) fn encode(
    rules: Rules,
    input: &[u8],
    output: &mut [u8],
    is_gap_owed: &mut bool,
) -> Progress {
    run(rules, input, output, is_gap_owed)
}

/// The body of [`encode`], compiled for several tiers.
#[inline(always)]
pub(super) fn run(
    rules: Rules,
    input: &[u8],
    output: &mut [u8],
    is_gap_owed: &mut bool,
) -> Progress {
    let Rules { codes, on_error } = rules;
    let Some(texts) = codes.pairs.text.first_chunk::<PAIRS>() else { return STOPPED };
    let Some(shapes) = codes.pairs.shape.first_chunk::<PAIRS>() else { return STOPPED };
    let mut out = Out { output, length: 0, ends_in_gap: false };
    if *is_gap_owed {
        out.put(&SPACE, 1);
        out.ends_in_gap = true;
    }
    let mut read = 0;
    while let Some(bytes) = input[read..].first_chunk::<8>() {
        if u64::from_le_bytes(*bytes) & NOT_ASCII != 0 {
            let length = characters(&input[read..], &mut out, codes, on_error);
            read += length;
            if length < 8 {
                break;
            }
            continue;
        }
        let pair = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let pairs = [0, 2, 4, 6].map(|at| pair(at) & (PAIRS - 1));
        if pairs.iter().fold(0, |all, pair| all | shapes[*pair]) & NO_PAIR != 0 {
            let length = characters(&input[read..], &mut out, codes, on_error);
            read += length;
            if length < 8 {
                break;
            }
            continue;
        }
        for pair in pairs {
            let shape = shapes[pair];
            out.length -= usize::from(out.ends_in_gap && shape & BEGINS_IN_CONTROL != 0);
            out.put(&texts[pair], usize::from(shape & 0x1F));
            out.ends_in_gap = shape & ENDS_IN_GAP != 0;
        }
        read += 8;
    }
    *is_gap_owed = out.ends_in_gap;
    Progress { read, written: out.length - usize::from(out.ends_in_gap) }
}

const STOPPED: Progress = Progress { read: 0, written: 0 };
const SPACE: [u8; 16] = [b' '; 16];

/// The output, in which a space follows every sign until something removes it.
struct Out<'a> {
    output: &'a mut [u8],
    length: usize,
    ends_in_gap: bool,
}

impl Out<'_> {
    #[inline(always)]
    fn put(&mut self, text: &[u8; 16], length: usize) {
        self.output[self.length..][..16].copy_from_slice(text);
        self.length += length;
    }

    #[cold]
    fn put_long(&mut self, text: &[u8]) {
        self.output[self.length..][..text.len()].copy_from_slice(text);
        self.length += text.len();
        self.ends_in_gap = true;
    }
}

/// Encodes characters until eight bytes are done or a character cannot be encoded, and returns how many bytes are done.
#[inline(always)]
fn characters(input: &[u8], out: &mut Out<'_>, codes: &Codes, on_error: OnError) -> usize {
    let mut read = 0;
    while read < 8 {
        let Some(rest) = input.get(read..).filter(|rest| !rest.is_empty()) else { break };
        let First::Character(character, length) = first(rest) else { break };
        let text = codes.text(character.into());
        match text[15] {
            0 | LONG => match codes.long(character) {
                Some(long) => out.put_long(long.text()),
                None if on_error == OnError::Skip && !is_mark(character) => {}
                None => break,
            },
            1 => {
                out.length -= usize::from(out.ends_in_gap);
                out.put(text, 1);
                out.ends_in_gap = false;
            }
            bytes => {
                out.put(text, usize::from(bytes));
                out.ends_in_gap = true;
            }
        }
        read += length;
    }
    read
}
