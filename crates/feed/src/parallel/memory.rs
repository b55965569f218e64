//! Where a worker makes its output.

use std::os::fd::AsFd;

use fullbore_pipe::{Block, OutputError, PipeWriter};

/// Less than this is copied: a block that is lent takes a huge page out of use until the pipe is through with it.
const LENT_BYTES: usize = 128 << 10;

/// Memory for the output of a piece.
pub(super) enum Memory {
    /// For the first piece, which may be small and the last. On small pages: they are taken as they are touched.
    First(Vec<u8>),
    /// A block that the writer may keep, and give another for; `None` after it failed.
    Block(Option<Block>),
}

impl Memory {
    /// A block of `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        Self::Block(Some(Block::new(len)))
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::First(bytes) => bytes,
            Self::Block(block) => block.as_mut().map_or(&mut [], Block::bytes),
        }
    }

    pub(super) fn write<F: AsFd>(
        &mut self,
        bytes: usize,
        writer: &mut PipeWriter<F>,
    ) -> Result<(), OutputError> {
        match self {
            Self::Block(place) if bytes >= LENT_BYTES => {
                if let Some(block) = place.take() {
                    *place = Some(writer.exchange(block, bytes)?);
                }
                Ok(())
            }
            memory => writer.put(&memory.bytes()[..bytes]),
        }
    }
}
