//! Decodes signs to text.

#[cfg(target_arch = "aarch64")]
use super::decode_neon;
use super::error::{DecodeCause, DecodeError, Elements};
use super::kana::{self, KANA_BYTES};
use super::letters::{Letters, UNKNOWN};
use super::written::{Progress, Written};
use super::{Alphabet, OnError, decode_portable};
#[cfg(target_arch = "x86_64")]
use super::{decode_avx2, decode_avx512};
use crate::place::Place;
use crate::tier::Granted;
use crate::utf8::Malformed;
use crate::utf8::first::{First, Unfinished, first};
use crate::{Codec, Divisible, Fault, Tier};

/// Longest output of one input byte: U+FFFD for something that is not Morse code.
const MOST_BYTES_PER_BYTE: usize = 3;
/// Room for what was kept from the last block (a letter and three bytes), and for what kernels write beyond what they
/// keep.
const SLACK_BYTES: usize = 192;
/// How many bytes the slow path takes before it retries the kernel: a window, and a letter that began before it.
const STRETCH_BYTES: usize = 72;

/// Decodes Morse code to text. Input: UTF-8, in which `.` `·` `•` are dots, `-` `_` `−` `–` are dashes. Output: UTF-8.
///
/// A space ends a letter, `/` a word; tabs and line ends are kept. Anything else is an error, and ends a letter, too.
pub struct Decoder {
    tier: Granted,
    alphabet: Alphabet,
    letters: &'static Letters,
    on_error: OnError,
    /// Whether the last parenthesis of the line was an opening one, for alphabets in which one sign stands for both.
    is_open: bool,
    /// The last kana, which the next sign may change.
    kept: Option<[u8; KANA_BYTES]>,
    /// The sign in progress, and its length in bytes.
    sign: Elements,
    sign_bytes: u64,
    unfinished: Unfinished,
    /// Where the block begins; maintained only where an error would report it.
    place: Place,
}

/// An error, and how far back it began.
struct Wrong {
    cause: DecodeCause,
    bytes_back: u64,
    characters_back: u64,
}

impl Decoder {
    /// Makes a decoder with the kernels of `tier`, or of the CPU's best tier if that is less.
    #[must_use]
    pub fn new(tier: Tier, alphabet: Alphabet, on_error: OnError) -> Self {
        Self::with(tier.granted(), alphabet, on_error)
    }

    fn with(tier: Granted, alphabet: Alphabet, on_error: OnError) -> Self {
        Self {
            tier,
            alphabet,
            letters: Letters::of(alphabet),
            on_error,
            is_open: false,
            kept: None,
            sign: Elements::default(),
            sign_bytes: 0,
            unfinished: Unfinished::default(),
            place: Place::default(),
        }
    }

    /// Decodes up to whole signs with the gap after them, as far as the kernel can; the caller does the rest. The
    /// output is at least [`MOST_BYTES_PER_BYTE`] times as long as the input, and 128 bytes more.
    fn kernel(&self, input: &[u8], output: &mut [u8]) -> Progress {
        let letters = self.letters;
        match self.tier {
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(proof) => decode_neon::decode(proof, input, output, letters),
            Granted::Portable => decode_portable::decode(input, output, letters),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx2(proof) => decode_avx2::decode(proof, input, output, letters),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx512(proof) => decode_avx512::decode(proof, input, output, letters),
        }
    }

    fn element(&mut self, is_dash: bool, bytes: usize) {
        self.sign.push(is_dash);
        self.sign_bytes += bytes as u64;
    }

    /// Ends the sign and writes its letter.
    fn letter(&mut self, written: &mut Written<'_>) -> Result<(), Wrong> {
        let sign = std::mem::take(&mut self.sign);
        let bytes_back = std::mem::take(&mut self.sign_bytes);
        let letter = self.letters.by_first[usize::from(sign.index())];
        if self.letters.either_parenthesis == Some(sign.index()) {
            self.is_open = !self.is_open;
            written.append(if self.is_open { b"(" } else { b")" });
            return Ok(());
        }
        if letter & UNKNOWN != 0 {
            let cause = DecodeCause::UnknownSign(sign);
            return self.error(Wrong { cause, bytes_back, characters_back: sign.count }, written);
        }
        let letter = letter.to_le_bytes();
        written.append(&letter[..usize::from(letter[3])]);
        Ok(())
    }

