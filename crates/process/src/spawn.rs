#![expect(unsafe_code, reason = "a child that shares memory until it executes a program")]
//! Starts a program without a copy of this process.
//!
//! fork(2) copies the tables of all pages, and both processes then copy each page that they write to: `fullbore run -q true`
//! takes 0.4 ms longer with it. posix_spawn(3) makes no copy but cannot keep a signal ignored for which this process has a
//! handler, and glibc's lets the program ignore signals 32 and 33, which glibc keeps for itself. So this does what
//! posix_spawn does, with the signals as they should be: the child shares the memory of this process, whose thread waits
//! until the child has executed the program or failed to.
//!
//! Source: clone(2), `CLONE_VFORK`; sysdeps/unix/sysv/linux/spawni.c of glibc, `is_internal_signal`.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::signals::{HeldSignals, Mask, follow_parent, set_all_signals, set_mask};
use crate::start::ignored_at_start;

/// For the child until it executes the program: execvp(3) keeps one path on its stack.
const STACK_BYTES: usize = 128 << 10;

/// Starts a program, which is looked for in `PATH` if its name has no slash, with these words as its arguments (`argv`, the
/// first of which is by custom the name), and with the environment, descriptors and working directory of this process. It ignores
/// the signals that were ignored when this process was started, and no others; they are known where [`crate::note_start`] was
/// called. A script without `#!` is run by sh(1), where the C library does that.
///
/// Signals that are `held` are not held for the program.
///
/// With `ends_with_us`, it gets SIGKILL when the thread that started it has ended (prctl(2), `PR_SET_PDEATHSIG`).
///
/// A stop (SIGSTOP, Ctrl-Z) in the moment before the program is executed stops the caller, too, until the child is continued; so
/// it is with posix_spawn(3).
///
/// Returns its number. It is a child that has to be waited for.
///
/// # Errors
/// Linux's error where no process could be made or the program not be executed: ENOENT when it is not found, EACCES when it may
/// not be executed, E2BIG when words and environment are too long, EAGAIN at the limit of processes. `InvalidInput` for a
/// word with a NUL in it.
///
/// # Examples
/// ```
/// use fullbore_process::{hold_signals, spawn};
///
/// let held = hold_signals();
/// let pid = spawn("true".as_ref(), &["true".into()], &held, false)?;
/// assert!(pid > 0);
/// assert!(spawn("/no/such/program".as_ref(), &["x".into()], &held, false).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn spawn(
    program: &OsStr,
    words: &[OsString],
    held: &HeldSignals,
    ends_with_us: bool,
) -> io::Result<i32> {
    let program = CString::new(program.as_bytes())?;
    let words: Vec<CString> =
        words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<_, _>>()?;
    let pointers = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]);
    let argv: Vec<*const c_char> = pointers.collect();
    let stack = Stack::new(STACK_BYTES + size_of_val(argv.as_slice()))?;
    // A handler that ran in the child would change this process. Until the child has none, it gets no signal.
    let mask = set_mask(Mask::ALL);
    let mut child = Child {
        program: &program,
        argv: &argv,
        ignored: ignored_at_start(),
        parent: ends_with_us.then(|| Pid::from_raw(std::process::id().cast_signed())).flatten(),
        mask: held.before(),
        error: 0,
    };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = (&raw mut child).cast::<c_void>();
    // SAFETY: the stack is writable and large enough for what `become_program` calls. This thread waits until the child uses
    // neither it nor `child` any more, and nobody else knows of them.
    let pid = unsafe { libc::clone(become_program, stack.top(), flags, argument) };
    let refused = io::Error::last_os_error();
    set_mask(mask);
    if pid < 0 {
        return Err(refused);
    }
    match child.error {
        0 => Ok(pid),
        errno => {
            // It ends at once. If somebody else collected its end, that is as well.
            let _ = Pid::from_raw(pid).map(|pid| waitpid(Some(pid), WaitOptions::empty()));
            Err(io::Error::from_raw_os_error(errno))
        }
    }
}

/// What the child needs to know, and where it says why it could not execute the program.
struct Child<'a> {
    program: &'a CStr,
    argv: &'a [*const c_char],
    ignored: u64,
    /// The parent that the child shall not survive.
    parent: Option<Pid>,
    mask: Mask,
    error: c_int,
}

/// The child from its first moment on. It shares all memory with a process that goes on in other threads, so it takes no lock,
/// allocates nothing, and unwinds nowhere.
extern "C" fn become_program(argument: *mut c_void) -> c_int {
    // SAFETY: it is what `spawn` passed, and `spawn` waits.
    let child = unsafe { &mut *argument.cast::<Child<'_>>() };
    set_all_signals(child.ignored);
    set_mask(child.mask);
    child.error = match child.parent.map_or(Ok(()), follow_parent) {
        Ok(()) => {
            // SAFETY: both end with a zero, and so do the words.
            unsafe { libc::execvp(child.program.as_ptr(), child.argv.as_ptr()) };
            io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOEXEC)
        }
        Err(errno) => errno.raw_os_error(),
    };
    // SAFETY: it runs nothing that was meant for the end of this process.
    unsafe { libc::_exit(127) }
}

