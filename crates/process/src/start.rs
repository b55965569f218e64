#![expect(unsafe_code, reason = "inherited descriptors are bare numbers until someone takes them")]
//! Knows what this process was started with: descriptors, and ignored signals.
//!
//! Each inherited descriptor has exactly one owner: the record that [`note_start`] makes before any other code can take
//! one. So [`let_go_of_inherited`] closes only what it owns, and [`inherited`] copies only what is known to exist.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, FdFlags};
use rustix::process::Signal;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

/// What [`note_start`] found before the language's runtime opened `/dev/null` for closed descriptors and ignored
/// SIGPIPE.
static START: OnceLock<Start> = OnceLock::new();

#[derive(Debug)]
struct Start {
    /// Whether descriptors 0, 1 and 2 were closed.
    closed: [bool; 3],
    /// Ignored signals: bit n − 1 for signal n.
    ignored: u64,
    /// The descriptors from 3 up; `None` where `/proc` was not readable.
    inherited: Mutex<Option<Vec<OwnedFd>>>,
}

/// Records what this process was started with, and takes ownership of the inherited descriptors from 3 up. They stay
/// open, and children inherit them, until [`let_go_of_inherited`]. A second call does nothing.
///
/// The crate `fullbore-before-main` calls this for programs that depend on it.
///
/// # Safety
/// No code of this process may own a descriptor from 3 up that is open across execve(2), now or later by taking an
/// inherited one from its number. A program that lets other code do that (a jobserver client, say) must not call this.
/// Before `main`, when only the C library has run, the condition holds.
///
/// Source: proc_pid_fd(5); proc_pid_status(5), `SigIgn`.
pub unsafe fn note_start() {
    if START.get().is_some() {
        return;
    }
    // Check this before opening anything, which would take the number of a closed descriptor.
    let closed = [0, 1, 2].map(|fd| flags_of(fd).is_err());
    let ignored = ignored_now().unwrap_or(0);
    let inherited = numbers_from_3().ok().map(|numbers| {
        let kept = numbers.into_iter().filter(|fd| {
            // Close-on-exec descriptors cannot have been inherited: code that was loaded before opened them.
            flags_of(*fd).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC))
        });
        // SAFETY: it is open, and the caller promises that nothing else owns it.
        kept.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).collect()
    });
    // The record was empty a moment ago, and the caller promises that no one else calls this meanwhile. If someone did,
    // the descriptors would have two owners, so forget them instead of closing them.
    if let Err(start) = START.set(Start { closed, ignored, inherited: Mutex::new(inherited) }) {
        std::mem::forget(start);
    }
}

fn flags_of(fd: RawFd) -> Result<FdFlags, Errno> {
    // SAFETY: the number is only used for a query; Linux answers EBADF for a closed one.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    rustix::io::fcntl_getfd(borrowed)
}

/// Returns the numbers of open descriptors from 3 up, including that of the directory they were read from.
fn numbers_from_3() -> io::Result<Vec<RawFd>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        numbers.extend(number.filter(|fd| *fd > 2));
    }
    Ok(numbers)
}

