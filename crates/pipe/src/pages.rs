//! Memory whose pages go into a pipe without being copied, and the ways to get it back.
//!
//! The rule that everything here serves: a byte that was handed to a pipe must not change while anyone may
//! still hold its page. `docs/safety.md` draws it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Size of a huge page with 4 KiB base pages on x86-64 and aarch64.
pub(crate) const HUGE_BYTES: usize = 2 << 20;
/// Size of a base page where Linux runs fullbore; elsewhere vmsplice works the same, in larger units.
pub(crate) const PAGE_BYTES: usize = 4096;

/// What memory is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Pages of 4 KiB, never others.
    Base,
    /// Pages of 2 MiB, where Linux has them (`/sys/kernel/mm/transparent_hugepage/enabled`), or else of 4 KiB.
    Huge,
}

/// What happens when a pipe is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The call waits until there is room (and fails with EAGAIN where the pipe itself was made non-blocking).
    ForRoom,
    /// The call fails with EAGAIN.
    Never,
}

/// Anonymous memory of this process alone, on huge pages where Linux has them.
#[derive(Debug)]
pub(crate) struct Pages {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to this value alone, like that of a Box<[u8]>.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps `len` bytes (a multiple of 2 MiB), zero, aligned to a huge page.
    ///
    /// Source: mmap(2), madvise(2) MADV_HUGEPAGE.
    pub(crate) fn map(len: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        Self::map_with(len, flags, Advice::LinuxHugepage)
    }

    /// The same on pages of a size, of memory that Linux counts at once: what does not fit is refused here.
    ///
    /// Source: mmap(2) `MAP_NORESERVE`, madvise(2) `MADV_NOHUGEPAGE`.
    pub(crate) fn map_counted(len: usize, size: PageSize) -> io::Result<Self> {
        let advice = match size {
            PageSize::Huge => Advice::LinuxHugepage,
            PageSize::Base => Advice::LinuxNoHugepage,
        };
        Self::map_with(len, MapFlags::PRIVATE, advice)
    }

    fn map_with(len: usize, flags: MapFlags, advice: Advice) -> io::Result<Self> {
        assert!(len > 0 && len.is_multiple_of(HUGE_BYTES), "{len}");
        let whole = len + HUGE_BYTES;
        // SAFETY: a new mapping at an address of Linux's choice changes no memory in use.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), whole, ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        let before = start.cast::<u8>().align_offset(HUGE_BYTES);
        let base = start.cast::<u8>().wrapping_add(before);
        unmap(start.cast(), before);
        unmap(base.wrapping_add(len), whole - before - len);
        // SAFETY: the range is the mapping made above; the advice changes no contents.
        // Refused without CONFIG_TRANSPARENT_HUGEPAGE: then the pages are small, which the probe notices.
        let _ = unsafe { madvise(base.cast(), len, advice) };
        let base = NonNull::new(base).ok_or(Errno::NOMEM)?;
        Ok(Self { base, len })
    }

    /// Bytes mapped.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes in `range`, to be written to.
    pub(crate) fn bytes(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // SAFETY: the start lies within the mapping (checked above).
        let start = unsafe { self.base.as_ptr().add(range.start) };
        // SAFETY: the range lies within the mapping, which is readable, writable and initialized (Linux hands out
        // zeros), lives as long as `self`, and is borrowed mutably with it.
        unsafe { std::slice::from_raw_parts_mut(start, range.len()) }
    }

    /// The bytes in `range`, to be looked at.
    pub(crate) fn look(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // SAFETY: the start lies within the mapping (checked above).
        let start = unsafe { self.base.as_ptr().add(range.start) };
        // SAFETY: the range lies within the mapping, which is readable and initialized (Linux hands out zeros), lives
        // as long as `self`, and is written to only where `self` is borrowed mutably: a pipe that holds its pages
        // reads them only (see `lend_without_promise`).
        unsafe { std::slice::from_raw_parts(start, range.len()) }
    }

