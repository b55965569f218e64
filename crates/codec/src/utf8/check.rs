//! Is a stream well-formed UTF-8?

use std::fmt;

use super::Malformed;
use super::first::{First, Unfinished};
use crate::place::Place;

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

/// Validates a stream block by block; the blocks may end within a character.
///
/// The vector kernels are those of `simdutf8`, which chooses by what the CPU can do.
#[derive(Clone, Debug, Default)]
pub struct Validator {
    unfinished: Unfinished,
    place: Place,
}

impl Validator {
    /// A validator at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Validates the next block.
    ///
    /// # Errors
    /// [`Utf8Error`]: the first ill-formed sequence of the stream. After it, nothing may be pushed.
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
        // The quick answer is enough for almost every block.
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

    /// The stream is over.
    ///
    /// # Errors
    /// [`Utf8Error`]: it ends within a character.
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