/// The signals that this process ignores now; `None` without `/proc`.
fn ignored_now() -> Option<u64> {
    // With room from the start, since files of /proc tell no size.
    let mut text = String::with_capacity(4096);
    File::open("/proc/self/status").ok()?.take(u64::MAX).read_to_string(&mut text).ok()?;
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// The signals that were ignored when this process was started, bit n − 1 for signal n; none where [`note_start`] was not
/// called.
pub(crate) fn ignored_at_start() -> u64 {
    START.get().map_or(0, |start| start.ignored)
}

/// Tells whether a signal, by its number from 1 to 64, was ignored when this process was started, as nohup(1) and `&` do;
/// `false` where [`note_start`] was not called.
#[must_use]
pub fn was_ignored(signal: i32) -> bool {
    (1..=64).contains(&signal) && ignored_at_start() >> (signal - 1) & 1 == 1
}

/// Tells whether SIGPIPE was ignored when this process was started; `false` where [`note_start`] was not called.
#[must_use]
pub fn sigpipe_was_ignored() -> bool {
    was_ignored(Signal::PIPE.as_raw())
}

/// Tells whether standard input was closed when this process was started, so that reads now come from `/dev/null`;
/// `false` where [`note_start`] was not called.
#[must_use]
pub fn stdin_was_closed() -> bool {
    was_closed(0)
}

/// Tells whether standard output was closed when this process was started, so that writes now vanish in `/dev/null`;
/// `false` where [`note_start`] was not called.
#[must_use]
pub fn stdout_was_closed() -> bool {
    was_closed(1)
}

fn was_closed(fd: usize) -> bool {
    START.get().is_some_and(|start| start.closed[fd])
}

/// Copies an inherited descriptor by the number that the user gives on the command line. The copy is close-on-exec and
/// has a number from 3 up.
///
/// # Errors
/// EBADF: this process did not inherit `number` or has closed it, or [`note_start`] was not called and `number` is
/// above 2. EMFILE: too many files are open.
///
/// Source: fcntl(2), `F_DUPFD_CLOEXEC`.
pub fn inherited(number: u16) -> io::Result<OwnedFd> {
    let copy = |fd: BorrowedFd<'_>| Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?);
    match number {
        0 => copy(stdin()),
        1 => copy(stdout()),
        2 => copy(stderr()),
        _ => {
            let start = START.get().ok_or(Errno::BADF)?;
            let list = start.inherited.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = list.iter().flatten();
            let found = all.find(|fd| fd.as_raw_fd() == RawFd::from(number)).ok_or(Errno::BADF)?;
            copy(found.as_fd())
        }
    }
}

/// The numbers of the descriptors that this process was started with and has not closed since; `None` where they are
/// unknown, because [`note_start`] was not called or could not read `/proc/self/fd`.
#[must_use]
pub fn inherited_numbers() -> Option<Vec<RawFd>> {
    let start = START.get()?;
    let list = start.inherited.lock().unwrap_or_else(PoisonError::into_inner);
    let standard = (0..).zip(start.closed).filter(|(_, closed)| !closed).map(|(number, _)| number);
    Some(standard.chain(list.as_ref()?.iter().map(AsRawFd::as_raw_fd)).collect())
}

/// Makes descriptors 0 to 2 that were closed when this process was started closed in the processes it starts, too.
/// Otherwise those would inherit the `/dev/null` that the language's runtime opened. Does nothing where [`note_start`]
/// was not called.
///
/// Source: fcntl(2), `F_SETFD`.
pub fn hand_on_closed_descriptors() {
    for (number, fd) in [stdin(), stdout(), stderr()].into_iter().enumerate() {
        if was_closed(number) {
            // Linux refuses only when the descriptor is closed after all.
            let _ = rustix::io::fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
    }
}

/// Closes everything this process inherited except standard error: standard input and output become `/dev/null`, and
/// inherited descriptors from 3 up are closed. A second call closes nothing more.
///
/// A program that passes its descriptors on to a pipeline calls this after the pipeline has started. The pipeline has
/// its own copies. Ours would keep the end of file from a reader outside, and SIGPIPE from a writer outside.
///
/// # Errors
/// Neither `/dev/null` nor memory in its place can be opened. Or the inherited descriptors are unknown, because [`note_start`] was not called or
/// could not read `/proc/self/fd`; then only standard input and output have changed.
///
/// Source: dup2(2), close(2).
pub fn let_go_of_inherited() -> io::Result<()> {
    let nothing = nothing()?;
    dup2_stdin(nothing.as_fd())?;
    dup2_stdout(nothing.as_fd())?;
    let unknown = || io::Error::other("which descriptors were inherited is unknown");
    let start = START.get().ok_or_else(unknown)?;
    let mut list = start.inherited.lock().unwrap_or_else(PoisonError::into_inner);
    list.as_mut().ok_or_else(unknown)?.clear();
    Ok(())
}

/// Opens `/dev/null`. A root directory with nothing but the program in it has none, so there it is an empty file in memory.
fn nothing() -> io::Result<OwnedFd> {
    match File::options().read(true).write(true).open("/dev/null") {
        Ok(null) => Ok(null.into()),
        Err(_) => Ok(memfd_create("nothing", MemfdFlags::CLOEXEC)?),
    }
}