    /// Puts the pages of `range` into a pipe without copying them; returns how many bytes went.
    ///
    /// No memory is in danger (see [`lend_without_promise`](Self::lend_without_promise)), what readers get is. It is
    /// `unsafe` so that whoever lends for real has to say why the bytes stay as they are.
    ///
    /// # Safety
    /// The bytes may not be written to as long as anyone may hold the pages, unless
    /// [`share`](Self::share) succeeded in between: then Linux copies what someone holds before it is written to.
    ///
    /// Source: vmsplice(2).
    pub(crate) unsafe fn lend(
        &self,
        pipe: BorrowedFd<'_>,
        range: Range<usize>,
    ) -> Result<usize, Errno> {
        self.lend_without_promise(pipe, range, Wait::ForRoom)
    }

    /// The same, and the bytes may be written to at any time: whoever holds the pages then sees them change, or sees a
    /// part of them changed. For those who do not rely on what comes out of the pipe.
    ///
    /// This is no danger to memory, which is why the function is safe:
    ///
    /// - Linux counts a reference for every page it puts into a pipe. What is in a pipe, or went on from it by splice(2)
    ///   or tee(2), stays in memory after the mapping is gone, and becomes nobody else's.
    /// - Nobody but this value writes to the pages. A pipe and all that comes after it only read them: Linux never adds to
    ///   a page of a user's memory in a pipe, and gives it away (to the page cache of a file, where others could write to
    ///   it) only after `SPLICE_F_GIFT`, which is never said here. So a reference to the bytes sees what Rust wrote.
    /// - Linux reads whole bytes, which have been initialized since they were mapped, and hands readers copies. That it
    ///   does so while `bytes` lends them out to be written is outside of what the language sees: no reader is a
    ///   reference, here or in another process. The compiler may put off and leave out stores that only such a reader
    ///   would see, which is a way for the bytes to be wrong, and nothing more.
    /// - The memory is never handed to an allocator, so a late reader sees bytes of this value, not of another.
    ///
    /// Source: vmsplice(2); `user_page_pipe_buf_ops` in Linux's fs/splice.c.
    pub(crate) fn lend_without_promise(
        &self,
        pipe: BorrowedFd<'_>,
        range: Range<usize>,
        wait: Wait,
    ) -> Result<usize, Errno> {
        let flags = match wait {
            Wait::ForRoom => SpliceFlags::empty(),
            Wait::Never => SpliceFlags::NONBLOCK,
        };
        let slice = [IoSliceRaw::from_slice(self.look(range))];
        // SAFETY: the slice is valid and readable for the call. Afterwards Linux has references of its own to the pages
        // and only reads them (see above).
        unsafe { vmsplice(pipe, &slice, flags) }
    }

    /// Makes all private pages of this process copy-on-write, by a child process that exits at once.
    ///
    /// After fork(2) Linux no longer treats a page as this process's alone. With the child gone, the next write
    /// to a page reuses it when nobody else holds it, and copies it when a pipe does (`do_wp_page`,
    /// `do_huge_pmd_wp_page` in mm/). The probe proves that on the kernel it runs on.
    ///
    /// # Errors
    /// EAGAIN at the limit of processes, ENOMEM, EPERM under a seccomp filter. The pages may not be written to then.
    ///
    /// Source: clone(2), wait(2).
    pub(crate) fn share(&mut self) -> io::Result<()> {
        start_child().and_then(wait_for)
    }

