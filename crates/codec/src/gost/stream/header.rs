//! The header of a sealed stream.

use super::StreamError;
use crate::gost::Cipher;

const MAGIC: [u8; 8] = *b"fullbore";
const VERSION: u8 = 1;

/// What a stream declares before its first chunk: public, and authenticated with every chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    cipher: Cipher,
    chunk_bytes: u32,
    salt: [u8; Self::SALT_BYTES],
}

impl Header {
    /// Length of a header in bytes.
    pub const BYTES: usize = 48;
    /// Length of a salt in bytes.
    pub const SALT_BYTES: usize = 32;
    /// Bytes of data in every chunk but the last, by default.
    pub const CHUNK_BYTES: usize = 1 << 20;

    /// Smallest and largest chunk that an opener accepts: it holds one in memory before it knows who wrote it.
    const CHUNK_LIMITS: std::ops::RangeInclusive<u32> = 64..=16 << 20;

    /// Makes the header of a new stream. The salt must be random: two streams of one key with one salt expose both.
    #[must_use]
    pub fn new(cipher: Cipher, salt: [u8; Self::SALT_BYTES]) -> Self {
        Self { cipher, chunk_bytes: 1 << 20, salt }
    }

    /// Changes the size of chunks: from 64 bytes to 16 MiB of data.
    ///
    /// # Errors
    /// [`StreamError::Header`] beyond these limits.
    pub fn with_chunk_bytes(mut self, bytes: u32) -> Result<Self, StreamError> {
        if !Self::CHUNK_LIMITS.contains(&bytes) {
            return Err(StreamError::Header("the chunk size is out of range"));
        }
        self.chunk_bytes = bytes;
        Ok(self)
    }

    /// Returns the cipher of the stream.
    #[must_use]
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Returns how many bytes of data every chunk but the last has.
    #[must_use]
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes as usize
    }

    /// Returns the length of a tag in bytes, which a sealed chunk has in addition to its data.
    #[must_use]
    pub fn tag_bytes(&self) -> usize {
        self.cipher.block_bytes()
    }

    /// Returns the length of every sealed chunk but the last.
    #[must_use]
    pub fn sealed_chunk_bytes(&self) -> usize {
        self.chunk_bytes() + self.tag_bytes()
    }

    /// Returns the header as it is written in the stream.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = VERSION;
        bytes[9] = match self.cipher {
            Cipher::Kuznyechik => 1,
            Cipher::Magma => 2,
        };
        bytes[12..16].copy_from_slice(&self.chunk_bytes.to_be_bytes());
        bytes[16..].copy_from_slice(&self.salt);
        bytes
    }

    /// Reads the header at the front of a stream, from as many of its first [`BYTES`](Self::BYTES) as exist.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and [`StreamError::HeaderEnds`].
    pub fn read(front: &[u8]) -> Result<Self, StreamError> {
        match front.try_into() {
            Ok(bytes) => Self::parse(bytes),
            Err(_) if MAGIC.starts_with(front) || front.starts_with(&MAGIC) => {
                Err(StreamError::HeaderEnds { bytes: front.len() })
            }
            Err(_) => Err(StreamError::NotSealed),
        }
    }

    /// Parses a header. Whether it is genuine shows with the first chunk.
    ///
    /// # Errors
    /// [`StreamError::NotSealed`], [`StreamError::Version`], [`StreamError::Header`].
    pub fn parse(bytes: &[u8; Self::BYTES]) -> Result<Self, StreamError> {
        if bytes[..8] != MAGIC {
            return Err(StreamError::NotSealed);
        }
        if bytes[8] != VERSION {
            return Err(StreamError::Version(bytes[8]));
        }
        let cipher = match bytes[9] {
            1 => Cipher::Kuznyechik,
            2 => Cipher::Magma,
            _ => return Err(StreamError::Header("the cipher is unknown")),
        };
        if bytes[10..12] != [0, 0] {
            return Err(StreamError::Header("reserved bytes are not zero"));
        }
        let (mut chunk_bytes, mut salt) = ([0; 4], [0; Self::SALT_BYTES]);
        chunk_bytes.copy_from_slice(&bytes[12..16]);
        salt.copy_from_slice(&bytes[16..]);
        Self::new(cipher, salt).with_chunk_bytes(u32::from_be_bytes(chunk_bytes))
    }
}
