//! Checks whether a stream is well-formed UTF-8.

use std::fmt;

use super::Malformed;
use super::first::{First, Unfinished};
#[cfg(target_arch = "aarch64")]
use super::{first::whole_characters, neon};
use crate::place::Place;
use crate::tier::Granted;
use crate::{Codec, Fault, Tier};

/// Where a stream stops being UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    /// Where the ill-formed sequence begins.
    pub place: Place,
    /// Its maximal subpart.
    pub malformed: Malformed,
}

impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.malformed)
    }
}

impl std::error::Error for Utf8Error {}

/// Validates a stream block by block; blocks may end within a character.
///
/// The vector kernels are those of `simdutf8`, which chooses by the CPU; the tier `neon` has one that also counts lines.
#[derive(Clone, Debug)]
pub struct Validator {
    tier: Granted,
    unfinished: Unfinished,
    place: Place,
}

impl Default for Validator {
    fn default() -> Self {
        Self::of_tier(Tier::best())
    }
}

impl Validator {
    /// Makes a validator at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a validator with the kernel of `tier`, or of the CPU's best tier if it lacks that.
    #[must_use]
    pub fn of_tier(tier: Tier) -> Self {
        Self { tier: tier.granted(), unfinished: Unfinished::default(), place: Place::default() }
    }

    /// Validates the next block.
    ///
    /// # Errors
    /// [`Utf8Error`]: the first ill-formed sequence of the stream. Push nothing after it.
    pub fn push(&mut self, block: &[u8]) -> Result<(), Utf8Error> {
        let mut rest = block;
        if !self.unfinished.is_empty() {
            let (found, bytes, taken) = self.unfinished.join(block);
            match found {
                First::Unfinished => return Ok(()),
                First::Malformed(length) => return Err(self.error(&[], &bytes[..length])),
                First::Character(_, length) => self.place = self.place.after(&bytes[..length]),
            }
            rest = &block[taken..];
        }
        // The quick check suffices for almost every block.
        if self.passes(rest) {
            return Ok(());
        }
        let Err(error) = simdutf8::compat::from_utf8(rest) else {
            self.place = self.place.after(rest);
            return Ok(());
        };
        let (valid, wrong) = rest.split_at(error.valid_up_to());
        if let Some(length) = error.error_len() {
            return Err(self.error(valid, &wrong[..length]));
        }
        self.place = self.place.after(valid);
        self.unfinished = Unfinished::keep(wrong);
        Ok(())
    }

    /// Takes `bytes` in if a kernel finds nothing wrong with them; otherwise, nothing changes.
    fn passes(&mut self, bytes: &[u8]) -> bool {
        match self.tier {
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(proof) => {
                let (whole, unfinished) = bytes.split_at(whole_characters(bytes));
                let Some(lines) = neon::lines_if_valid(proof, whole) else { return false };
                self.place = self.place.after_lines(whole, lines);
                self.unfinished = Unfinished::keep(unfinished);
                true
            }
            _ => {
                let _ = bytes;
                false
            }
        }
    }

    /// Returns how many bytes from the beginning of the stream are whole characters. Up to three bytes after them may
    /// begin one, or were refused.
    #[must_use]
    pub fn whole_bytes(&self) -> u64 {
        self.place.offset
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`Utf8Error`]: the stream ends within a character.
    pub fn finish(&self) -> Result<(), Utf8Error> {
        if self.unfinished.is_empty() {
            Ok(())
        } else {
            Err(self.error(&[], self.unfinished.bytes()))
        }
    }

    fn error(&self, valid: &[u8], wrong: &[u8]) -> Utf8Error {
        Utf8Error { place: self.place.after(valid), malformed: Malformed::new(wrong) }
    }
}

/// Validates a text that is there as a whole. Lines are counted only if it is wrong, so this takes fewer instructions than a
/// [`Validator`].
///
/// # Errors
/// [`Utf8Error`]: the first ill-formed sequence, or a character that is unfinished at the end.
pub fn validate(text: &[u8]) -> Result<(), Utf8Error> {
    let is_valid = match Tier::best().granted() {
        #[cfg(target_arch = "aarch64")]
        Granted::Neon(proof) => neon::is_valid(proof, text),
        _ => simdutf8::basic::from_utf8(text).is_ok(),
    };
    if is_valid {
        return Ok(());
    }
    let mut validator = Validator::new();
    validator.push(text)?;
    validator.finish()
}

/// Passes a stream on unchanged, up to the first byte that is not UTF-8.
///
/// It keeps an unfinished character until the rest arrives, so no byte of an ill-formed sequence gets out.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    validator: Validator,
}

impl Checker {
    /// Makes a checker at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Codec for Checker {
    type Error = Utf8Error;

    fn output_bound(&self, input_bytes: usize) -> usize {
        // At most three bytes were kept.
        input_bytes.saturating_add(3)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Utf8Error>> {
        let kept = self.validator.unfinished;
        let begin = self.validator.whole_bytes();
        let result = self.validator.push(input);
        let end =
            result.as_ref().map_or_else(|e| e.place.offset, |()| self.validator.whole_bytes());
        let mut written = usize::try_from(end - begin).unwrap_or(usize::MAX);
        if let Some(of_input) = written.checked_sub(kept.bytes().len()) {
            let (front, rest) = output.split_at_mut(kept.bytes().len());
            front.copy_from_slice(kept.bytes());
            rest[..of_input].copy_from_slice(&input[..of_input]);
        } else {
            // The kept character is still unfinished, or is refused.
            written = 0;
        }
        result.map(|()| written).map_err(|error| Fault { written, error })
    }

    fn finish(&mut self, _: &mut [u8]) -> Result<usize, Fault<Utf8Error>> {
        self.validator.finish().map(|()| 0).map_err(|error| Fault { written: 0, error })
    }
}
