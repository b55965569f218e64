#![expect(
    unsafe_code,
    reason = "descriptors that were inherited are bare numbers, and the language's runtime must be forestalled"
)]
//! What this process was started with: descriptors, and whether SIGPIPE was ignored.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::io::FdFlags;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

/// What was found before the language's runtime changed it: bits 0 to 2: that descriptor was closed
/// (the runtime opens `/dev/null` in its place); bit 3: SIGPIPE was ignored (the runtime ignores it always).
static AT_START: AtomicU8 = AtomicU8::new(0);
const SIGPIPE_IGNORED: u8 = 1 << 3;

/// Called by the C library before `main`, so before the runtime.
///
/// Source: ELF gABI, `.init_array`; glibc and musl both run it.
// SAFETY: a function pointer of the type `.init_array` holds; the function calls only system calls and
// the allocator, both of which the C library has made ready by then, and does not unwind.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_START: extern "C" fn() = look_at_start;

extern "C" fn look_at_start() {
    let mut found = 0;
    for fd in 0..3 {
        // SAFETY: only asked about; a descriptor that is closed is answered with EBADF.
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        if rustix::io::fcntl_getfd(borrowed).is_err() {
            found |= 1 << fd;
        }
    }
    if ignores_sigpipe() == Some(true) {
        found |= SIGPIPE_IGNORED;
    }
    AT_START.store(found, Ordering::Relaxed);
}

/// Whether signal 13 is in the set of ignored ones; `None` without `/proc`.
fn ignores_sigpipe() -> Option<bool> {
    let mut text = String::new();
    File::open("/proc/self/status").ok()?.read_to_string(&mut text).ok()?;
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? >> 12 & 1 == 1)
}

/// Whether SIGPIPE was ignored when this process was started.
#[must_use]
pub fn sigpipe_was_ignored() -> bool {
    at_start() & SIGPIPE_IGNORED != 0
}

/// Whether standard input was closed when this process was started; what is read now is `/dev/null`.
#[must_use]
pub fn stdin_was_closed() -> bool {
    at_start() & 1 != 0
}

/// Whether standard output was closed when this process was started; what is written now is lost in `/dev/null`.
#[must_use]
pub fn stdout_was_closed() -> bool {
    at_start() & 2 != 0
}

fn at_start() -> u8 {
    // Named here, so that no linker drops it.
    let _ = std::hint::black_box(&LOOK_AT_START);
    AT_START.load(Ordering::Relaxed)
}

/// A copy of a descriptor that this process was started with, by its number: what the user names on the command line.
///
/// # Errors
/// EBADF: there is none of this number.
///
/// Source: fcntl(2), F_DUPFD_CLOEXEC.
pub fn inherited(number: u16) -> io::Result<OwnedFd> {
    // SAFETY: only asked for a copy; a descriptor that is closed is answered with EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number.into()) };
    Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?)
}

/// Makes descriptors 0 to 2 that were closed when this process was started be closed in the processes
/// it starts, too.
pub fn hand_on_closed_descriptors() {
    let found = at_start();
    for (bit, fd) in [(1, stdin()), (2, stdout()), (4, stderr())] {
        if found & bit != 0 {
            // It leads to the /dev/null of the runtime; refused only when it is closed after all.
            let _ = rustix::io::fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
    }
}

/// Lets go of everything this process inherited except standard error: standard input and output
/// become `/dev/null`, descriptors from 3 up are closed.
///
/// Called after the pipeline was started: it has its own copies, and ours would keep the end of file
/// from a reader and SIGPIPE from a writer outside. Descriptors that this process opened itself are
/// close-on-exec (the standard library and rustix make them so) and stay.
///
/// This assumes that nothing in the process owns a descriptor that is *not* close-on-exec: a program
/// that accepts descriptors by number (`--fd N`) must not call it.
///
/// # Errors
/// When `/dev/null` or `/proc/self/fd` cannot be opened.
pub fn let_go_of_inherited() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(null.as_fd())?;
    dup2_stdout(null.as_fd())?;
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(fd) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if fd > 2 {
            inherited.push(fd);
        }
    }
    for fd in inherited {
        // SAFETY: the number was listed a moment ago; if it was closed since (the directory handle
        // was), fcntl answers EBADF and nothing is touched.
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        let Ok(flags) = rustix::io::fcntl_getfd(borrowed) else { continue };
        if !flags.contains(FdFlags::CLOEXEC) {
            // SAFETY: not close-on-exec, so inherited, and nothing in this process takes inherited
            // descriptors (see above).
            unsafe { rustix::io::close(fd) };
        }
    }
    Ok(())
}
