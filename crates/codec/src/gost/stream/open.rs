//! Opens the chunks of a stream in order.

use zeroize::Zeroize;

use super::{ChunkKind, Chunks, Header, StreamError};
use crate::gost::Key;
use crate::{Codec, Fault, Tier};

/// Opens a stream: header and chunks in, data out. It releases no byte before its chunk proves genuine; only
/// [`finish`](Codec::finish) can tell that the stream was not truncated.
pub struct Open {
    key: Key,
    tier: Tier,
    /// Set after the header.
    chunks: Option<Chunks>,
    next: u64,
    /// The header, or the next chunk. A whole chunk waits for the byte that shows that it is not the last.
    pending: Vec<u8>,
    failed: Option<StreamError>,
}

impl Open {
    /// Opens a stream that was sealed under `key`.
    #[must_use]
    pub fn new(key: &Key, tier: Tier) -> Self {
        let key = key.clone();
        Self { key, tier, chunks: None, next: 0, pending: Vec::new(), failed: None }
    }

    /// Returns how many bytes `pending` collects before it is processed.
    fn wanted_bytes(&self) -> usize {
        self.chunks.as_ref().map_or(Header::BYTES, |chunks| chunks.header().sealed_chunk_bytes())
    }

    fn header(&mut self) -> Result<(), StreamError> {
        let header = Header::read(&self.pending)?;
        self.chunks = Some(Chunks::new(&self.key, &header, self.tier));
        self.pending.clear();
        Ok(())
    }

    /// Opens what is pending, after the header.
    fn chunk(&mut self, kind: ChunkKind, output: &mut [u8]) -> Result<usize, StreamError> {
        if self.chunks.is_none() {
            self.header()?;
        }
        let Some(chunks) = &self.chunks else { return Ok(0) };
        let bytes = chunks.open(self.next, kind, &self.pending, output)?;
        self.next += 1;
        self.pending.clear();
        Ok(bytes)
    }

    fn take(&mut self, mut input: &[u8], output: &mut [u8]) -> Result<usize, Fault<StreamError>> {
        let mut written = 0;
        while !input.is_empty() {
            if self.chunks.is_some() && self.pending.len() == self.wanted_bytes() {
                written += self
                    .chunk(ChunkKind::Middle, &mut output[written..])
                    .map_err(|error| Fault { written, error })?;
            }
            let room = self.wanted_bytes() - self.pending.len();
            let (piece, rest) = input.split_at(input.len().min(room));
            self.pending.extend_from_slice(piece);
            input = rest;
            if self.chunks.is_none() && self.pending.len() == Header::BYTES {
                self.header().map_err(|error| Fault { written, error })?;
            }
        }
        Ok(written)
    }

    /// Keeps a stream that has failed from continuing.
    fn guarded(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<usize, Fault<StreamError>>,
    ) -> Result<usize, Fault<StreamError>> {
        if let Some(error) = self.failed.clone() {
            return Err(Fault { written: 0, error });
        }
        step(self).inspect_err(|fault| self.failed = Some(fault.error.clone()))
    }
}

impl Codec for Open {
    type Error = StreamError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        self.pending.len() + input_bytes
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<StreamError>> {
        self.guarded(|open| open.take(input, output))
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<StreamError>> {
        self.guarded(|open| {
            open.chunk(ChunkKind::Last, output).map_err(|error| Fault { written: 0, error })
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.pending.zeroize();
    }
}
