//! Text → signs.

use super::OnError;
use super::error::{EncodeCause, EncodeError};
use super::pages::{Codes, LONG, NOT_UNDERSTOOD};
use super::written::{Progress, Written};
use crate::place::Place;
use crate::utf8::Malformed;
use crate::utf8::first::{First, Unfinished, first};
use crate::{Codec, Divisible, Fault, Tier};

/// The longest code of a byte: `%` is `----- -..-. ----- `.
const MOST_BYTES_PER_BYTE: usize = 18;
/// For the bytes of a character kept from the last block, and for what kernels write beyond what they keep.
const SLACK_BYTES: usize = MOST_BYTES_PER_BYTE * 4 + 128;
/// Bytes that the slow path takes before the kernel is tried again.
const STRETCH_BYTES: usize = 32;

/// Encodes as far as it likes, up to whole characters; leaves to the caller what it cannot do. The second argument is
/// at least [`MOST_BYTES_PER_BYTE`] times as long as the input, and 128 bytes more. The flag says whether a gap is owed
/// before the next sign.
type Kernel = fn(&[u8], &mut [u8], &mut bool, OnError) -> Progress;

/// Text → Morse code. Input: UTF-8. Output: ASCII; the `Codec` trait says the rest.
#[derive(Debug)]
pub struct Encoder {
    tier: Tier,
    kernel: Kernel,
    on_error: OnError,
    is_gap_owed: bool,
    unfinished: Unfinished,
    /// Where the block begins; kept only where an error would ask for it.
    place: Place,
}

impl Encoder {
    /// An encoder with the kernels of `tier`, or of the best tier of the CPU if that is less.
    #[must_use]
    pub fn new(tier: Tier, on_error: OnError) -> Self {
        let tier = tier.granted();
        Self {
            tier,
            kernel: match tier {
                Tier::Portable => super::encode_portable::encode,
                #[cfg(target_arch = "x86_64")]
                Tier::Avx2 => super::encode_avx2::kernel(),
                #[cfg(target_arch = "x86_64")]
                Tier::Avx512 => super::encode_avx512::kernel(),
                #[cfg(not(target_arch = "x86_64"))]
                _ => super::encode_portable::encode,
            },
            on_error,
            is_gap_owed: false,
            unfinished: Unfinished::default(),
            place: Place::default(),
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
        let codes = Codes::get();
        let text = codes.text(character.into());
        match text[15] {
            0 | LONG => match codes.long(character) {
                Some(long) => self.signs(long.text().trim_ascii_end(), written),
                None => self.error(EncodeCause::NoCode(character), written)?,
            },
            length => self.signs(&text[..usize::from(length) - 1], written),
        }
        Ok(())
    }

    fn error(&mut self, cause: EncodeCause, written: &mut Written<'_>) -> Result<(), EncodeCause> {
        match self.on_error {
            OnError::Fail => return Err(cause),
            OnError::Replace => self.signs(NOT_UNDERSTOOD.as_bytes(), written),
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

    /// The character that began in an earlier block; returns how much of `input` was in it.
    fn begin(
        &mut self,
        input: &[u8],
        written: &mut Written<'_>,
    ) -> Result<usize, Fault<EncodeError>> {
        if self.unfinished.is_empty() {
            return Ok(0);
        }
        let (found, bytes, taken) = self.unfinished.join(input);
        match self.piece(found, &bytes, written) {
            Ok(length) => self.place = self.place.after(&bytes[..length]),
            Err(cause) => return Err(self.fault(cause, &[], written)),
        }
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

impl Codec for Encoder {
    type Error = EncodeError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes.saturating_mul(MOST_BYTES_PER_BYTE).saturating_add(SLACK_BYTES)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<EncodeError>> {
        assert!(output.len() >= self.output_bound(input.len()), "the output is too short");
        let mut written = Written { output, length: 0 };
        let begun = self.begin(input, &mut written)?;
        let input = &input[begun..];
        let mut read = 0;
        'blocks: while read < input.len() {
            let rest = &mut written.output[written.length..];
            let progress =
                (self.kernel)(&input[read..], rest, &mut self.is_gap_owed, self.on_error);
            read += progress.read;
            written.length += progress.written;
            let stretch = input.len().min(read + STRETCH_BYTES);
            while read < stretch {
                let found = first(&input[read..]);
                if found == First::Unfinished {
                    self.unfinished = Unfinished::keep(&input[read..]);
                    break 'blocks;
                }
                match self.piece(found, &input[read..], &mut written) {
                    Ok(length) => read += length,
                    Err(cause) => return Err(self.fault(cause, &input[..read], &written)),
                }
            }
        }
        if self.on_error == OnError::Fail {
            self.place = self.place.after_block(&input[..read], self.tier);
        }
        Ok(written.length)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<EncodeError>> {
        let mut written = Written { output, length: 0 };
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

/// Lines are independent of each other.
impl Divisible for Encoder {
    fn fresh(&self) -> Self {
        Self {
            tier: self.tier,
            kernel: self.kernel,
            on_error: self.on_error,
            is_gap_owed: false,
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

    fn after_this(&self, error: EncodeError) -> EncodeError {
        EncodeError { place: self.place.then(error.place), ..error }
    }
}
