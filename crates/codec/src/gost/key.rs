//! Keys: 256 bits that are erased when they are dropped.

use std::fmt;

use zeroize::Zeroize;

/// A key of either cipher. Erased when dropped; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; Self::BYTES]);

impl Key {
    /// Bytes of a key.
    pub const BYTES: usize = 32;

    /// The key of these bytes, in the order of the standards' examples. The caller's copy stays the caller's to erase.
    #[must_use]
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The bytes of the key, to be overwritten.
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
