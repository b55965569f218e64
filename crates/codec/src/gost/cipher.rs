//! Names the two ciphers.

use std::fmt;
use std::str::FromStr;

/// A cipher of GOST R 34.12-2015.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Cipher {
    /// Blocks of 128 bits.
    #[default]
    Kuznyechik,
    /// Blocks of 64 bits, for little data under one key: see docs/gost.md.
    Magma,
}

impl Cipher {
    /// Both ciphers.
    pub const ALL: [Self; 2] = [Self::Kuznyechik, Self::Magma];

    /// Returns the name that [`FromStr`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kuznyechik => "kuznyechik",
            Self::Magma => "magma",
        }
    }

    /// Returns the length of a block in bytes.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        match self {
            Self::Kuznyechik => 16,
            Self::Magma => 8,
        }
    }
}

impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a cipher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCipher(String);

impl fmt::Display for UnknownCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not one of kuznyechik, magma", self.0)
    }
}

impl std::error::Error for UnknownCipher {}

impl FromStr for Cipher {
    type Err = UnknownCipher;

    fn from_str(name: &str) -> Result<Self, UnknownCipher> {
        let known = Self::ALL.into_iter().find(|cipher| cipher.name() == name);
        known.ok_or_else(|| UnknownCipher(name.to_owned()))
    }
}
