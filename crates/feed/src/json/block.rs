//! Pieces of the inputs.

use std::sync::Arc;

use fullbore_codec::Place;
use fullbore_pipe::Scratch;

use super::options::BLOCK_BYTES;
use crate::{Input, InputError};

/// Where bytes come from.
#[derive(Debug)]
pub(super) struct Origin {
    /// The name for messages.
    pub(super) name: String,
    /// The input and the offset at which its stream begins, if it is a regular file, which several threads can read.
    pub(super) file: Option<(Input, u64)>,
}

impl Origin {
    /// Returns the place of byte `offset` of the stream, by reading a file once more; `None` if it is none or cannot be read.
    pub(super) fn place(&self, offset: u64) -> Option<Place> {
        let (file, begin) = self.file.as_ref()?;
        let mut memory = vec![0; BLOCK_BYTES];
        let mut place = Place::default();
        while place.offset < offset {
            let left = usize::try_from(offset - place.offset).unwrap_or(usize::MAX);
            let room = left.min(memory.len());
            match file.read_at(&mut memory[..room], begin + place.offset) {
                Ok(0) | Err(_) => return None,
                Ok(count) => place = place.after(&memory[..count]),
            }
        }
        Some(place)
    }
}

/// A piece of an input.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) memory: Scratch,
    pub(super) len: usize,
    /// Where it begins in its input, in bytes.
    pub(super) offset: u64,
    /// Where it comes from.
    pub(super) origin: Option<Arc<Origin>>,
    /// Whether the input ends with it.
    pub(super) is_last: bool,
    /// Whether it ends with a line, so that the next block probably begins with a record.
    pub(super) ends_line: bool,
    /// Whether `len` bytes are still to be read from a file.
    pub(super) is_planned: bool,
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    /// Reads what was planned under a lock, without the lock. A file that became shorter meanwhile makes a shorter block.
    pub(super) fn fill(&mut self) -> Result<(), InputError> {
        let Some((file, begin)) = self.origin.as_ref().and_then(|origin| origin.file.as_ref())
        else {
            return Ok(());
        };
        if !std::mem::take(&mut self.is_planned) {
            return Ok(());
        }
        let mut at = 0;
        while at < self.len {
            let offset = begin + self.offset + at as u64;
            match file.read_at(&mut self.memory[at..self.len], offset)? {
                0 => break,
                count => at += count,
            }
        }
        self.ends_line &= at == self.len;
        self.len = at;
        Ok(())
    }

    /// Makes room for this many bytes; what was in the block is lost.
    pub(super) fn make_room(&mut self, bytes: usize) -> std::io::Result<()> {
        if self.memory.len() < bytes {
            self.memory = Scratch::default();
            self.memory = Scratch::try_new(bytes)?;
        }
        Ok(())
    }
}
