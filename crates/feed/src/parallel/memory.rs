//! Memory in which a worker generates its output.

use std::io;
use std::os::fd::AsFd;

use fullbore_pipe::{Block, OutputError, PipeWriter, Scratch};

/// Output below this size is copied: lending a block keeps a huge page busy until the pipe's reader is done with it.
const LENT_BYTES: usize = 128 << 10;

/// Memory for the output of a piece.
pub(super) enum Memory {
    /// Memory for the first piece, which may be small and the last. It lies on small pages, which Linux allocates as
    /// they are touched.
    First(Scratch),
    /// A block that the writer may keep and replace by another; `None` after the writer failed.
    Block(Option<Block>),
}

impl Memory {
    /// Allocates `len` bytes for the first piece.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn first(len: usize) -> io::Result<Self> {
        Scratch::try_new(len).map(Self::First)
    }

    /// Allocates a block of `len` bytes.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn new(len: usize) -> io::Result<Self> {
        Block::new(len).map(|block| Self::Block(Some(block)))
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
            Self::Block(slot) if bytes >= LENT_BYTES => {
                if let Some(block) = slot.take() {
                    *slot = Some(writer.exchange(block, bytes)?);
                }
                Ok(())
            }
            memory => writer.put(&memory.bytes()[..bytes]),
        }
    }
}
