#![expect(
    unsafe_code,
    reason = "rustix sends no real-time signals, and code between fork and execve"
)]
//! Signals: what a started program inherits of them, and sending any of the 64.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

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
/// signals are known where [`crate::note_start`] was called. The standard library forks for this instead of calling
/// posix_spawn(3): `fullbore run -q true` takes 4.5 ms, not 4.1 (medians of 300 runs in turn).
///
/// Source: execve(2), "Effect on process attributes"; sysdeps/unix/sysv/linux/spawni.c of glibc, `is_internal_signal`.
pub fn hand_on_ignored_signals(command: &mut Command) {
    let ignored = ignored_at_start();
    let hand_on = move || {
        for number in (1..=LAST).filter(|number| ignored >> (number - 1) & 1 == 1) {
            ignore(number);
        }
        Ok(())
    };
    // SAFETY: between fork and execve the closure makes system calls only: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(hand_on) };
}

/// Starts `command` so that it gets SIGKILL when the thread that starts it has ended, by SIGKILL or otherwise. For a program
/// that stands in the place of another until that has ended: who kills it wants to end the other.
///
/// The processes that the command starts do not inherit this. Linux forgets it when a set-user-ID program is executed.
///
/// Source: prctl(2), `PR_SET_PDEATHSIG`.
pub fn end_when_we_are_killed(command: &mut Command) {
    let parent = Pid::from_raw(std::process::id().cast_signed());
    let bind = move || {
        // A filter that forbids the call is no reason to start nothing.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have been killed before; outside of a namespace of its own, a parent has a number.
        if getppid() == parent { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and execve the closure makes system calls only: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(bind) };
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

/// Ignores a signal, even one that glibc's sigaction(3) refuses. Only for a process that calls execve next: a C library
/// that uses the signal would wait for it in vain.
fn ignore(number: i32) {
    act(number, libc::SIG_IGN);
}

fn act(number: i32, handler: libc::sighandler_t) {
    let action = Action { handler, rest: [0; 3] };
    let old = std::ptr::null_mut::<Action>();
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
    let no_info = std::ptr::null::<libc::siginfo_t>();
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
                let old = std::ptr::null_mut::<Action>();
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
