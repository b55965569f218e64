//! Writes blocks that the caller filled.

use std::os::fd::AsFd;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use super::{Block, Cursor, FIRST_RING_BYTES, Memory, OutputError, PipeWriter, SMALL_BYTES};
use crate::transfer::wait_until;

impl<F: AsFd> PipeWriter<F> {
    /// Writes the first `count` bytes of a block after everything that was committed, and returns a block of the same
    /// size to fill next. Where pages are lent, nothing is copied: the pipe gets the block's pages, and the returned
    /// block is other memory, or the same once nobody can see it change.
    ///
    /// # Errors
    /// As [`flush`](std::io::Write::flush); also when there is no memory for the other block.
    ///
    /// # Panics
    /// When the block has fewer than `count` bytes.
    pub fn exchange(&mut self, mut block: Block, count: usize) -> Result<Block, OutputError> {
        assert!(count <= block.bytes().len(), "{count} bytes of a smaller block");
        if self.may_rise_now() || !self.cursor.pending().is_empty() {
            self.flush_all()?;
        }
        self.spare_ring();
        let strategy = self.strategy();
        let mut sent = 0;
        if count >= SMALL_BYTES && matches!(self.memory, Memory::Lent(_)) {
            sent = self.lend(&mut block, count)?;
        }
        if sent == 0 {
            self.put(&block.bytes()[..count])?;
            return Ok(block);
        }
        // Copy the rest if Linux refused to lend part of it.
        self.put(&block.bytes()[sent..count])?;
        let next = self.blocks.next(block, count, self.sizes.ring, strategy);
        next.map_err(|error| OutputError::new(&self.out, self.written, error))
    }

    /// Frees the ring's memory once blocks take its place; small blocks still go through the ring, in new memory.
    fn spare_ring(&mut self) {
        if self.has_blocks {
            return;
        }
        if let Memory::Lent(ring) = &mut self.memory
            && self.cursor.pending().is_empty()
            && ring.replace(FIRST_RING_BYTES).is_ok()
        {
            self.cursor = Cursor::new(ring.len());
            self.has_blocks = true;
        }
    }

    /// Lends the front of a block and returns how much of it went: everything, unless Linux refuses.
    fn lend(&mut self, block: &mut Block, count: usize) -> Result<usize, OutputError> {
        let front = block.front(count);
        let Some(pages) = block.pages() else { return Ok(0) };
        let mut sent = 0;
        while sent < count {
            // SAFETY: the block goes to `blocks`, which gives these bytes out again only after sharing all pages, or
            // unmaps them; or it is dropped.
            match unsafe {
                pages.lend(self.out.as_fd(), front.start + sent..front.end, SpliceFlags::empty())
            } {
                Ok(gone) => {
                    sent += gone;
                    self.written += gone as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    wait_until(&self.out, PollFlags::OUT).map_err(|e| self.error(e))?;
                }
                Err(errno) => {
                    self.fall_back(errno)?;
                    break;
                }
            }
        }
        Ok(sent)
    }
}
