#![expect(
    unsafe_code,
    reason = "rustix sends no real-time signals, and code between fork and execve"
)]
//! Signals: what a started program inherits of them, and sending any of the 64.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::start::ignored_at_start;

/// As many signals as Linux has; glibc's own `sigset_t` is larger.
const LAST: i32 = 64;
/// Bytes of Linux's set of 64 signals.
const SET_BYTES: usize = 8;

/// `struct sigaction` as rt_sigaction(2) takes it: the handler, and then nothing that a signal without a handler needs (flags, a
/// restorer where there is one, the mask).
#[repr(C)]
struct Action {
    handler: libc::sighandler_t,
    rest: [u64; 3],
}

/// Starts `command` with the signals ignored that were ignored when this process was started, and no others.
///
/// Left alone, the standard library stops ignoring SIGPIPE, what this process has a handler for since is not ignored any
/// more, and the posix_spawn(3) of glibc lets the program ignore signals 32 and 33, which glibc keeps for itself. Ignored
/// signals are known where [`crate::note_start`] was called. The standard library forks for this; where 0.4 ms count, use
/// [`crate::spawn()`].
///
/// Source: execve(2), "Effect on process attributes"; sysdeps/unix/sysv/linux/spawni.c of glibc, `is_internal_signal`.
pub fn hand_on_ignored_signals(command: &mut Command) {
    let ignored = ignored_at_start();
    let hand_on = move || {
        set_all_signals(ignored);
        Ok(())
    };
    // SAFETY: between fork and execve the closure makes system calls only: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(hand_on) };
}

/// Called by a child: it gets SIGKILL when the thread that started it has ended, by SIGKILL or otherwise. For a program
/// that stands in the place of another until that has ended: who kills it wants to end the other.
///
/// The processes that the program starts do not inherit this. Linux forgets it when a set-user-ID program is executed.
///
/// # Errors
/// ESRCH when the parent has ended before.
///
/// Source: prctl(2), `PR_SET_PDEATHSIG`.
pub(crate) fn follow_parent(parent: Pid) -> Result<(), Errno> {
    // A filter that forbids the call is no reason to start nothing.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It may have been killed before; outside of a namespace of its own, a parent has a number.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

/// Called by a child that executes a program next: it ignores these signals (bit n − 1 for signal n), and no other one has a
/// handler or is ignored. Also those that glibc's sigaction(3) refuses: a C library that uses them would wait for them in vain.
pub(crate) fn set_all_signals(ignored: u64) {
    for number in 1..=LAST {
        let is_ignored = ignored >> (number - 1) & 1 == 1;
        act(number, if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL });
    }
}

/// Blocked signals of a thread, bit n − 1 for signal n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask(u64);

impl Mask {
    pub(crate) const ALL: Self = Self(!0);
}

/// Blocks these signals in this thread and no others, also those that the C library keeps for itself; returns those that were
/// blocked.
///
/// Source: sigprocmask(2), "C library/kernel differences".
pub(crate) fn set_mask(mask: Mask) -> Mask {
    change_mask(Some(mask))
}

fn current_mask() -> Mask {
    change_mask(None)
}

fn change_mask(to: Option<Mask>) -> Mask {
    let new = to.as_ref().map_or(ptr::null(), |mask| &raw const mask.0);
    let mut old = 0_u64;
    let how = libc::SIG_SETMASK;
    // SAFETY: Linux reads as many bytes as it is told of, or nothing, and writes as many.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, new, &raw mut old, SET_BYTES) };
    Mask(old)
}

/// Signals that wait until this is dropped: they are blocked in the thread that called [`hold_signals`], and in threads that it
/// has started meanwhile.
#[derive(Debug)]
pub struct HeldSignals {
    before: Mask,
    /// Each thread has its own mask.
    of_this_thread: PhantomData<*const ()>,
}

/// What a thread does to itself, and would be killed for if it were blocked.
const OF_THE_THREAD: [i32; 7] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// Holds back all signals, but those for faults of a thread itself (SIGSEGV and its kin) and those that the C library keeps for
/// itself.
///
/// A thread that is started meanwhile never gets one that is sent to the process, so it cannot end it by a signal for which there is no
/// handler yet.
///
/// Source: sigprocmask(2); signal(7), "Standard signals".
#[must_use]
pub fn hold_signals() -> HeldSignals {
    // From the first of real time that Linux has to the first that the C library leaves to programs.
    let of_the_library = 32..libc::SIGRTMIN();
    let is_held = |n: &i32| !OF_THE_THREAD.contains(n) && !of_the_library.contains(n);
    let held = (1..=LAST).filter(is_held).fold(0, |mask, number| mask | 1 << (number - 1));
    let before = current_mask();
    set_mask(Mask(before.0 | held));
    HeldSignals { before, of_this_thread: PhantomData }
}

