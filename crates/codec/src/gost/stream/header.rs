//! The header of a sealed stream.

use super::StreamError;
use crate::gost::Cipher;

const MAGIC: [u8; 8] = *b"fullbore";
const VERSION: u8 = 1;

/// What a stream says of itself before its first chunk: public, and authenticated with every chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    cipher: Cipher,
    chunk_bytes: u32,
    salt: [u8; Self::SALT_BYTES],
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = 48;
    /// Bytes of a salt.
    pub const SALT_BYTES: usize = 32;
    /// Bytes of data in a chunk that is not the last.
    pub const CHUNK_BYTES: usize = 1 << 20;

    /// The least and the greatest chunk that an opener takes: it holds one in memory before it knows who wrote it.
    const CHUNK_LIMITS: std::ops::RangeInclusive<u32> = 64..=16 << 20;

    /// The header of a new stream. The salt must be random: two streams of one key with one salt betray both.
    #[must_use]
    pub fn new(cipher: Cipher, salt: [u8; Self::SALT_BYTES]) -> Self {
        Self { cipher, chunk_bytes: 1 << 20, salt }
    }

    /// The same with other chunks: from 64 bytes to 16 MiB of data.
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

    /// The cipher of the stream.
    #[must_use]
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Bytes of data in a chunk that is not the last.
    #[must_use]
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes as usize
    }

    /// Bytes of a tag, which a sealed chunk is longer by.
    #[must_use]
    pub fn tag_bytes(&self) -> usize {
        self.cipher.block_bytes()
    }

    /// Bytes of a sealed chunk that is not the last.
    #[must_use]
    pub fn sealed_chunk_bytes(&self) -> usize {
        self.chunk_bytes() + self.tag_bytes()
    }

    /// The header as it stands in the stream.
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

    /// The header at the front of a stream, from all that there is of its first [`BYTES`](Self::BYTES).
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

    /// The header that these bytes are. Whether it is genuine shows with the first chunk.
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
