//! What can be wrong with the input of a Morse stage.

use std::fmt;

use crate::place::Place;
use crate::utf8::Malformed;

/// Text that cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// Where.
    pub place: Place,
    /// What.
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

/// Something that is not Morse code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where; of a sign, where it begins.
    pub place: Place,
    /// What.
    pub cause: DecodeCause,
}

/// Why a sign cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeCause {
    /// A sign that the alphabet does not have.
    UnknownSign(Elements),
    /// A character that is neither an element nor a gap.
    NotMorse(char),
    /// Not UTF-8.
    Malformed(Malformed),
}

/// Dots and dashes of one sign; the first 16 of them, when there are more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// Bit 0 is the first element; 1 is a dash.
    pub(super) dashes: u16,
    /// How many there are in all.
    pub(super) count: u64,
}

impl Elements {
    pub(super) fn push(&mut self, is_dash: bool) {
        if self.count < 16 {
            self.dashes |= u16::from(is_dash) << self.count;
        }
        self.count += 1;
    }

    /// Index into a decoding table: the elements, and a one above the last. 0 for a sign of more than seven elements.
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

/// A character for a message: as it is where it can be seen, and by number.
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
