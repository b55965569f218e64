//! Makes a stream well-formed UTF-8.

use std::convert::Infallible;

use super::first::{First, Unfinished};
use crate::{Codec, Fault};

/// What replaces an ill-formed sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// U+FFFD for each maximal subpart, as the WHATWG Encoding Standard (UTF-8 decoder) and The Unicode Standard (3.9) say.
    #[default]
    Character,
    /// Nothing.
    Nothing,
}

/// Turns any bytes into UTF-8. Well-formed input comes out unchanged, including a byte order mark.
#[derive(Clone, Debug)]
pub struct Repairer {
    replacement: Replacement,
    unfinished: Unfinished,
    replaced: u64,
}

impl Repairer {
    /// Makes a repairer at the beginning of a stream.
    #[must_use]
    pub fn new(replacement: Replacement) -> Self {
        Self { replacement, unfinished: Unfinished::default(), replaced: 0 }
    }

    /// Returns how many sequences were ill-formed so far.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    fn replacement(&mut self) -> &'static [u8] {
        self.replaced += 1;
        match self.replacement {
            Replacement::Character => "\u{FFFD}".as_bytes(),
            Replacement::Nothing => b"",
        }
    }
}

fn append(output: &mut [u8], written: &mut usize, bytes: &[u8]) {
    output[*written..][..bytes.len()].copy_from_slice(bytes);
    *written += bytes.len();
}

impl Codec for Repairer {
    type Error = Infallible;

    fn output_bound(&self, input_bytes: usize) -> usize {
        // Every byte may be a sequence of its own, and a character may have begun in the last block.
        input_bytes.saturating_mul(3).saturating_add(4)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Infallible>> {
        let mut rest = input;
        let mut written = 0;
        if !self.unfinished.is_empty() {
            let (found, bytes, taken) = self.unfinished.join(input);
            match found {
                First::Unfinished => return Ok(0),
                First::Malformed(_) => append(output, &mut written, self.replacement()),
                First::Character(_, length) => append(output, &mut written, &bytes[..length]),
            }
            rest = &input[taken..];
        }
        while let Err(error) = simdutf8::compat::from_utf8(rest) {
            let (valid, wrong) = rest.split_at(error.valid_up_to());
            append(output, &mut written, valid);
            let Some(length) = error.error_len() else {
                self.unfinished = Unfinished::keep(wrong);
                return Ok(written);
            };
            append(output, &mut written, self.replacement());
            rest = &wrong[length..];
        }
        append(output, &mut written, rest);
        Ok(written)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<Infallible>> {
        let mut written = 0;
        if !self.unfinished.is_empty() {
            self.unfinished = Unfinished::default();
            append(output, &mut written, self.replacement());
        }
        Ok(written)
    }
}
