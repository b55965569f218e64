//! Errors in the input of a Morse stage.

use std::fmt;

use crate::place::Place;
use crate::utf8::Malformed;

/// The text cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// Position of the fault.
    pub place: Place,
    /// The fault.
    pub cause: EncodeCause,
}

/// Why text cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeCause {
    /// A character without a Morse code.
    NoCode(char),
    /// Not UTF-8.
    Malformed(Malformed),
}

/// The input is not Morse code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Position of the fault; for a sign, its beginning.
    pub place: Place,
    /// The fault.
    pub cause: DecodeCause,
}

/// Why a sign cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeCause {
    /// The alphabet has no such sign.
    UnknownSign(Elements),
    /// The character is neither an element nor a gap.
    NotMorse(char),
    /// Not UTF-8.
    Malformed(Malformed),
}

/// Dots and dashes of one sign; of a longer sign, the first 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// The elements as bits, the first in bit 0; 1 is a dash.
    pub(super) dashes: u16,
    /// How many elements there are in all.
    pub(super) count: u64,
}

impl Elements {
    pub(super) fn push(&mut self, is_dash: bool) {
        if self.count < 16 {
            self.dashes |= u16::from(is_dash) << self.count;
        }
        self.count += 1;
    }

    /// Returns the index into a decoding table: the elements, and a one above the last. It is 0 for a sign of more than
    /// seven elements.
    pub(super) fn index(self) -> u8 {
        if self.count > 7 { 0 } else { (self.dashes | 1 << self.count).to_le_bytes()[0] }
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for element in 0..self.count.min(16) {
            f.write_str(if self.dashes >> element & 1 == 1 { "-" } else { "." })?;
        }
        if self.count > 16 { write!(f, "… ({} elements)", self.count) } else { Ok(()) }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match self.cause {
            EncodeCause::NoCode(c) => write!(f, "no Morse code for {}", Named(c)),
            EncodeCause::Malformed(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match self.cause {
            DecodeCause::UnknownSign(elements) => write!(f, "unknown sign {elements}"),
            DecodeCause::NotMorse(c) => write!(f, "{} is not Morse code", Named(c)),
            DecodeCause::Malformed(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl std::error::Error for EncodeError {}
impl std::error::Error for DecodeError {}

/// A character in a message: by itself where it is visible, and by number.
struct Named(char);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = u32::from(self.0);
        if self.0.is_control() || self.0.is_whitespace() {
            write!(f, "U+{number:04X}")
        } else {
            write!(f, "'{}' (U+{number:04X})", self.0)
        }
    }
}
