//! Which of the two ciphers.

use std::fmt;
use std::str::FromStr;

/// A cipher of GOST R 34.12-2015.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Cipher {
    /// Blocks of 128 bits.
    #[default]
    Kuznyechik,
    /// Blocks of 64 bits: for little data under one key, see docs/gost.md.
    Magma,
}

impl Cipher {
    /// Bytes of a block.
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
        f.write_str(match self {
            Self::Kuznyechik => "kuznyechik",
            Self::Magma => "magma",
        })
    }
}

/// Not the name of a cipher.
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
        match name {
            "kuznyechik" => Ok(Self::Kuznyechik),
            "magma" => Ok(Self::Magma),
            _ => Err(UnknownCipher(name.to_owned())),
        }
    }
}
