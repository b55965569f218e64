//! Encodes text to signs.

use super::error::{EncodeCause, EncodeError};
use super::naive::{BYTE_ORDER_MARK, is_mark};
use super::pages::{Codes, LONG, NOT_UNDERSTOOD, Rules};
use super::written::{Progress, Written};
use super::{Alphabet, OnError, encode_portable};
#[cfg(target_arch = "x86_64")]
use super::{encode_avx2, encode_avx512};
use crate::place::Place;
use crate::tier::Granted;
use crate::utf8::Malformed;
use crate::utf8::first::{First, Unfinished, first};
use crate::{Codec, Divisible, Fault, Tier};

/// Longest code of one byte: `%` is `----- -..-. ----- `.
const MOST_BYTES_PER_BYTE: usize = 18;
/// Room for the characters kept from the last block, and for what kernels write beyond what they keep.
const SLACK_BYTES: usize = MOST_BYTES_PER_BYTE * 8 + 128;
/// How many bytes the slow path takes before it retries the kernel.
const STRETCH_BYTES: usize = 32;

/// Encodes text as Morse code. Input: UTF-8. Output: ASCII.
///
/// A mark that changes the character before it (`й` as `и` and U+0306) makes one character with it, as if the text were
/// composed. So the encoder keeps the last character of a block for the next one when a mark may follow.
pub struct Encoder {
    tier: Granted,
    rules: Rules,
    is_gap_owed: bool,
    /// The last character, which a mark may still change.
    kept: Option<char>,
    unfinished: Unfinished,
    /// Where the block begins; maintained only where an error would report it.
    place: Place,
}

impl Encoder {
    /// Makes an encoder for text of any scripts, with the kernels of `tier`, or of the CPU's best tier if that is less.
    /// Figures and marks are those of International Morse code.
    #[must_use]
    pub fn new(tier: Tier, on_error: OnError) -> Self {
        Self::with(tier.granted(), Rules { codes: Codes::of(None), on_error })
    }

    /// Makes an encoder for the characters that `alphabet` can give back; others have no code.
    #[must_use]
    pub fn of_alphabet(tier: Tier, alphabet: Alphabet, on_error: OnError) -> Self {
        Self::with(tier.granted(), Rules { codes: Codes::of(Some(alphabet)), on_error })
    }

    fn with(tier: Granted, rules: Rules) -> Self {
        Self {
            tier,
            rules,
            is_gap_owed: false,
            kept: None,
            unfinished: Unfinished::default(),
            place: Place::default(),
        }
    }

    /// Encodes up to whole characters, as far as the kernel can; the caller does the rest. The output is at least
    /// [`MOST_BYTES_PER_BYTE`] times as long as the input, and 128 bytes more.
    fn kernel(&mut self, input: &[u8], output: &mut [u8]) -> Progress {
        let (rules, is_gap_owed) = (self.rules, &mut self.is_gap_owed);
        match self.tier {
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(_) => encode_portable::encode(rules, input, output, is_gap_owed),
            Granted::Portable => encode_portable::encode(rules, input, output, is_gap_owed),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx2(proof) => encode_avx2::encode(proof, rules, input, output, is_gap_owed),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx512(proof) => {
                encode_avx512::encode(proof, rules, input, output, is_gap_owed)
            }
        }
    }

    fn signs(&mut self, signs: &[u8], written: &mut Written<'_>) {
        if self.is_gap_owed {
            written.append(b" ");
        }
        written.append(signs);
        self.is_gap_owed = true;
    }

    fn character(&mut self, character: char, written: &mut Written<'_>) -> Result<(), EncodeCause> {
        if let '\t' | '\n' | '\r' = character {
            written.append(&[character as u8]);
            self.is_gap_owed = false;
            return Ok(());
        }
        if character == BYTE_ORDER_MARK {
            return Ok(());
        }
        match self.with_signs(character, |encoder, signs| encoder.signs(signs, written)) {
            Some(()) => Ok(()),
            None => self.error(EncodeCause::NoCode(character), written),
        }
    }

    /// Calls `then` with the signs of a character, if it has any.
    fn with_signs<T>(
        &mut self,
        character: char,
        then: impl FnOnce(&mut Self, &[u8]) -> T,
    ) -> Option<T> {
        let codes = self.rules.codes;
        let text = codes.text(character.into());
        match text[15] {
            0 | LONG => {
                let long = codes.long(character)?;
                Some(then(self, long.text().trim_ascii_end()))
            }
            length => Some(then(self, &text[..usize::from(length) - 1])),
        }
    }

    /// If `found` is a mark that changes the character before it, writes the changed character instead.
    fn mark(
        &mut self,
        found: First,
        before: Option<char>,
        written: &mut Written<'_>,
    ) -> Option<char> {
        let First::Character(mark, _) = found else { return None };
        let base = before?;
        let whole = self.rules.codes.whole(base, mark)?;
        self.take_back(base, written);
        self.with_signs(whole, |encoder, signs| encoder.signs(signs, written))?;
        Some(whole)
    }

    /// Removes the signs of the last character from the end of the output; the gap before them stays.
    fn take_back(&mut self, character: char, written: &mut Written<'_>) {
        if let Some(length) = self.with_signs(character, |_, signs| signs.len()) {
            written.length -= length;
            self.is_gap_owed = false;
        }
    }

    /// Writes the kept character.
    fn write_kept(&mut self, written: &mut Written<'_>) -> Last {
        let character = self.kept.take();
        if let Some(kept) = character {
            self.with_signs(kept, |encoder, signs| encoder.signs(signs, written));
        }
        Last { at: 0, character }
    }