    /// Whether [`share`](Self::share) is about these pages, too; at first it is. Memory that another thread writes to at
    /// that time is better left out: while the child lives, every write to a page copies it.
    ///
    /// # Errors
    /// ENOMEM; nothing has changed then.
    ///
    /// Source: madvise(2), `MADV_DONTFORK`.
    pub(crate) fn set_shared(&mut self, is_shared: bool) -> Result<(), Errno> {
        let advice = if is_shared { Advice::LinuxDoFork } else { Advice::LinuxDontFork };
        // SAFETY: the range is this mapping; the advice changes no contents, and no child relies on any.
        unsafe { madvise(self.base.as_ptr().cast(), self.len, advice) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Pages that a pipe holds live on until they are read.
        unmap(self.base.as_ptr(), self.len);
    }
}

/// Starts a child process that does nothing but exit, on this CPU: waking another one takes longer than the child lives.
///
/// The child shares descriptors and working directory, sends no signal when it ends and is found only with `__WALL`,
/// so that no `wait` elsewhere in the process sees it.
fn start_child() -> io::Result<libc::pid_t> {
    let before = sched_getaffinity(None);
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    // Refused under some filters: then the child starts where Linux likes.
    let is_pinned = before.is_ok() && sched_setaffinity(None, &here).is_ok();
    let flags = libc::CLONE_FILES | libc::CLONE_FS;
    // SAFETY: without CLONE_VM the child gets memory of its own; it calls nothing but exit.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    if pid == 0 {
        loop {
            // SAFETY: ends the child; its copies of locks and of the heap are never used.
            unsafe { libc::syscall(libc::SYS_exit_group, 0) };
        }
    }
    let error = io::Error::last_os_error();
    if let (true, Ok(before)) = (is_pinned, before) {
        let _ = sched_setaffinity(None, &before);
    }
    if pid < 0 {
        return Err(error);
    }
    libc::pid_t::try_from(pid).map_err(io::Error::other)
}

fn wait_for(pid: libc::pid_t) -> io::Result<()> {
    loop {
        // SAFETY: no status is asked for.
        let ended = unsafe { libc::waitpid(pid, ptr::null_mut(), libc::__WALL) };
        if ended == pid {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Gives a part of a mapping back.
fn unmap(start: *mut u8, len: usize) {
    if len > 0 {
        // SAFETY: the callers pass only ranges of mappings of their own that nothing refers to any more.
        let done = unsafe { munmap(start.cast::<c_void>(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

/// Whose page faults are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    /// Those of the calling thread.
    OfThread,
    /// Those of all threads.
    OfProcess,
}

/// Page faults that needed no disk: one for each page first touched, made writable or copied.
///
/// Source: getrusage(2).
pub(crate) fn minor_faults(whose: Faults) -> u64 {
    let whose = match whose {
        Faults::OfThread => libc::RUSAGE_THREAD,
        Faults::OfProcess => libc::RUSAGE_SELF,
    };
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of this type.
    let done = unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    if done != 0 {
        return 0;
    }
    // SAFETY: Linux filled it in.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

/// Pages are shared for the whole process, its stacks with them, and some of its faults are counted together: tests that
/// do either take turns.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_aligned_zero_and_writable_to_its_ends() {
        let mut pages = Pages::map(2 * HUGE_BYTES).unwrap();
        let bytes = pages.bytes(0..2 * HUGE_BYTES);
        assert!((bytes.as_ptr() as usize).is_multiple_of(HUGE_BYTES));
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(7);
        assert_eq!(pages.bytes(2 * HUGE_BYTES - 1..2 * HUGE_BYTES), [7]);
    }

    #[test]
    #[should_panic(expected = "of 2097152")]
    fn bytes_beyond_the_mapping_are_never_given_out() {
        Pages::map(HUGE_BYTES).unwrap().bytes(HUGE_BYTES - 1..HUGE_BYTES + 1);
    }

    #[test]
    fn the_child_that_makes_pages_copy_on_write_is_gone_afterwards() {
        let _turn = alone();
        let children = || std::fs::read_to_string("/proc/thread-self/children").unwrap();
        let before = children();
        Pages::map(HUGE_BYTES).unwrap().share().unwrap();
        assert_eq!(children(), before);
    }
}
