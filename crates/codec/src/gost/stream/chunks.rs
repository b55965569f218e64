//! The chunks of a sealed stream, each by itself.

use super::{Header, StreamError};
use crate::Tier;
use crate::gost::modes::Mgm;
use crate::gost::{Cipher, Key, Kuznyechik, Magma, ModeError, kdf};

/// Where in the stream a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Others follow.
    Middle,
    /// None follows.
    Last,
}

/// The keys and the nonces of a stream: seals and opens its chunks, in any order and on any number of threads.
pub struct Chunks {
    header: Header,
    header_bytes: [u8; Header::BYTES],
    key: Key,
    tier: Tier,
}

impl Chunks {
    /// The stream of `header` under the user's key.
    #[must_use]
    pub fn new(key: &Key, header: &Header, tier: Tier) -> Self {
        let header_bytes = header.to_bytes();
        let key = kdf::derive(key, b"fullbore sealed stream 1", &header_bytes);
        Self { header: header.clone(), header_bytes, key, tier }
    }

    /// The header of the stream.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many chunks a stream may have: 2³² of Kuznyechik, 2¹² of Magma. See docs/gost.md.
    #[must_use]
    pub fn limit(&self) -> u64 {
        match self.header.cipher() {
            Cipher::Kuznyechik => 1 << 32,
            Cipher::Magma => 1 << 12,
        }
    }

    /// Seals chunk `index` in place. `buffer` is its data and room for the tag, [`Header::tag_bytes`], after it.
    ///
    /// A chunk must be sealed once only: two chunks of one index betray both.
    ///
    /// # Errors
    /// [`StreamError::TooLong`] beyond the [`limit`](Self::limit).
    ///
    /// # Panics
    /// When the buffer is longer than a sealed chunk, shorter than one that is not the last, or has no room for a tag.
    pub fn seal_in_place(
        &self,
        index: u64,
        place: Place,
        buffer: &mut [u8],
    ) -> Result<(), StreamError> {
        self.check_index(index)?;
        let whole = self.header.sealed_chunk_bytes();
        assert!(
            buffer.len() == whole || buffer.len() < whole && place == Place::Last,
            "a chunk of {} bytes where one of {whole} belongs",
            buffer.len()
        );
        let (data, tag) = buffer.split_at_mut(buffer.len() - self.header.tag_bytes());
        let (key, nonce) = (self.chunk_key(index), self.nonce(index, place));
        let sealed = match self.header.cipher() {
            Cipher::Kuznyechik => {
                Mgm::<Kuznyechik>::new(&key, self.tier).seal(&nonce, &self.header_bytes, data, tag)
            }
            Cipher::Magma => {
                Mgm::<Magma>::new(&key, self.tier).seal(&nonce[8..], &self.header_bytes, data, tag)
            }
        };
        match sealed {
            Ok(()) => Ok(()),
            Err(error) => unreachable!("nonce and lengths are right by construction: {error}"),
        }
    }

    /// Opens chunk `index` in place and returns how many bytes of data the front of the buffer now has.
    ///
    /// # Errors
    /// [`StreamError::Authentication`] when it is not chunk `index` of this stream, or not at this `place`; the
    /// buffer then holds no data, only zeros. [`StreamError::TooLong`] beyond the [`limit`](Self::limit).
    pub fn open_in_place(
        &self,
        index: u64,
        place: Place,
        buffer: &mut [u8],
    ) -> Result<usize, StreamError> {
        self.check_index(index)?;
        let opened = self.open(index, place, buffer);
        opened.map_err(|_| {
            buffer.fill(0);
            self.authentication_error(index)
        })
    }

    fn open(&self, index: u64, place: Place, buffer: &mut [u8]) -> Result<usize, ModeError> {
        let whole = self.header.sealed_chunk_bytes();
        let is_possible = match place {
            Place::Middle => buffer.len() == whole,
            // Only an empty stream has an empty chunk.
            Place::Last => {
                let least = self.header.tag_bytes() + usize::from(index > 0);
                (least..=whole).contains(&buffer.len())
            }
        };
        if !is_possible {
            return Err(ModeError::Authentication);
        }
        let (data, tag) = buffer.split_at_mut(buffer.len() - self.header.tag_bytes());
        let (key, nonce) = (self.chunk_key(index), self.nonce(index, place));
        match self.header.cipher() {
            Cipher::Kuznyechik => {
                Mgm::<Kuznyechik>::new(&key, self.tier).open(&nonce, &self.header_bytes, data, tag)
            }
            Cipher::Magma => {
                Mgm::<Magma>::new(&key, self.tier).open(&nonce[8..], &self.header_bytes, data, tag)
            }
        }?;
        Ok(data.len())
    }

    /// The error of a chunk that does not open.
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

    /// For blocks of 128 bits all of it, for blocks of 64 bits the second half: a byte that is 1 in the last chunk,
    /// and the index. The first bit is zero, as MGM wants it.
    fn nonce(&self, index: u64, place: Place) -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[8..].copy_from_slice(&index.to_be_bytes());
        let flag = 16 - self.header.cipher().block_bytes();
        nonce[flag] = u8::from(place == Place::Last);
        nonce
    }
}
