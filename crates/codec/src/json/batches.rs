//! Checks JSON in batches of 4 KiB, with the kernels of a tier.
//!
//! Three passes over a batch, each nearly without branches that depend on the data. `text` finds strings in 64 bytes as bits of
//! a word, checks their escapes and control characters, and compresses the first bytes of all tokens into one stream, and the
//! bytes of numbers and literals into another. `tokens` checks 64 neighbouring pairs of tokens at once; `scalars` checks 64
//! bytes of numbers and literals. UTF-8 is checked only in batches with bytes above 0x7F.
//!
//! Experiments on a Zen 4 (AVX-512, events of 270 bytes, a throw-away program): numbers, literals and brackets handled where
//! they occur, in loops over their bits, 2.4 GB/s; compressed, 3.7 GB/s. The loops cost little, but their wrongly predicted
//! ends did.

use std::ops::Range;

use super::between::{Between, Progress, depth_of};
use super::classes;
use super::marks::{BATCH_BYTES, Watch};
use super::text::Text;
use super::tokens::Tokens;

/// Room for a batch of compressed bytes, and for what is stored or loaded beyond them.
pub(super) const ROOM: usize = BATCH_BYTES + 192;

/// What was found in the text of a batch.
pub(super) struct Found {
    /// How many tokens, and how many bytes of numbers and literals with the byte after each.
    pub(super) tokens: usize,
    pub(super) scalars: usize,
    /// Not 0 when a string is wrong.
    pub(super) wrong: u64,
    /// Whether there is a byte above 0x7F.
    pub(super) has_high: bool,
}

/// The passes of a tier. Each returns something other than 0 when what it checked is wrong.
pub(super) trait Passes: Copy {
    /// Checks strings, and compresses the first bytes of tokens, and numbers and literals with the byte after each.
    fn text<W: Watch>(
        self,
        text: &mut Text,
        blocks: &[[u8; 64]],
        first_bytes: &mut [u8; ROOM],
        scalars: &mut [u8; ROOM],
        watch: &mut W,
    ) -> Found;

    /// Checks so many bytes of numbers and literals. One byte separates two.
    fn scalars(self, bytes: &mut [u8; ROOM], length: usize) -> u64;

    /// Calls [`Watch::passed`].
    fn passed<W: Watch>(self, watch: &mut W, input: &[u8], valid: Range<usize>, depth: u32)
    -> bool;

    /// Checks so many tokens by their first bytes.
    fn tokens<W: Watch>(
        self,
        tokens: &mut Tokens,
        first_bytes: &[u8; ROOM],
        count: usize,
        watch: &mut W,
    ) -> u64;
}

/// The state after a batch.
#[derive(Clone, Copy)]
struct Reached {
    end: usize,
    is_in_string: bool,
    tokens: Tokens,
    /// Up to here, the text is UTF-8: the end, or the beginning of a character in progress.
    utf8_end: usize,
}

/// Reads as far as the input is valid and whole batches allow, to a position between two tokens.
pub(super) fn read(
    passes: impl Passes,
    input: &[u8],
    begin: Between,
    watch: &mut impl Watch,
) -> Progress {
    let mut first_bytes = [0; ROOM];
    let mut scalars = [0; ROOM];
    let mut text = Text::default();
    let tokens = Tokens::new(begin);
    let mut reached = Reached { end: 0, is_in_string: false, tokens, utf8_end: 0 };
    loop {
        let rest = &input[reached.end..];
        let (blocks, _) = rest[..rest.len().min(BATCH_BYTES)].as_chunks::<64>();
        if blocks.is_empty() {
            break;
        }
        let mut found = passes.text(&mut text, blocks, &mut first_bytes, &mut scalars, watch);
        // Whether a string may have ended within the last escape, which has at most six bytes left.
        let has_quote = blocks.last().is_some_and(|block| block[58..].contains(&b'"'));
        if text.is_escape_pending() && (has_quote || !text.is_in_string()) {
            // The batch that would notice may never be read.
            break;
        }
        let mut end = reached.end + size_of_val(blocks);
        if text.is_in_scalar() {
            // A number or literal may go on in the next batch, which begins with it.
            let begin = back_to_scalar(&input[reached.end..end]);
            // A kernel takes two control characters for `,` and `:`, and finds them wrong only later.
            let has_control = input[reached.end + begin..end].iter().any(|byte| *byte < 0x20);
            if begin == 0 || has_control {
                break;
            }
            found.scalars -= size_of_val(blocks) - begin;
            found.tokens -= 1;
            end = reached.end + begin;
            text = Text::default();
        }
        let mut utf8_end = end;
        if found.has_high || reached.utf8_end < reached.end {
            utf8_end = whole_characters(&input[..end]);
            // Mostly ASCII with single other characters: there, simdutf8 takes fewer instructions than our kernel for NEON.
            if simdutf8::basic::from_utf8(&input[reached.utf8_end..utf8_end]).is_err() {
                break;
            }
        }
        let mut tokens = reached.tokens;
        let wrong = found.wrong
            | passes.scalars(&mut scalars, found.scalars)
            | passes.tokens(&mut tokens, &first_bytes, found.tokens, watch);
        if wrong != 0 {
            break;
        }
        let begin = reached.end;
        reached = Reached { end, is_in_string: text.is_in_string(), tokens, utf8_end };
        if !passes.passed(watch, input, begin..end, depth_of(tokens.stack)) {
            break;
        }
    }
    reached.progress(input)
}

impl Reached {
    /// Goes back to the beginning of a string in progress.
    fn progress(self, input: &[u8]) -> Progress {
        let Tokens { stack, documents, .. } = self.tokens;
        if self.is_in_string {
            let between = Between { next: classes::after(self.tokens.before_last, false), stack };
            let read = opening_quote(&input[..self.end]);
            return Progress { read, between, documents: documents - u64::from(stack == 1) };
        }
        let next = classes::after(self.tokens.last, self.tokens.is_key);
        Progress { read: self.end, between: Between { next, stack }, documents }
    }
}

/// Returns where the string begins in which `text` ends.
pub(super) fn opening_quote(text: &[u8]) -> usize {
    memchr::memrchr_iter(b'"', text)
        .find(|at| text[..*at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0)
        .unwrap_or_default()
}

/// Returns where the number or literal begins with which `batch` ends.
fn back_to_scalar(batch: &[u8]) -> usize {
    batch.iter().rposition(|byte| classes::ends_scalar(*byte)).map_or(0, |end| end + 1)
}

/// Returns the length of `text` without a character in progress at its end.
fn whole_characters(text: &[u8]) -> usize {
    let continues = |byte: &&u8| (0x80..0xC0).contains(*byte);
    let missing_lead = text.iter().rev().take(3).take_while(continues).count();
    let before = text.len() - missing_lead;
    let most = match text[..before].last() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => return text.len(),
    };
    if missing_lead + 1 < most { before - 1 } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_character_in_progress_is_left_out() {
        for (text, left_out) in [
            (&b""[..], 0),
            (b"ab", 0),
            (b"a\xC3", 1),
            (b"a\xC3\xA9", 0),
            (b"\xE2\x82", 2),
            (b"\xE2\x82\xAC", 0),
            (b"\xF0\x9F\x92", 3),
            (b"\xF0\x9F\x92\xA9", 0),
            (b"\xF0\",", 0),
            (b"\xE2\"", 0),
            (b"\x80\x80\x80\x80", 0),
        ] {
            assert_eq!(whole_characters(text), text.len() - left_out, "{text:02x?}");
        }
    }
}