    fn error(&self, wrong: Wrong, written: &mut Written<'_>) -> Result<(), Wrong> {
        match self.on_error {
            OnError::Fail => return Err(wrong),
            OnError::Replace => written.append("\u{FFFD}".as_bytes()),
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
    ) -> Result<usize, Wrong> {
        let (length, wrong) = match found {
            First::Unfinished => return Ok(0),
            First::Malformed(length) => {
                (length, Some(DecodeCause::Malformed(Malformed::new(&bytes[..length]))))
            }
            First::Character('.' | '·' | '•', length) => {
                self.element(false, length);
                return Ok(length);
            }
            First::Character('-' | '_' | '−' | '–', length) => {
                self.element(true, length);
                return Ok(length);
            }
            First::Character(' ' | '/' | '\t' | '\n' | '\r', length) => (length, None),
            First::Character(other, length) => (length, Some(DecodeCause::NotMorse(other))),
        };
        self.letter(written)?;
        match (wrong, bytes[0]) {
            (Some(cause), _) => {
                self.error(Wrong { cause, bytes_back: 0, characters_back: 0 }, written)?;
            }
            (None, b' ') => {}
            (None, b'/') => written.append(b" "),
            (None, control) => {
                self.is_open &= control != b'\n';
                written.append(&[control]);
            }
        }
        Ok(length)
    }

    /// Completes a character that began in an earlier block, and returns how many bytes of `input` belong to it.
    fn begin(&mut self, input: &[u8], written: &mut Written<'_>) -> Result<usize, DecodeError> {
        if self.unfinished.is_empty() {
            return Ok(0);
        }
        let (found, bytes, taken) = self.unfinished.join(input);
        match self.piece(found, &bytes, written) {
            Ok(length) => self.place = self.place.after(&bytes[..length]),
            Err(wrong) => return Err(self.wrong(wrong, &[])),
        }
        Ok(taken)
    }

    /// Decodes a block letter by letter, as the table has them.
    fn letters(&mut self, input: &[u8], written: &mut Written<'_>) -> Result<(), DecodeError> {
        let begun = self.begin(input, written)?;
        let input = &input[begun..];
        let mut read = 0;
        'blocks: while read < input.len() {
            if self.sign.count == 0 {
                let rest = &mut written.output[written.length..];
                let progress = self.kernel(&input[read..], rest);
                if self.is_open {
                    let done = &input[read..read + progress.read];
                    self.is_open = memchr::memchr(b'\n', done).is_none();
                }
                read += progress.read;
                written.length += progress.written;
            }
            let stretch = read + STRETCH_BYTES;
            while read < input.len() && (read < stretch || self.sign.count > 0) {
                let found = first(&input[read..]);
                if found == First::Unfinished {
                    self.unfinished = Unfinished::keep(&input[read..]);
                    break 'blocks;
                }
                match self.piece(found, &input[read..], written) {
                    Ok(length) => read += length,
                    Err(wrong) => return Err(self.wrong(wrong, &input[..read])),
                }
            }
        }
        if self.on_error == OnError::Fail {
            self.place = self.place.after_block(&input[..read], self.tier);
        }
        Ok(())
    }

    fn wrong(&self, wrong: Wrong, before: &[u8]) -> DecodeError {
        let mut place = self.place.after(before);
        place.offset -= wrong.bytes_back;
        place.column -= wrong.characters_back;
        DecodeError { place, cause: wrong.cause }
    }

    fn write_kept(&mut self, written: &mut Written<'_>) {
        if let Some(kept) = self.kept.take() {
            written.append(&kept);
        }
    }

    /// Joins letters that together make one. If `more` may come, it keeps the last letter where the next may belong to
    /// it.
    fn join(&mut self, written: &mut Written<'_>, more: bool) {
        if self.alphabet != Alphabet::Japanese {
            return;
        }
        written.length = kana::join(&mut written.output[..written.length]);
        if more {
            self.kept = kana::open_end(&written.output[..written.length]);
            written.length -= self.kept.map_or(0, |kept| kept.len());
        }
    }
}

impl Codec for Decoder {
    type Error = DecodeError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes.saturating_mul(MOST_BYTES_PER_BYTE).saturating_add(SLACK_BYTES)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<DecodeError>> {
        assert!(output.len() >= self.output_bound(input.len()), "the output is too short");
        let mut written = Written { output, length: 0 };
        self.write_kept(&mut written);
        let result = self.letters(input, &mut written);
        self.join(&mut written, result.is_ok());
        result.map(|()| written.length).map_err(|error| Fault { written: written.length, error })
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<DecodeError>> {
        let mut written = Written { output, length: 0 };
        self.write_kept(&mut written);
        let unfinished = self.unfinished;
        let result = if unfinished.is_empty() {
            self.letter(&mut written)
        } else {
            let found = First::Malformed(unfinished.bytes().len());
            self.piece(found, unfinished.bytes(), &mut written).map(drop)
        };
        self.join(&mut written, false);
        match result {
            Ok(()) => Ok(written.length),
            Err(wrong) => Err(Fault { written: written.length, error: self.wrong(wrong, &[]) }),
        }
    }
}

/// Each line decodes independently.
impl Divisible for Decoder {
    fn fresh(&self) -> Self {
        Self::with(self.tier, self.alphabet, self.on_error)
    }

    fn divide(block: &[u8]) -> usize {
        memchr::memrchr(b'\n', block).map_or(0, |end| end + 1)
    }

    fn append(&mut self, later: Self) {
        *self = Self { place: self.place.then(later.place), ..later };
    }

    fn after_this(&self, error: DecodeError) -> DecodeError {
        DecodeError { place: self.place.then(error.place), ..error }
    }
}
