//! Seals and opens single chunks of a sealed stream.

use super::{Header, StreamError};
use crate::Tier;
use crate::gost::modes::Mgm;
use crate::gost::{Cipher, Key, Kuznyechik, Magma, ModeError, kdf};

/// Whether a chunk is the last of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// Other chunks follow.
    Middle,
    /// No chunk follows.
    Last,
}

/// The keys and nonces of a stream: seals and opens its chunks, in any order and on any number of threads.
pub struct Chunks {
    header: Header,
    header_bytes: [u8; Header::BYTES],
    key: Key,
    tier: Tier,
}

impl Chunks {
    /// Sets up the stream of `header` under the user's key.
    #[must_use]
    pub fn new(key: &Key, header: &Header, tier: Tier) -> Self {
        let header_bytes = header.to_bytes();
        let key = kdf::derive(key, b"fullbore sealed stream 1", &header_bytes);
        Self { header: header.clone(), header_bytes, key, tier }
    }

    /// Returns the header of the stream.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns how many chunks a stream may have: 2³² of Kuznyechik, 2¹² of Magma. See docs/gost.md.
    #[must_use]
    pub fn limit(&self) -> u64 {
        match self.header.cipher() {
            Cipher::Kuznyechik => 1 << 32,
            Cipher::Magma => 1 << 12,
        }
    }

    /// Seals chunk `index`: writes its ciphertext and the tag to the front of `sealed`, and returns how many bytes that
    /// are, [`Header::tag_bytes`] more than the data.
    ///
    /// Seal a chunk only once: two chunks of one index expose both.
    ///
    /// # Errors
    /// [`StreamError::TooLong`] beyond the [`limit`](Self::limit).
    ///
    /// # Panics
    /// When there is more data than a chunk holds, or less and it is not the last; when `sealed` is too short.
    pub fn seal(
        &self,
        index: u64,
        kind: ChunkKind,
        data: &[u8],
        sealed: &mut [u8],
    ) -> Result<usize, StreamError> {
        self.check_index(index)?;
        let whole = self.header.chunk_bytes();
        assert!(
            data.len() == whole || data.len() < whole && kind == ChunkKind::Last,
            "a chunk of {} bytes where one of {whole} belongs",
            data.len()
        );
        let (sealed, rest) = sealed.split_at_mut(data.len());
        let tag = &mut rest[..self.header.tag_bytes()];
        let (key, nonce, header) =
            (self.chunk_key(index), self.nonce(index, kind), &self.header_bytes);
        let done = match self.header.cipher() {
            Cipher::Kuznyechik => {
                Mgm::<Kuznyechik>::new(&key, self.tier).seal_to(&nonce, header, data, sealed, tag)
            }
            Cipher::Magma => {
                Mgm::<Magma>::new(&key, self.tier).seal_to(&nonce[8..], header, data, sealed, tag)
            }
        };
        match done {
            Ok(()) => Ok(sealed.len() + tag.len()),
            Err(error) => unreachable!("nonce and lengths are right by construction: {error}"),
        }
    }

    /// Opens chunk `index`: writes its data to the front of `data`, and returns how many bytes that are.
    ///
    /// # Errors
    /// [`StreamError::Authentication`] when it is not chunk `index` of this stream, or not of this `kind`; nothing is
    /// written then. [`StreamError::TooLong`] beyond the [`limit`](Self::limit).
    ///
    /// # Panics
    /// When `data` is shorter than the sealed chunk without its tag.
    pub fn open(
        &self,
        index: u64,
        kind: ChunkKind,
        sealed: &[u8],
        data: &mut [u8],
    ) -> Result<usize, StreamError> {
        self.check_index(index)?;
        self.open_or_not(index, kind, sealed, data).map_err(|_| self.authentication_error(index))
    }

    fn open_or_not(
        &self,
        index: u64,
        kind: ChunkKind,
        sealed: &[u8],
        data: &mut [u8],
    ) -> Result<usize, ModeError> {
        let whole = self.header.sealed_chunk_bytes();
        let is_possible = match kind {
            ChunkKind::Middle => sealed.len() == whole,
            // Only an empty stream has an empty chunk.
            ChunkKind::Last => {
                let least = self.header.tag_bytes() + usize::from(index > 0);
                (least..=whole).contains(&sealed.len())
            }
        };
        if !is_possible {
            return Err(ModeError::Authentication);
        }
        let (sealed, tag) = sealed.split_at(sealed.len() - self.header.tag_bytes());
        let data = &mut data[..sealed.len()];
        let (key, nonce, header) =
            (self.chunk_key(index), self.nonce(index, kind), &self.header_bytes);
        match self.header.cipher() {
            Cipher::Kuznyechik => {
                Mgm::<Kuznyechik>::new(&key, self.tier).open_to(&nonce, header, sealed, data, tag)
            }
            Cipher::Magma => {
                Mgm::<Magma>::new(&key, self.tier).open_to(&nonce[8..], header, sealed, data, tag)
            }
        }?;
        Ok(data.len())
    }

    /// Returns the error for a chunk that does not open.
    pub(super) fn authentication_error(&self, index: u64) -> StreamError {
        let offset = Header::BYTES as u64 + index * self.header.sealed_chunk_bytes() as u64;
        StreamError::Authentication { chunk: index, offset }
    }

    fn check_index(&self, index: u64) -> Result<(), StreamError> {
        if index < self.limit() {
            return Ok(());
        }
        Err(StreamError::TooLong { cipher: self.header.cipher(), chunks: self.limit() })
    }

    fn chunk_key(&self, index: u64) -> Key {
        kdf::derive(&self.key, b"fullbore sealed chunk 1", &index.to_be_bytes())
    }

    /// Returns the nonce: all of it for blocks of 128 bits, the second half for blocks of 64 bits. It has a byte that
    /// is 1 in the last chunk, and the index. The first bit is zero, as MGM requires.
    fn nonce(&self, index: u64, kind: ChunkKind) -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[8..].copy_from_slice(&index.to_be_bytes());
        let flag = 16 - self.header.cipher().block_bytes();
        nonce[flag] = u8::from(kind == ChunkKind::Last);
        nonce
    }
}
