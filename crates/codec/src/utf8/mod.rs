//! Checks and repairs UTF-8.

mod check;
pub(crate) mod first;
#[cfg(target_arch = "aarch64")]
mod neon;
mod repair;

pub use check::{Checker, Utf8Error, Validator, validate};
pub use repair::{Repairer, Replacement};

use std::fmt;

/// A maximal subpart of an ill-formed sequence: the one to three bytes that one U+FFFD replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    bytes: [u8; 3],
    length: usize,
}

impl Malformed {
    pub(crate) fn new(sequence: &[u8]) -> Self {
        let length = sequence.len().min(3);
        let mut bytes = [0; 3];
        bytes[..length].copy_from_slice(&sequence[..length]);
        Self { bytes, length }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid UTF-8:")?;
        self.bytes().iter().try_for_each(|byte| write!(f, " {byte:02X}"))
    }
}
