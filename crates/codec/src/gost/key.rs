//! Keys: 256 bits that are erased on drop.

use std::fmt;

use zeroize::Zeroize;

/// A key of either cipher. It is erased on drop and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; Self::BYTES]);

impl Key {
    /// Length of a key in bytes.
    pub const BYTES: usize = 32;

    /// Makes a key of these bytes, in the order of the standards' examples. The caller must erase its own copy.
    #[must_use]
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Returns the bytes of the key for overwriting.
    pub fn bytes_mut(&mut self) -> &mut [u8; Self::BYTES] {
        &mut self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
