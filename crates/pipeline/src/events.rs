//! What interrupts watching: the end of the pipeline, a stop, a signal.

use std::os::unix::process::CommandExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fullbore_proc::Root;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use signal_hook::consts::signal::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::Error;

/// Something that happened while the pipeline ran.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The shell ended, with this status as wait(2) encodes it.
    Ended(WaitStatus),
    /// The shell was stopped by this signal.
    Stopped(i32),
    /// Another process whose parent had ended did end.
    OrphanEnded {
        /// Its number.
        pid: i32,
        /// Its status as wait(2) encodes it.
        status: i32,
    },
    /// A signal reached fullbore.
    Signal {
        /// Its number.
        number: i32,
        /// The shell has not got it, too: it was sent to fullbore alone.
        for_us_alone: bool,
    },
    /// Waiting failed; the end of the pipeline will not be seen.
    WaitFailed(Errno),
}

/// Signals that are passed on to the shell when they are sent to fullbore alone.
const PASSED_ON: [i32; 8] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT];

/// Takes over signals; call before the pipeline is started, so that none is lost.
///
/// A signal that was ignored when fullbore started (nohup, a background job) stays ignored, here and
/// in the pipeline.
///
/// With something on the terminal, a stop from the keyboard must be heard of first; without, Linux
/// stops this process as it stops any other.
///
/// # Errors
/// [`Error::Signals`] or [`Error::Thread`] when Linux refuses.
pub(crate) fn take_over_signals(
    shows_something: bool,
) -> Result<(Sender<Event>, Receiver<Event>), Error> {
    let (sender, receiver) = channel();
    let own = Root::system().status(std::process::id().cast_signed()).unwrap_or_default();
    let numbers = PASSED_ON.iter().copied().filter(|number| !own.ignores(*number));
    let mut numbers: Vec<i32> = numbers.collect();
    if shows_something && !own.ignores(SIGTSTP) {
        numbers.push(SIGTSTP);
    }
    if own.ignores(SIGCHLD) {
        // With SIGCHLD ignored Linux forgets the exit status of children.
        numbers.push(SIGCHLD);
    }
    let mut signals = SignalsInfo::<WithOrigin>::new(&numbers).map_err(Error::Signals)?;
    let to_loop = sender.clone();
    let listen = move || {
        for origin in &mut signals {
            let number = origin.signal;
            let for_us_alone = is_for_us_alone(&origin);
            if number != SIGCHLD && to_loop.send(Event::Signal { number, for_us_alone }).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(Error::Thread)?;
    Ok((sender, receiver))
}

/// A terminal and a process of our own group signal the whole group, the shell included.
fn is_for_us_alone(origin: &Origin) -> bool {
    let Cause::Sent(_) = origin.cause else { return false };
    let Some(sender) = origin.process.and_then(|process| Pid::from_raw(process.pid)) else {
        return true;
    };
    let own_group = rustix::process::getpgrp();
    rustix::process::getpgid(Some(sender)) != Ok(own_group)
}

/// Waits for all children of this process, in a thread of its own.
///
/// # Errors
/// [`Error::Thread`] when the thread cannot be started.
pub(crate) fn wait_for_children(shell: i32, to_loop: Sender<Event>) -> Result<(), Error> {
    let listen = move || {
        loop {
            let event = match wait(WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) => event_of(pid.as_raw_nonzero().get(), status, shell),
                Ok(None) | Err(Errno::INTR) => continue,
                Err(errno) => Event::WaitFailed(errno),
            };
            let is_last = matches!(event, Event::Ended(_) | Event::WaitFailed(_));
            if to_loop.send(event).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("wait".to_owned()).spawn(listen).map_err(Error::Thread)?;
    Ok(())
}

fn event_of(pid: i32, status: WaitStatus, shell: i32) -> Event {
    if pid != shell {
        return Event::OrphanEnded { pid, status: status.as_raw() };
    }
    match status.stopping_signal() {
        Some(signal) => Event::Stopped(signal),
        None => Event::Ended(status),
    }
}

/// A status of wait(2) as a shell reports it: the exit status, or 128 + the number of the signal.
pub(crate) fn as_shell_reports(status: i32) -> i32 {
    match status & 0x7f {
        0 => status >> 8 & 0xff,
        signal => 128 + signal,
    }
}

/// Ends this process by a signal, as the shell was ended, so that whoever started it sees the same;
/// leaves no core file. Returns only when the signal does not end a process.
pub fn die_of(signal: i32) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // The shell has left its core file, if any; a second one of fullbore would mislead.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if signal != SIGPIPE {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    // Not known to signal-hook, or ignored by the runtime: a program that is executed has the default
    // action, and keeps our process number.
    let _ = std::process::Command::new("sh").arg("-c").arg(format!("kill -{signal} $$")).exec();
}