/// Memory for the stack of a child.
struct Stack {
    start: *mut c_void,
    length: usize,
}

impl Stack {
    fn new(length: usize) -> io::Result<Self> {
        let length = length.next_multiple_of(4096);
        let (read_write, private) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: Linux chooses the place, so nothing else is there.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, read_write, private) }?;
        Ok(Self { start, length })
    }

    /// Stacks grow down on every CPU that Linux runs on with this C library.
    fn top(&self) -> *mut c_void {
        self.start.wrapping_byte_add(self.length)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and the child that used it has its own memory now or has ended.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold_signals;
    use std::os::unix::fs::PermissionsExt;

    use rustix::process::WaitStatus;

    fn end_of(program: &str, words: &[&str]) -> io::Result<WaitStatus> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let pid = Pid::from_raw(spawn(program.as_ref(), &words, &hold_signals(), false)?).unwrap();
        Ok(waitpid(Some(pid), WaitOptions::empty())?.expect("it ended").1)
    }

    fn error_of(program: &str, words: &[&str]) -> Option<i32> {
        end_of(program, words).unwrap_err().raw_os_error()
    }

    #[test]
    fn a_program_gets_its_words_and_its_end_can_be_waited_for() {
        let script = "[ \"$0 $1\" = 'name of it' ] && exit 7";
        let status = end_of("sh", &["any", "-c", script, "name", "of it"]).unwrap();
        assert_eq!(status.exit_status(), Some(7));
        assert_eq!(end_of("sh", &["x", "-c", "kill -9 $$"]).unwrap().terminating_signal(), Some(9));
    }

    #[test]
    fn why_nothing_was_started_is_said_and_no_child_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("data"), "no program").unwrap();
        assert_eq!(error_of("/no/such/program", &["x"]), Some(libc::ENOENT));
        assert_eq!(error_of("no-such-program-anywhere", &["x"]), Some(libc::ENOENT));
        assert_eq!(error_of(&path("data"), &["x"]), Some(libc::EACCES));
        // Linux takes no word of more than 32 pages.
        let long = "x".repeat(33 * rustix::param::page_size());
        assert_eq!(error_of("true", &["x", &long]), Some(libc::E2BIG));
        assert_eq!(end_of("tr\0ue", &["x"]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(end_of("true", &["tr\0ue"]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    /// The C library copies all words to its stack before it calls sh.
    #[test]
    fn a_script_without_a_first_line_gets_all_of_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "[ $# = 100000 ] && exit 5\n").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let words = vec!["word"; 100_001];
        match end_of(script.to_str().unwrap(), &words) {
            Ok(status) => assert_eq!(status.exit_status(), Some(5)),
            // musl leaves such scripts to shells.
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOEXEC)),
        }
    }

    /// The fence: whatever the child does before it executes the program, this process and its other threads go on as if
    /// nothing had happened.
    #[test]
    fn threads_that_allocate_and_signals_that_come_meanwhile_are_not_disturbed() {
        let counted = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let ended = std::sync::atomic::AtomicBool::new(false);
        let counter = counted.clone();
        let count = move || {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        // SAFETY: the handler only adds to a number.
        let handler = unsafe { signal_hook::low_level::register(libc::SIGURG, count) }.unwrap();
        let sent = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let mut sent = 0;
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    let texts: Vec<String> = (0..100).map(|n| n.to_string()).collect();
                    assert_eq!(texts.concat().len(), 190);
                    let own = rustix::process::getpid();
                    rustix::process::kill_process(own, rustix::process::Signal::URG).unwrap();
                    sent += 1;
                }
                sent
            });
            for _ in 0..300 {
                assert_eq!(end_of("true", &["true"]).unwrap().exit_status(), Some(0));
                assert_eq!(error_of("/no/such/program", &["x"]), Some(libc::ENOENT));
            }
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            work.join().unwrap()
        });
        signal_hook::low_level::unregister(handler);
        let counted = counted.load(std::sync::atomic::Ordering::Relaxed);
        assert!(counted > 0 && counted <= sent, "{counted} of {sent}");
    }

    #[test]
    fn a_program_has_no_signal_blocked_or_ignored_that_was_not_so() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let blocked = status.lines().find(|line| line.starts_with("SigBlk")).unwrap();
        let script = format!(
            "grep -qx '{blocked}' /proc/self/status && grep -qx 'SigIgn:.0000000000000000' /proc/self/status"
        );
        let held = hold_signals();
        let words = ["sh", "-c", &script].map(OsString::from);
        let pid = Pid::from_raw(spawn("sh".as_ref(), &words, &held, false).unwrap()).unwrap();
        let (_, status) = waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap();
        assert_eq!(status.exit_status(), Some(0));
    }
}
