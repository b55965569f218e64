//! Memory for experiments, which may be lent to a pipe and written over all the same.

use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::pages::{HUGE_BYTES, PAGE_BYTES, PageSize, Pages, Wait};

/// Memory on pages of a chosen size, zero at first, that can be lent to a pipe *without a promise* that the bytes stay
/// as they are. For experiments that compare ways to write a pipe; a stage uses [`PipeWriter`](crate::PipeWriter),
/// which makes that promise.
///
/// It is as safe as any memory: writing over pages that a pipe holds changes what its readers get, and nothing else.
/// Linux keeps such pages in memory as long as anyone holds them, also when this value is gone; it only reads them, so
/// nothing that was borrowed from [`bytes`](Self::bytes) ever changes; and since they never go back to an allocator, what
/// a late reader gets are bytes that were written here.
///
/// ```
/// use std::io::Read;
/// use fullbore_pipe::{PageSize, TrialPages, Wait};
/// let (mut reader, pipe) = std::io::pipe()?;
/// let mut pages = TrialPages::map(4096, PageSize::Base)?;
/// pages.bytes_mut().fill(b'a');
/// pages.lend_without_promise(&pipe, 0..4096, Wait::ForRoom)?;
/// pages.bytes_mut().fill(b'b');
/// drop((pages, pipe));
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "b".repeat(4096)); // not what was lent
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrialPages {
    pages: Pages,
    len: usize,
}

impl TrialPages {
    /// Maps `len` bytes that begin at a multiple of 2 MiB, and touches every page.
    ///
    /// # Errors
    /// ENOMEM: memory is short. That there are no huge pages is no error.
    ///
    /// Source: mmap(2), madvise(2).
    pub fn map(len: usize, size: PageSize) -> io::Result<Self> {
        let mapped = len.max(1).checked_next_multiple_of(HUGE_BYTES).ok_or(Errno::NOMEM)?;
        let mut pages = Pages::map_counted(mapped, size)?;
        for page in pages.bytes(0..len).chunks_mut(PAGE_BYTES) {
            page[0] = 0;
        }
        Ok(Self { pages, len })
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.pages.look(0..self.len)
    }

    /// All bytes, to be written to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.pages.bytes(0..self.len)
    }

    /// Puts the pages of `range` into a pipe without copying them; returns how many bytes went, which may be fewer. What
    /// readers get is what the bytes are when they look, not what they are now.
    ///
    /// # Errors
    /// What vmsplice(2) says: EAGAIN with [`Wait::Never`] or for a signal EINTR, EBADF when this is no pipe, EPERM or
    /// ENOSYS where a filter forbids the call.
    ///
    /// # Panics
    /// When the range is not within the bytes.
    ///
    /// Source: vmsplice(2).
    pub fn lend_without_promise(
        &self,
        pipe: impl AsFd,
        range: Range<usize>,
        wait: Wait,
    ) -> Result<usize, Errno> {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        self.pages.lend_without_promise(pipe.as_fd(), range, wait)
    }
}
