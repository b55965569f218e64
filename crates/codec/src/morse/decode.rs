//! Signs → text.

use super::error::{DecodeCause, DecodeError, Elements};
use super::letters::{Letters, UNKNOWN};
use super::written::{Progress, Written};
use super::{Alphabet, OnError};
use crate::place::Place;
use crate::utf8::Malformed;
use crate::utf8::first::{First, Unfinished, first};
use crate::{Codec, Divisible, Fault, Tier};

/// The longest output of a byte: U+FFFD for something that is not Morse.
const MOST_BYTES_PER_BYTE: usize = 3;
/// For what was kept from the last block (a letter and three bytes), and for what kernels write beyond what they keep.
const SLACK_BYTES: usize = 192;
/// Bytes that the slow path takes before the kernel is tried again: a window, and a letter that began before it.
const STRETCH_BYTES: usize = 72;

/// How far ahead input is asked for: what the CPU's own prefetching brings of signs in main memory is a quarter of what this
/// takes (decode-english, 81 MB, on an Intel Xeon: 1.5 → 6.0 GB/s).
#[cfg(target_arch = "x86_64")]
pub(super) const PREFETCH: usize = 4096;

/// Decodes as far as it likes, up to whole signs with the gap after them; leaves to the caller what it cannot do. The
/// output is at least [`MOST_BYTES_PER_BYTE`] times as long as the input, and 128 bytes more.
type Kernel = fn(&[u8], &mut [u8], &Letters) -> Progress;

/// Morse code → text. Input: UTF-8, in which `.` `·` `•` are dots, `-` `_` `−` `–` are dashes. Output: UTF-8.
///
/// A space ends a letter, `/` a word; tabs and line ends are kept. Anything else is an error, and ends a letter, too.
pub struct Decoder {
    tier: Tier,
    kernel: Kernel,
    letters: &'static Letters,
    on_error: OnError,
    /// The sign that has begun, and its length in bytes.
    sign: Elements,
    sign_bytes: u64,
    unfinished: Unfinished,
    /// Where the block begins; kept only where an error would ask for it.
    place: Place,
}

/// What is wrong, and how far back it began.
struct Wrong {
    cause: DecodeCause,
    bytes_back: u64,
    characters_back: u64,
}

impl Decoder {
    /// A decoder with the kernels of `tier`, or of the best tier of the CPU if that is less.
    #[must_use]
    pub fn new(tier: Tier, alphabet: Alphabet, on_error: OnError) -> Self {
        let tier = tier.granted();
        Self {
            tier,
            kernel: match tier {
                Tier::Portable => super::decode_portable::decode,
                #[cfg(target_arch = "x86_64")]
                Tier::Avx2 => super::decode_avx2::kernel(),
                #[cfg(target_arch = "x86_64")]
                Tier::Avx512 => super::decode_avx512::kernel(),
                #[cfg(not(target_arch = "x86_64"))]
                _ => super::decode_portable::decode,
            },
            letters: Letters::of(alphabet),
            on_error,
            sign: Elements::default(),
            sign_bytes: 0,
            unfinished: Unfinished::default(),
            place: Place::default(),
        }
    }

    fn element(&mut self, is_dash: bool, bytes: usize) {
        self.sign.push(is_dash);
        self.sign_bytes += bytes as u64;
    }

    /// The sign is over: its letter.
    fn letter(&mut self, written: &mut Written<'_>) -> Result<(), Wrong> {
        let sign = std::mem::take(&mut self.sign);
        let bytes_back = std::mem::take(&mut self.sign_bytes);
        let letter = self.letters.by_first[usize::from(sign.index())];
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

    /// What `found` at the beginning of `bytes` gives; returns its length.
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
            (None, control) => written.append(&[control]),
        }
        Ok(length)
    }

    /// The character that began in an earlier block; returns how much of `input` was in it.
    fn begin(
        &mut self,
        input: &[u8],
        written: &mut Written<'_>,
    ) -> Result<usize, Fault<DecodeError>> {
        if self.unfinished.is_empty() {
            return Ok(0);
        }
        let (found, bytes, taken) = self.unfinished.join(input);
        match self.piece(found, &bytes, written) {
            Ok(length) => self.place = self.place.after(&bytes[..length]),
            Err(wrong) => return Err(self.fault(wrong, &[], written)),
        }
        Ok(taken)
    }

    fn fault(&self, wrong: Wrong, before: &[u8], written: &Written<'_>) -> Fault<DecodeError> {
        let mut place = self.place.after(before);
        place.offset -= wrong.bytes_back;
        place.column -= wrong.characters_back;
        Fault { written: written.length, error: DecodeError { place, cause: wrong.cause } }
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
        let begun = self.begin(input, &mut written)?;
        let input = &input[begun..];
        let mut read = 0;
        'blocks: while read < input.len() {
            if self.sign.count == 0 {
                let rest = &mut written.output[written.length..];
                let progress = (self.kernel)(&input[read..], rest, self.letters);
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
                match self.piece(found, &input[read..], &mut written) {
                    Ok(length) => read += length,
                    Err(wrong) => return Err(self.fault(wrong, &input[..read], &written)),
                }
            }
        }
        if self.on_error == OnError::Fail {
            self.place = self.place.after_block(&input[..read], self.tier);
        }
        Ok(written.length)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<DecodeError>> {
        let mut written = Written { output, length: 0 };
        let kept = self.unfinished;
        let result = if kept.is_empty() {
            self.letter(&mut written)
        } else {
            let found = First::Malformed(kept.bytes().len());
            self.piece(found, kept.bytes(), &mut written).map(drop)
        };
        match result {
            Ok(()) => Ok(written.length),
            Err(wrong) => Err(self.fault(wrong, &[], &written)),
        }
    }
}

/// Lines are independent of each other.
impl Divisible for Decoder {
    fn fresh(&self) -> Self {
        Self {
            tier: self.tier,
            kernel: self.kernel,
            on_error: self.on_error,
            letters: self.letters,
            sign: Elements::default(),
            sign_bytes: 0,
            unfinished: Unfinished::default(),
            place: Place::default(),
        }
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
