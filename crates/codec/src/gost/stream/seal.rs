//! Seals the chunks of a stream in order.

use zeroize::Zeroize;

use super::{ChunkKind, Chunks, Header, StreamError};
use crate::gost::Key;
use crate::{Codec, Fault, Tier};

/// Seals a stream: data in, header and chunks out.
pub struct Seal {
    chunks: Chunks,
    next: u64,
    /// The data of the next chunk. A whole chunk waits for the byte that shows that it is not the last.
    pending: Vec<u8>,
    has_header: bool,
}

impl Seal {
    /// Starts a stream under `key` that begins with `header`.
    #[must_use]
    pub fn new(key: &Key, header: &Header, tier: Tier) -> Self {
        let pending = Vec::with_capacity(header.chunk_bytes());
        Self { chunks: Chunks::new(key, header, tier), next: 0, pending, has_header: false }
    }

    fn header(&mut self, output: &mut [u8]) -> usize {
        if self.has_header {
            return 0;
        }
        self.has_header = true;
        output[..Header::BYTES].copy_from_slice(&self.chunks.header().to_bytes());
        Header::BYTES
    }

    /// Seals what is pending.
    fn chunk(&mut self, kind: ChunkKind, output: &mut [u8]) -> Result<usize, StreamError> {
        let bytes = self.chunks.seal(self.next, kind, &self.pending, output)?;
        self.next += 1;
        self.pending.clear();
        Ok(bytes)
    }
}

impl Codec for Seal {
    type Error = StreamError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        let header = self.chunks.header();
        let data = self.pending.len() + input_bytes;
        Header::BYTES + data + (data / header.chunk_bytes() + 1) * header.tag_bytes()
    }

    fn push(&mut self, mut input: &[u8], output: &mut [u8]) -> Result<usize, Fault<StreamError>> {
        let mut written = self.header(output);
        let chunk_bytes = self.chunks.header().chunk_bytes();
        while !input.is_empty() {
            if self.pending.len() == chunk_bytes {
                written += self
                    .chunk(ChunkKind::Middle, &mut output[written..])
                    .map_err(|error| Fault { written, error })?;
            }
            let (piece, rest) = input.split_at(input.len().min(chunk_bytes - self.pending.len()));
            self.pending.extend_from_slice(piece);
            input = rest;
        }
        Ok(written)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<StreamError>> {
        let written = self.header(output);
        let chunk = self.chunk(ChunkKind::Last, &mut output[written..]);
        chunk.map(|bytes| written + bytes).map_err(|error| Fault { written, error })
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        self.pending.zeroize();
    }
}
