#![expect(unsafe_code, reason = "rustix maps and lends memory only through raw pointers")]
//! Memory for experiments, which may be lent to a pipe and overwritten all the same.

use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

/// Size of a huge page with 4 KiB base pages on x86-64 and aarch64.
const HUGE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;

/// Size of the pages that memory lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Always pages of 4 KiB.
    Base,
    /// Pages of 2 MiB where Linux has them (`/sys/kernel/mm/transparent_hugepage/enabled`), otherwise of 4 KiB.
    Huge,
}

/// What to do when a pipe is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait until there is room. The call still fails with EAGAIN where the pipe itself is non-blocking.
    ForRoom,
    /// Fail with EAGAIN.
    Never,
}

/// Memory on pages of a chosen size, zero at first, that can be lent to a pipe *without a promise* that the bytes stay
/// the same. It serves experiments that compare ways to write a pipe; a stage uses
/// [`PipeWriter`](fullbore_pipe::PipeWriter), which makes that promise.
///
/// Overwriting pages that a pipe holds changes only what its readers get, so lending is safe:
///
/// - Linux holds a reference to every page it puts into a pipe. Pages in a pipe, or passed on from it by splice(2) or
///   tee(2), stay in memory after the mapping is gone, and no one else gets them.
/// - Only this value writes to the pages. A pipe and everything after it only reads them. Linux never appends to a
///   user's page in a pipe, and gives such a page away (to a file's page cache, where others could write to it) only
///   after `SPLICE_F_GIFT`, which this code never passes. So a reference to the bytes sees what Rust wrote.
/// - Linux reads whole bytes, which have been initialized since they were mapped, and hands readers copies. It may do
///   so while [`bytes_mut`](Self::bytes_mut) lends them out, but the language does not see that: no reader is a
///   reference, in this process or another. The compiler may delay or drop stores that only such a reader would see.
///   Then the bytes are wrong, and nothing worse happens.
/// - The memory never goes back to an allocator, so a late reader sees bytes of this value, not of another.
///
/// ```
/// use std::io::Read;
/// use fullbore_apparatus::{PageSize, TrialPages, Wait};
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
    base: NonNull<u8>,
    /// Usable length in bytes; the mapping extends to the next multiple of [`HUGE_BYTES`].
    len: usize,
}

// SAFETY: this value alone owns the memory, as a Box<[u8]> does.
unsafe impl Send for TrialPages {}

impl TrialPages {
    /// Maps `len` bytes from a multiple of 2 MiB, and touches every page. Linux then counts the memory at once, so a
    /// size that does not fit fails here.
    ///
    /// # Errors
    /// ENOMEM: memory is short. A lack of huge pages is no error.
    ///
    /// Source: mmap(2), madvise(2) `MADV_HUGEPAGE`, `MADV_NOHUGEPAGE`.
    pub fn map(len: usize, size: PageSize) -> io::Result<Self> {
        let mapped = mapped_bytes(len)?;
        // Map enough that the range can start at a multiple.
        let whole = mapped.checked_add(HUGE_BYTES).ok_or(Errno::NOMEM)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address Linux chooses changes no memory in use.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), whole, access, MapFlags::PRIVATE) }?;
        let start = start.cast::<u8>();
        let before = start.align_offset(HUGE_BYTES);
        let base = start.wrapping_add(before);
        unmap(start, before);
        unmap(base.wrapping_add(mapped), whole - before - mapped);
        let advice = match size {
            PageSize::Huge => Advice::LinuxHugepage,
            PageSize::Base => Advice::LinuxNoHugepage,
        };
        // SAFETY: the range is the mapping made above; the advice changes no contents. Linux refuses it without
        // CONFIG_TRANSPARENT_HUGEPAGE; the pages are then small.
        let _ = unsafe { madvise(base.cast(), mapped, advice) };
        let mut pages = Self { base: NonNull::new(base).ok_or(Errno::NOMEM)?, len };
        for page in pages.bytes_mut().chunks_mut(PAGE_BYTES) {
            page[0] = 0;
        }
        Ok(pages)
    }

    /// Returns all bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping has that many bytes, is readable and initialized (Linux maps zeros) and lives as long as
        // `self`. Only a mutable borrow of `self` writes to it: a pipe that holds its pages only reads them.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    /// Returns all bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, writable, and borrowed mutably with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }

    /// Puts the pages of `range` into a pipe without copying them, and returns how many bytes Linux took, which may be
    /// fewer. Readers get the bytes as they are when they read, not as they are now.
    ///
    /// # Errors
    /// Linux's error from vmsplice(2): EAGAIN with [`Wait::Never`], EINTR after a signal, EBADF when `pipe` is not a
    /// pipe, EPERM or ENOSYS where a filter forbids the call.
    ///
    /// # Panics
    /// When the range is not within the bytes.
    ///
    /// Source: vmsplice(2); `user_page_pipe_buf_ops` in Linux's fs/splice.c.
    pub fn lend_without_promise(
        &self,
        pipe: impl AsFd,
        range: Range<usize>,
        wait: Wait,
    ) -> Result<usize, Errno> {
        let slice = [IoSliceRaw::from_slice(&self.bytes()[range])];
        let flags = match wait {
            Wait::ForRoom => SpliceFlags::empty(),
            Wait::Never => SpliceFlags::NONBLOCK,
        };
        // SAFETY: the slice is valid and readable for the call. Afterwards Linux holds its own references to the pages
        // and only reads them (see the type).
        unsafe { vmsplice(pipe, &slice, flags) }
    }
}

/// Returns the length of the mapping for `len` bytes.
fn mapped_bytes(len: usize) -> Result<usize, Errno> {
    len.max(1).checked_next_multiple_of(HUGE_BYTES).ok_or(Errno::NOMEM)
}

impl Drop for TrialPages {
    fn drop(&mut self) {
        // Pages that a pipe holds live on until someone reads them.
        unmap(self.base.as_ptr(), mapped_bytes(self.len).unwrap_or(0));
    }
}

/// Unmaps a part of a mapping.
fn unmap(start: *mut u8, len: usize) {
    if len > 0 {
        // SAFETY: callers pass only ranges of their own mappings, to which nothing refers any more.
        let done = unsafe { munmap(start.cast(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}
