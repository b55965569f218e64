//! Cuts an input into chunks.

use super::Chunk;
use crate::{Input, InputError};

/// Bytes that are read beyond a chunk to see whether it is the last. A page, so that the next chunk goes on at a whole
/// page of a file, in a whole page of memory.
const BEYOND_BYTES: usize = 4096;

/// An input, and what was read of its next chunk.
pub(super) struct Source {
    input: Input,
    chunk_bytes: usize,
    next: u64,
    beyond: Vec<u8>,
    is_over: bool,
}

impl Source {
    pub(super) fn new(input: Input, chunk_bytes: usize) -> Self {
        Self { input, chunk_bytes, next: 0, beyond: Vec::new(), is_over: false }
    }

    /// The number of the next chunk.
    pub(super) fn next_index(&self) -> u64 {
        self.next
    }

    /// Bytes taken from the input so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.input.bytes_read()
    }

    /// Fills the front of `buffer` with the next chunk, and counts it; `None` after the last.
    pub(super) fn next(&mut self, buffer: &mut [u8]) -> Result<Option<Chunk>, InputError> {
        if self.is_over {
            return Ok(None);
        }
        let chunk = self.fill(&mut buffer[..self.chunk_bytes]);
        // Nothing comes after an error.
        self.is_over = chunk.as_ref().map_or(true, |chunk| chunk.is_last);
        self.next += 1;
        chunk.map(Some)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<Chunk, InputError> {
        let mut bytes = self.beyond.len();
        buffer[..bytes].copy_from_slice(&self.beyond);
        self.beyond.clear();
        bytes += self.input.read_all(&mut buffer[bytes..])?;
        let mut is_last = bytes < buffer.len();
        if !is_last {
            self.beyond.resize(BEYOND_BYTES.min(self.chunk_bytes), 0);
            let count = self.input.read(&mut self.beyond)?;
            self.beyond.truncate(count);
            is_last = count == 0;
        }
        Ok(Chunk { index: self.next, bytes, is_last })
    }
}
