//! Memory whose pages go into a pipe without being copied, and the ways to reuse it.
//!
//! Everything here serves one rule: a byte handed to a pipe must not change while anyone may still hold its page.
//! `docs/safety.md` draws it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Size of a huge page with 4 KiB base pages on x86-64 and aarch64.
pub(crate) const HUGE_BYTES: usize = 2 << 20;
/// Size of a base page on the machines fullbore supports. Elsewhere vmsplice works the same, in larger units.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Private anonymous memory, on huge pages where Linux has them.
#[derive(Debug)]
pub(crate) struct Pages {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: this value alone owns the memory, as a Box<[u8]> does.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps `len` bytes (a multiple of 2 MiB) of zeros, aligned to a huge page.
    ///
    /// Source: mmap(2), madvise(2) MADV_HUGEPAGE.
    pub(crate) fn map(len: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        assert!(len > 0 && len.is_multiple_of(HUGE_BYTES), "{len}");
        let whole = len.checked_add(HUGE_BYTES).ok_or(Errno::NOMEM)?;
        // SAFETY: a new mapping at an address Linux chooses changes no memory in use.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), whole, ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        let before = start.cast::<u8>().align_offset(HUGE_BYTES);
        let base = start.cast::<u8>().wrapping_add(before);
        unmap(start.cast(), before);
        unmap(base.wrapping_add(len), whole - before - len);
        // SAFETY: the range is the mapping made above, and the advice changes no contents. Linux refuses it without
        // CONFIG_TRANSPARENT_HUGEPAGE; the pages are then small, which the probe detects.
        let _ = unsafe { madvise(base.cast(), len, Advice::LinuxHugepage) };
        let base = NonNull::new(base).ok_or(Errno::NOMEM)?;
        Ok(Self { base, len })
    }

    /// Returns how many bytes are mapped.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes in `range` for writing.
    pub(crate) fn bytes(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // SAFETY: the start lies within the mapping (checked above).
        let start = unsafe { self.base.as_ptr().add(range.start) };
        // SAFETY: the range lies within the mapping, which is readable, writable and initialized (Linux maps zeros),
        // lives as long as `self`, and is borrowed mutably with it.
        unsafe { std::slice::from_raw_parts_mut(start, range.len()) }
    }

    /// Returns the bytes in `range` for reading.
    pub(crate) fn view(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // SAFETY: the start lies within the mapping (checked above).
        let start = unsafe { self.base.as_ptr().add(range.start) };
        // SAFETY: the range lies within the mapping, which is readable and initialized (Linux maps zeros) and lives as
        // long as `self`. Only a mutable borrow of `self` writes to it: a pipe that holds its pages only reads them
        // (see `lend_without_promise`).
        unsafe { std::slice::from_raw_parts(start, range.len()) }
    }

    /// Puts the pages of `range` into a pipe without copying them, and returns how many bytes Linux took.
    ///
    /// This endangers no memory (see [`lend_without_promise`](Self::lend_without_promise)), only what readers receive.
    /// It is `unsafe` so that callers who lend real output must state why the bytes stay unchanged.
    ///
    /// # Safety
    /// Do not write to the bytes as long as anyone may hold the pages, unless [`share`](Self::share) has succeeded
    /// since. After `share`, Linux copies a page that someone holds before it changes.
    ///
    /// Source: vmsplice(2).
    pub(crate) unsafe fn lend(
        &self,
        pipe: BorrowedFd<'_>,
        range: Range<usize>,
        flags: SpliceFlags,
    ) -> Result<usize, Errno> {
        self.vmsplice(pipe, range, flags)
    }

    /// Puts the pages of `range` into a pipe as [`lend`](Self::lend) does, but lets the caller write to the bytes at
    /// any time. Whoever holds the pages may then see all or part of them change. Use it only where nobody relies on
    /// what comes out of the pipe.
    ///
    /// This endangers no memory, so the function is safe:
    ///
    /// - Linux holds a reference to every page it puts into a pipe. Pages in a pipe, or passed on from it by splice(2)
    ///   or tee(2), stay in memory after the mapping is gone, and no one else gets them.
    /// - Only this value writes to the pages. A pipe and everything after it only reads them. Linux never appends to a
    ///   user's page in a pipe, and gives such a page away (to a file's page cache, where others could write to it)
    ///   only after `SPLICE_F_GIFT`, which this code never passes. So a reference to the bytes sees what Rust wrote.
    /// - Linux reads whole bytes, which have been initialized since they were mapped, and hands readers copies. It may
    ///   do so while `bytes` lends them out for writing, but the language does not see that: no reader is a reference,
    ///   in this process or another. The compiler may delay or drop stores that only such a reader would see. Then the
    ///   bytes are wrong, and nothing worse happens.
    /// - The memory never goes back to an allocator, so a late reader sees bytes of this value, not of another.
    ///
    /// Source: vmsplice(2); `user_page_pipe_buf_ops` in Linux's fs/splice.c.
    pub(crate) fn lend_without_promise(
        &self,
        pipe: BorrowedFd<'_>,
        range: Range<usize>,
    ) -> Result<usize, Errno> {
        self.vmsplice(pipe, range, SpliceFlags::empty())
    }

    /// Lends pages, as the two functions above promise it or not.
    fn vmsplice(
        &self,
        pipe: BorrowedFd<'_>,
        range: Range<usize>,
        flags: SpliceFlags,
    ) -> Result<usize, Errno> {
        debug_assert!(!flags.contains(SpliceFlags::GIFT), "a gift could be written to by others");
        let slice = [IoSliceRaw::from_slice(self.view(range))];
        // SAFETY: the slice is valid and readable for the call. Afterwards Linux holds its own references to the pages
        // and only reads them (see `lend_without_promise`).
        unsafe { vmsplice(pipe, &slice, flags) }
    }

