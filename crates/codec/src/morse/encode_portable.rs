//! Encodes without intrinsics: ASCII two characters at a time, everything else one.
//!
//! The text of a pair is 16 bytes from a table of 512 KiB, of which English touches about 12 KiB. The output position
//! of the next pair depends only on this pair's length, not on its text.

use super::OnError;
use super::naive::is_mark;
use super::pages::{BEGINS_IN_CONTROL, Codes, ENDS_IN_CONTROL, LONG, NO_PAIR, PAIRS, Rules, SHORT};
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
        let plain = plain(&input[read..], &mut out.output[out.length..], texts, shapes);
        if out.take(&mut read, plain) {
            continue;
        }
        if u64::from_le_bytes(*bytes) & NOT_ASCII != 0 {
            let short = short(&input[read..], &mut out.output[out.length..], codes);
            if out.take(&mut read, short) {
                continue;
            }
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
            out.ends_in_gap = shape & ENDS_IN_CONTROL == 0;
        }
        read += 8;
    }
    *is_gap_owed = out.ends_in_gap;
    Progress { read, written: out.length - usize::from(out.ends_in_gap) }
}

/// Encodes 16 bytes at a time, as long as they are pairs of ASCII without control characters.
#[inline(always)]
fn plain(
    input: &[u8],
    output: &mut [u8],
    texts: &[[u8; 16]; PAIRS],
    shapes: &[u8; PAIRS],
) -> Progress {
    const FLAGS: u8 = NO_PAIR | BEGINS_IN_CONTROL | ENDS_IN_CONTROL;
    let mut progress = STOPPED;
    while let Some(bytes) = input[progress.read..].first_chunk::<16>()
        && let Some(output) = output[progress.written..].first_chunk_mut::<{ 128 + 16 }>()
    {
        let (words, _) = bytes.as_chunks::<8>();
        let words = [words[0], words[1]].map(u64::from_le_bytes);
        if (words[0] | words[1]) & NOT_ASCII != 0 {
            break;
        }
        let pair = |index: usize| {
            let [low, high, ..] = (words[index / 4] >> (16 * (index % 4))).to_le_bytes();
            usize::from(u16::from_le_bytes([low, high])) & (PAIRS - 1)
        };
        let (mut length, mut flags) = (0, 0);
        for index in 0..8 {
            let shape = shapes[pair(index)];
            flags |= shape;
            // Eight texts have 128 bytes at most.
            output[length & 127..][..16].copy_from_slice(&texts[pair(index)]);
            length += usize::from(shape);
        }
        if flags & FLAGS != 0 {
            // A flag is no length, so what follows it may have been written over what is before it.
            let mut length = 0;
            for pair in (0..8).map(pair).take_while(|pair| shapes[*pair] & FLAGS == 0) {
                output[length & 127..][..16].copy_from_slice(&texts[pair]);
                length += usize::from(shapes[pair]);
                progress.read += 2;
            }
            progress.written += length;
            break;
        }
        progress.read += 16;
        progress.written += length;
    }
    progress
}

/// Encodes characters of two bytes, and those of ASCII between them; stops where ASCII follows that `plain` can take.
#[inline(always)]
fn short(input: &[u8], output: &mut [u8], codes: &Codes) -> Progress {
    let mut progress = STOPPED;
    let Some(texts) = codes.short.first_chunk::<SHORT>() else { return progress };
    // Eight characters have 16 bytes at most, and their texts 120.
    while let Some(bytes) = input[progress.read..].first_chunk::<24>()
        && let Some(output) = output[progress.written..].first_chunk_mut::<{ 128 + 16 }>()
    {
        let (mut read, mut length) = (0, 0);
        for _ in 0..8 {
            let text = bytes[read & 15..].first_chunk::<8>().and_then(|next| text_of(next, texts));
            let Some(text) = text else {
                progress.read += read;
                progress.written += length;
                return progress;
            };
            output[length & 127..][..16].copy_from_slice(text.bytes);
            length += text.length;
            read += text.size;
        }
        progress.read += read;
        progress.written += length;
    }
    progress
}

/// The text of one character.
struct Text<'a> {
    bytes: &'a [u8; 16],
    length: usize,
    /// Bytes of the character.
    size: usize,
}

/// Returns the text of the first of these characters, if it has one that fits and no ASCII for `plain` begins with it.
#[inline(always)]
fn text_of<'a>(next: &[u8; 8], texts: &'a [[u8; 16]; SHORT]) -> Option<Text<'a>> {
    let word = u64::from_le_bytes(*next);
    let (index, size) = if word & 0x80 == 0 {
        if word & NOT_ASCII == 0 {
            return None;
        }
        (word & 0x7F, 1)
    } else {
        // A lead byte of two, from C2 on, and a byte that continues it.
        if word & 0x1E == 0 || word & 0xC0E0 != 0x80C0 {
            return None;
        }
        ((word & 0x1F) << 6 | word >> 8 & 0x3F, 2)
    };
    let bytes = &texts[(index & 0x7FF) as usize];
    let length = usize::from(bytes[15]);
    (length != 0).then_some(Text { bytes, length, size })
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

    /// Takes over what was written behind it, which ends in a gap; tells whether anything was.
    #[inline(always)]
    fn take(&mut self, read: &mut usize, progress: Progress) -> bool {
        *read += progress.read;
        self.length += progress.written;
        self.ends_in_gap |= progress.read > 0;
        progress.read > 0
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
