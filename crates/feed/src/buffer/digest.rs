//! Hashes the stream.

#[cfg(feature = "digest")]
use std::fmt::Write;

#[cfg(feature = "digest")]
use sha2::Digest as _;

/// A hash function; a build without the feature `digest` has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hash {
    #[cfg(feature = "digest")]
    /// SHA-256, FIPS 180-4.
    Sha256,
    #[cfg(feature = "digest")]
    /// BLAKE3.
    Blake3,
    #[cfg(feature = "digest")]
    /// XXH3 with 64 bits: fast, not cryptographic.
    Xxh3,
}

/// A digest in progress.
#[cfg(feature = "digest")]
pub(super) enum Hasher {
    Sha256(sha2::Sha256),
    Blake3(Box<blake3::Hasher>),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
}

#[cfg(feature = "digest")]
impl Hasher {
    pub(super) fn new(hash: Hash) -> Self {
        match hash {
            Hash::Sha256 => Self::Sha256(sha2::Sha256::new()),
            Hash::Blake3 => Self::Blake3(Box::default()),
            Hash::Xxh3 => Self::Xxh3(Box::default()),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Blake3(hasher) => {
                hasher.update(bytes);
            }
            Self::Xxh3(hasher) => hasher.update(bytes),
        }
    }

    /// Returns the digest in lower-case hexadecimal digits.
    pub(super) fn finish(self) -> String {
        match self {
            Self::Sha256(hasher) => hexadecimal(&hasher.finalize()),
            Self::Blake3(hasher) => hasher.finalize().to_hex().to_string(),
            Self::Xxh3(hasher) => hexadecimal(&hasher.digest().to_be_bytes()),
        }
    }
}

#[cfg(feature = "digest")]
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A digest in progress, of which a build without the feature `digest` has none.
#[cfg(not(feature = "digest"))]
pub(super) enum Hasher {}

#[cfg(not(feature = "digest"))]
impl Hasher {
    pub(super) fn new(hash: Hash) -> Self {
        match hash {}
    }

    pub(super) fn update(&mut self, _bytes: &[u8]) {
        match *self {}
    }

    pub(super) fn finish(self) -> String {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_match_published_ones_however_the_input_is_split() {
        // The example of FIPS 180-4; the test vectors of BLAKE3 and of xxHash for an empty input.
        let cases: [(Hash, &[u8], &str); 4] = [
            (
                Hash::Sha256,
                b"abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (Hash::Blake3, b"", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (
                Hash::Blake3,
                b"abc",
                "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
            ),
            (Hash::Xxh3, b"", "2d06800538d394c2"),
        ];
        for (hash, input, digest) in cases {
            let mut hasher = Hasher::new(hash);
            input.chunks(1).for_each(|piece| hasher.update(piece));
            assert_eq!(hasher.finish(), digest, "{hash:?}");
        }
    }
}