    /// Makes all private pages of this process copy-on-write, by starting a child process that exits at once.
    ///
    /// After fork(2) Linux no longer treats a page as exclusive to this process. Once the child is gone, the next write
    /// to a page reuses the page when nobody else holds it and copies it when a pipe does (`do_wp_page`,
    /// `do_huge_pmd_wp_page` in mm/). The probe verifies this on the running kernel.
    ///
    /// # Errors
    /// EAGAIN at the limit of processes, ENOMEM, EPERM under a seccomp filter. The caller must then not write to the
    /// pages.
    ///
    /// Source: clone(2), wait(2).
    pub(crate) fn share(&mut self) -> io::Result<()> {
        self.share_in_turn(&turn())
    }

    /// The same for who already has the turn.
    pub(crate) fn share_in_turn(&mut self, _turn: &Turn) -> io::Result<()> {
        start_child().and_then(wait_for)
    }

    /// Sets whether [`share`](Self::share) covers these pages; at first it does. Exclude memory that another thread
    /// writes to during `share`: while the child lives, every write to a shared page copies it.
    ///
    /// # Errors
    /// ENOMEM; nothing has changed then.
    ///
    /// Source: madvise(2), `MADV_DONTFORK`.
    pub(crate) fn set_shared(&mut self, is_shared: bool) -> Result<(), Errno> {
        let advice = if is_shared { Advice::LinuxDoFork } else { Advice::LinuxDontFork };
        // SAFETY: the range is this mapping; the advice changes no contents, and no child relies on any of them.
        unsafe { madvise(self.base.as_ptr().cast(), self.len, advice) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Pages that a pipe holds live on until someone reads them.
        unmap(self.base.as_ptr(), self.len);
    }
}

/// Who has it is the only one here to start a child: while one lives, Linux copies pages that it would give back otherwise.
#[derive(Debug)]
pub(crate) struct Turn {
    _guard: MutexGuard<'static, ()>,
}

/// Waits for the turn.
pub(crate) fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    Turn { _guard: TURN.lock().unwrap_or_else(PoisonError::into_inner) }
}

/// Starts a child process on this CPU that does nothing but exit. Waking another CPU would take longer than the child
/// lives.
///
/// The child shares descriptors and the working directory. It sends no signal when it ends, and only `__WALL` finds it,
/// so no `wait` elsewhere in the process sees it.
fn start_child() -> io::Result<libc::pid_t> {
    let before = sched_getaffinity(None);
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    // Some filters refuse this; the child then starts wherever Linux puts it.
    let is_pinned = before.is_ok() && sched_setaffinity(None, &here).is_ok();
    let flags = libc::CLONE_FILES | libc::CLONE_FS;
    // The flags, and no stack of its own; on s390x these two have changed places (clone(2)).
    let [first, second] = if cfg!(target_arch = "s390x") { [0, flags] } else { [flags, 0] };
    // SAFETY: without CLONE_VM the child gets its own memory; it calls nothing but exit.
    let pid = unsafe { libc::syscall(libc::SYS_clone, first, second, 0, 0, 0) };
    if pid == 0 {
        loop {
            // SAFETY: this ends the child; nothing ever uses its copies of locks and of the heap.
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
        // SAFETY: the call asks for no status.
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

/// Unmaps a part of a mapping.
fn unmap(start: *mut u8, len: usize) {
    if len > 0 {
        // SAFETY: callers pass only ranges of their own mappings, to which nothing refers any more.
        let done = unsafe { munmap(start.cast::<c_void>(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

/// Selects whose page faults to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    /// Faults of the calling thread.
    OfThread,
    /// Faults of all threads.
    OfProcess,
}

/// Returns how many page faults needed no disk: one for each page first touched, made writable or copied.
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

/// Makes tests take turns that share pages or count page faults. Sharing affects the whole process with its stacks, and
/// some faults are counted for the process as a whole.
#[cfg(test)]
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether pages can be shared with a child here; says so if not. An emulator of programs starts no child that shares
/// descriptors.
#[cfg(test)]
pub(crate) fn can_share() -> bool {
    let shared = Pages::map(HUGE_BYTES).and_then(|mut pages| pages.share());
    if let Err(error) = &shared {
        skipped(&format!("pages cannot be shared with a child here: {error}"));
    }
    shared.is_ok()
}

/// Says why a test is skipped; in CI that is a failure.
#[cfg(test)]
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
pub(crate) fn skipped(why: &str) {
    assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why}");
    eprintln!("skipped: {why}");
}

/// Returns the size of this process's address space in bytes.
#[cfg(test)]
pub(crate) fn address_space() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').next().unwrap().parse::<usize>().unwrap() * rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_takes_no_more_than_its_bytes_and_gives_them_back() {
        const COUNT: usize = 1000;
        let before = address_space();
        let held: Vec<_> = (0..COUNT).map(|_| Pages::map(HUGE_BYTES).unwrap()).collect();
        // Other tests map and unmap some memory meanwhile; memory kept for alignment alone would take as much again.
        let taken = address_space() - before;
        let expected = COUNT * 9 / 10..COUNT * 3 / 2;
        assert!(expected.contains(&(taken / HUGE_BYTES)), "{taken} bytes");
        drop(held);
        assert!(address_space() < before + COUNT * HUGE_BYTES / 2, "memory was not given back");
    }

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
        if !can_share() {
            return;
        }
        let children = || std::fs::read_to_string("/proc/thread-self/children").unwrap();
        let before = children();
        Pages::map(HUGE_BYTES).unwrap().share().unwrap();
        assert_eq!(children(), before);
    }
}