    fn error(&mut self, cause: EncodeCause, written: &mut Written<'_>) -> Result<(), EncodeCause> {
        match self.rules.on_error {
            OnError::Fail => return Err(cause),
            OnError::Replace => self.signs(NOT_UNDERSTOOD.as_bytes(), written),
            OnError::Skip => {}
        }
        Ok(())
    }

    /// Handles `found`, which `bytes` begin with, and returns its length.
    fn piece(
        &mut self,
        found: First,
        bytes: &[u8],
        written: &mut Written<'_>,
    ) -> Result<usize, EncodeCause> {
        match found {
            First::Character(character, length) => {
                self.character(character, written).map(|()| length)
            }
            First::Malformed(length) => {
                let cause = EncodeCause::Malformed(Malformed::new(&bytes[..length]));
                self.error(cause, written).map(|()| length)
            }
            First::Unfinished => Ok(0),
        }
    }

    /// Completes a character that began in an earlier block, and returns how many bytes of `input` belong to it.
    fn begin(
        &mut self,
        input: &[u8],
        last: &mut Last,
        written: &mut Written<'_>,
    ) -> Result<usize, Fault<EncodeError>> {
        if self.unfinished.is_empty() {
            return Ok(0);
        }
        let (found, bytes, taken) = self.unfinished.join(input);
        let length = if let Some(whole) = self.mark(found, last.character, written) {
            last.character = Some(whole);
            bytes_of(found)
        } else {
            let length = self
                .piece(found, &bytes, written)
                .map_err(|cause| self.fault(cause, &[], written))?;
            match found {
                First::Character(character, _) => last.character = Some(character),
                // What was written for it stands between the last character and the next.
                First::Malformed(_) => last.character = None,
                First::Unfinished => {}
            }
            length
        };
        self.place = self.place.after(&bytes[..length]);
        Ok(taken)
    }

    fn fault(
        &self,
        cause: EncodeCause,
        before: &[u8],
        written: &Written<'_>,
    ) -> Fault<EncodeError> {
        let place = self.place.after(before);
        Fault { written: written.length, error: EncodeError { place, cause } }
    }
}

/// How the text encoded so far ends.
#[derive(Clone, Copy)]
struct Last {
    /// Position in the block that this describes; at other positions, the block itself tells.
    at: usize,
    character: Option<char>,
}

impl Last {
    /// Returns the character that ends at `read`.
    fn before(self, input: &[u8], read: usize) -> Option<char> {
        if read == self.at {
            return self.character;
        }
        let (begin, _) = input[..read].iter().enumerate().rev().take(4).find(|(_, byte)| {
            // Find a byte that does not continue a character.
            !(0x80..0xC0).contains(*byte)
        })?;
        match first(&input[begin..read]) {
            First::Character(character, length) if begin + length == read => Some(character),
            _ => None,
        }
    }
}

fn is_mark_found(found: First) -> bool {
    matches!(found, First::Character(character, _) if is_mark(character))
}

/// Returns how many bytes `found` has.
fn bytes_of(found: First) -> usize {
    match found {
        First::Character(_, length) | First::Malformed(length) => length,
        First::Unfinished => 0,
    }
}

impl Codec for Encoder {
    type Error = EncodeError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes.saturating_mul(MOST_BYTES_PER_BYTE).saturating_add(SLACK_BYTES)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<EncodeError>> {
        assert!(output.len() >= self.output_bound(input.len()), "the output is too short");
        let mut written = Written { output, length: 0 };
        let mut last = self.write_kept(&mut written);
        let begun = self.begin(input, &mut last, &mut written)?;
        let input = &input[begun..];
        let mut read = 0;
        'blocks: while read < input.len() {
            let progress = self.kernel(&input[read..], &mut written.output[written.length..]);
            read += progress.read;
            written.length += progress.written;
            let stretch = input.len().min(read + STRETCH_BYTES);
            while read < stretch {
                let found = first(&input[read..]);
                if found == First::Unfinished {
                    self.unfinished = Unfinished::keep(&input[read..]);
                    break 'blocks;
                }
                if is_mark_found(found)
                    && let Some(whole) = self.mark(found, last.before(input, read), &mut written)
                {
                    read += bytes_of(found);
                    last = Last { at: read, character: Some(whole) };
                    continue;
                }
                match self.piece(found, &input[read..], &mut written) {
                    Ok(length) => read += length,
                    Err(cause) => return Err(self.fault(cause, &input[..read], &written)),
                }
            }
        }
        self.kept = last.before(input, read).filter(|last| self.rules.codes.is_base(*last));
        if let Some(kept) = self.kept {
            self.take_back(kept, &mut written);
        }
        if self.rules.on_error == OnError::Fail {
            self.place = self.place.after_block(&input[..read], self.tier);
        }
        Ok(written.length)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<EncodeError>> {
        let mut written = Written { output, length: 0 };
        self.write_kept(&mut written);
        let kept = self.unfinished;
        if !kept.is_empty() {
            self.unfinished = Unfinished::default();
            let found = First::Malformed(kept.bytes().len());
            if let Err(cause) = self.piece(found, kept.bytes(), &mut written) {
                return Err(self.fault(cause, &[], &written));
            }
        }
        Ok(written.length)
    }
}

/// Each line encodes independently.
impl Divisible for Encoder {
    fn fresh(&self) -> Self {
        Self::with(self.tier, self.rules)
    }

    fn divide(block: &[u8]) -> usize {
        memchr::memrchr(b'\n', block).map_or(0, |end| end + 1)
    }

    fn append(&mut self, later: Self) {
        *self = Self { place: self.place.then(later.place), ..later };
    }

    fn after_this(&self, error: EncodeError) -> EncodeError {
        EncodeError { place: self.place.then(error.place), ..error }
    }
}