impl HeldSignals {
    /// What was blocked before.
    pub(crate) fn before(&self) -> Mask {
        self.before
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        set_mask(self.before);
    }
}

/// Sends this process a signal, after everything that handled or ignored it was taken away. Most signals end the process,
/// so this returns only for the others, for a signal that is blocked, and in process 1 of a container.
///
/// Source: signal(7), "Standard signals"; kill(2), "NOTES", on process 1.
pub fn raise_unhandled(number: i32) {
    act(number, libc::SIG_DFL);
    let own = std::process::id().cast_signed();
    // SAFETY: the call takes two numbers.
    unsafe { libc::kill(own, number) };
}

fn act(number: i32, handler: libc::sighandler_t) {
    let action = Action { handler, rest: [0; 3] };
    let old = ptr::null_mut::<Action>();
    // SAFETY: Linux reads no more than the structure has on any machine, and the old action is not asked for.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, number, &raw const action, old, SET_BYTES) };
}

/// Sends any signal by its number to the process that a pidfd refers to.
///
/// # Errors
/// Linux's error: ESRCH when the process has ended, EPERM when it belongs to another user, ENOSYS before Linux 5.1, EINVAL
/// for a number that is no signal.
///
/// Source: pidfd_send_signal(2).
pub fn send_signal(to: BorrowedFd<'_>, number: i32) -> io::Result<()> {
    let no_info = ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open while it is borrowed, and Linux reads no memory.
    let answer =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, to.as_raw_fd(), number, no_info, 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends any signal by its number to the process of a number, which is that of a child whose end was not collected yet:
/// any other number may mean a different process by now.
///
/// # Errors
/// Linux's error: ESRCH when there is no such process, EPERM when it belongs to another user, EINVAL for a number that is
/// no signal, or a process number that stands for several processes (0 and below).
///
/// Source: kill(2).
pub fn send_signal_to_child(pid: i32, number: i32) -> io::Result<()> {
    if pid <= 0 {
        return Err(rustix::io::Errno::INVAL.into());
    }
    // SAFETY: the call takes two numbers.
    if unsafe { libc::kill(pid, number) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    use rustix::process::{PidfdFlags, pidfd_open};

    #[test]
    fn the_action_is_as_long_as_linux_reads() {
        // Handler, flags, restorer and mask: 8 bytes each where a pointer has 8.
        assert!(size_of::<Action>() >= size_of::<usize>() + 3 * 8);
    }

    #[test]
    fn a_process_gets_the_signal_of_that_number_and_no_other() {
        // 1, 40 and 64: one with a name, two of real time.
        for number in [1, 40, LAST] {
            for by_number in [false, true] {
                let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
                let pid = child.id().cast_signed();
                let fd = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap();
                if by_number {
                    send_signal_to_child(pid, number).unwrap();
                } else {
                    send_signal(fd.as_fd(), number).unwrap();
                }
                let status = child.wait().unwrap();
                assert_eq!(status.signal(), Some(number));
                assert!(send_signal(fd.as_fd(), number).is_err(), "it has ended");
            }
        }
        assert!(send_signal_to_child(0, 1).is_err() && send_signal_to_child(-1, 1).is_err());
    }

    /// What `grep` finds of its own ignored signals when it is started by a process that ignores none of glibc's own.
    const INNER: &str = "FULLBORE_TEST_PRINTS_SIGNALS";

    #[test]
    fn signals_that_glibc_keeps_for_itself_are_not_ignored_in_what_is_started() {
        let grep = || {
            let mut command = Command::new("grep");
            command.args(["SigIgn", "/proc/self/status"]);
            command
        };
        if std::env::var_os(INNER).is_some() {
            let mut command = grep();
            hand_on_ignored_signals(&mut command);
            command.status().unwrap();
            return;
        }
        let reset = || {
            let default = Action { handler: libc::SIG_DFL, rest: [0; 3] };
            for number in [32, 33] {
                let old = ptr::null_mut::<Action>();
                // SAFETY: as in `ignore`.
                unsafe {
                    libc::syscall(
                        libc::SYS_rt_sigaction,
                        number,
                        &raw const default,
                        old,
                        SET_BYTES,
                    )
                };
            }
            Ok(())
        };
        let name = "signals_that_glibc_keeps_for_itself_are_not_ignored_in_what_is_started";
        let mut inner = Command::new(std::env::current_exe().unwrap());
        inner.args([name, "--nocapture"]).env(INNER, "1");
        // SAFETY: the closure makes system calls only.
        unsafe { inner.pre_exec(reset) };
        let said = String::from_utf8(inner.output().unwrap().stdout).unwrap();
        let mask = said.lines().find_map(|line| line.rsplit_once("SigIgn:\t")).unwrap().1;
        assert_eq!(u64::from_str_radix(mask.trim(), 16).unwrap() >> 31 & 0b11, 0, "{said}");
    }
}
