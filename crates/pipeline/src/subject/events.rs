//! What interrupts watching: the end of the pipeline, a stop, a signal.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fullbore_proc::{Io, Root};
use fullbore_process::{HeldSignals, hold_signals};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{WaitId, WaitIdOptions, WaitOptions, WaitStatus, wait, waitid};
use signal_hook::consts::signal::{
    SIGABRT, SIGBUS, SIGCHLD, SIGCONT, SIGFPE, SIGILL, SIGKILL, SIGPIPE, SIGSEGV, SIGSTOP, SIGSYS,
    SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU,
};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin, Sent};

use crate::Error;

/// Something that happened while the pipeline ran.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The shell ended, with this status as wait(2) encodes it.
    Ended(WaitStatus),
    /// The shell was stopped by this signal.
    Stopped(i32),
    /// Another child ended: a process whose parent had ended before.
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
        /// Who sent it.
        sender: Sender,
    },
    /// Waiting failed; the end of the pipeline will not be seen.
    WaitFailed(Errno),
}

/// Who sent a signal, as far as siginfo tells (sigaction(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Linux itself: for a key of the terminal, which the whole group has got, or for something that concerns this process
    /// only, such as its limit of CPU time.
    Terminal,
    /// A process, by a call that reaches one process only (sigqueue(3), tgkill(2)).
    ToUsAlone,
    /// A process, by kill(2), which reaches one process or a whole group; siginfo does not tell which.
    Unclear {
        /// The process.
        pid: Option<i32>,
    },
}

/// Every signal of Linux has a number from 1 to this one.
const LAST: i32 = 64;

/// Signals that are not passed on to the shell when they are sent to fullbore alone: nobody can handle SIGKILL and SIGSTOP;
/// Rust and signal-hook keep those for faults of the program; SIGPIPE and SIGCHLD tell of our own pipes and children; Linux
/// stops this process by the signals of the terminal as it stops any other.
const KEPT: [i32; 11] = [
    SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGPIPE, SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU,
];

/// Two threads that listen: for signals, and for the ends of children.
#[derive(Debug)]
pub(crate) struct Events {
    receiver: Receiver<Event>,
    /// Tells the waiting thread which child is the shell.
    begin: mpsc::Sender<i32>,
    continued: Arc<AtomicBool>,
    shell_io: Arc<Mutex<Option<Io>>>,
}

impl Events {
    /// Makes ready to wait for children and to hear of signals. Call this before the pipeline is started, so
    /// that no signal is lost and nothing is started that could not be waited for. Signals wait until [`Hearing::begin`].
    ///
    /// A signal that was ignored when fullbore started (nohup, a background job) stays ignored, here and
    /// in the pipeline. With something on the terminal, a stop from the keyboard must be heard of first;
    /// without, Linux stops this process as it stops any other.
    ///
    /// # Errors
    /// [`Error::Signals`] or [`Error::Thread`] when Linux refuses.
    pub(crate) fn listen(shows_something: bool) -> Result<(Self, Hearing), Error> {
        let (sender, receiver) = channel();
        // By a handler, since the event comes through another thread: later than the sample that needs to know.
        let continued = Arc::<AtomicBool>::default();
        signal_hook::flag::register(SIGCONT, continued.clone()).map_err(Error::Signals)?;
        let hearing = Hearing::make_ready(shows_something, sender.clone())?;
        let (begin, shell) = channel();
        let shell_io = Arc::<Mutex<Option<Io>>>::default();
        let last_io = shell_io.clone();
        let waiting = move || {
            // No shell was started: there is nothing to wait for.
            let Ok(shell) = shell.recv() else { return };
            wait_for_children(shell, &last_io, &sender);
        };
        thread::Builder::new().name("wait".to_owned()).spawn(waiting).map_err(Error::Thread)?;
        Ok((Self { receiver, begin, continued, shell_io }, hearing))
    }

    /// The shell was started: from now on the ends of all children of this process are collected.
    pub(crate) fn begin(&self, shell: i32) {
        // The thread waits for exactly this message, so it is there to take it.
        let _ = self.begin.send(shell);
    }

    /// Becomes true when this process is continued after a stop (SIGCONT).
    pub(crate) fn continued(&self) -> &Arc<AtomicBool> {
        &self.continued
    }

    /// What the shell and the children that it had waited for read and wrote until it ended.
    pub(crate) fn shell_io(&self) -> Option<Io> {
        *self.shell_io.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where events come from.
    pub(crate) fn receiver(&self) -> &Receiver<Event> {
        &self.receiver
    }
}

/// Signals that wait to be heard. To register 50 handlers takes a quarter of a millisecond, for which the pipeline need not wait.
#[derive(Debug)]
pub(crate) struct Hearing {
    numbers: Vec<i32>,
    listener: Handle,
    held: HeldSignals,
}

impl Hearing {
    fn make_ready(shows_something: bool, to: mpsc::Sender<Event>) -> Result<Self, Error> {
        let own = Root::system().status(std::process::id().cast_signed()).unwrap_or_default();
        let is_passed_on = |number: &i32| !KEPT.contains(number) && !own.ignores(*number);
        let mut numbers: Vec<i32> = (1..=LAST).filter(is_passed_on).collect();
        if shows_something && !own.ignores(SIGTSTP) {
            numbers.push(SIGTSTP);
        }
        // Those for faults of a thread cannot be held. And with SIGCHLD ignored Linux forgets the exit status of children, from the
        // first one on.
        let cannot_wait = |number: &i32| [SIGTRAP, SIGABRT, SIGSYS].contains(number);
        let mut at_once: Vec<i32> = numbers.extract_if(.., |number| cannot_wait(number)).collect();
        if own.ignores(SIGCHLD) {
            at_once.push(SIGCHLD);
        }
        let mut signals = SignalsInfo::<WithOrigin>::new(at_once).map_err(Error::Signals)?;
        let listener = signals.handle();
        // Before the threads, which would end this process by a signal that it has no handler for yet.
        let held = hold_signals();
        let listen = move || {
            for origin in &mut signals {
                let Some(sender) = sender_of(&origin) else { continue };
                let event = Event::Signal { number: origin.signal, sender };
                if origin.signal != SIGCHLD && to.send(event).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(Error::Thread)?;
        Ok(Self { numbers, listener, held })
    }

    /// The signals that wait.
    pub(crate) fn held(&self) -> &HeldSignals {
        &self.held
    }

    /// Takes over signals, and those that have come meanwhile.
    pub(crate) fn begin(self) {
        for number in self.numbers {
            // The C library keeps two or three of the 64 for itself, and refuses them.
            let _ = self.listener.add_signal(number);
        }
    }
}

/// Who sent a signal; `None`: this process itself, by abort(3), or by writing a file larger than it may (SIGXFSZ).
fn sender_of(origin: &Origin) -> Option<Sender> {
    let pid = origin.process.map(|process| process.pid);
    if pid == Some(std::process::id().cast_signed()) {
        return None;
    }
    Some(match origin.cause {
        Cause::Sent(Sent::Queue | Sent::TKill) => Sender::ToUsAlone,
        Cause::Sent(_) => Sender::Unclear { pid },
        _ => Sender::Terminal,
    })
}

/// Collects all children of this process until the shell has ended.
fn wait_for_children(shell: i32, last_io: &Mutex<Option<Io>>, to: &mpsc::Sender<Event>) {
    let io_file = Root::system().hot_file(shell, "io");
    let mut buffer = [0; 512];
    loop {
        // Only until it is waited for can its counts be read.
        let news = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        let _ = retry_on_intr(|| waitid(WaitId::All, news));
        if let Some(io) = io_file.read(&mut buffer).and_then(Io::parse) {
            *last_io.lock().unwrap_or_else(PoisonError::into_inner) = Some(io);
        }
        let event = match wait(WaitOptions::UNTRACED) {
            Ok(Some((pid, status))) => event_of(pid.as_raw_nonzero().get(), status, shell),
            Ok(None) | Err(Errno::INTR) => continue,
            Err(errno) => Some(Event::WaitFailed(errno)),
        };
        let Some(event) = event else { continue };
        let is_last = matches!(event, Event::Ended(_) | Event::WaitFailed(_));
        if to.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Waits for the children that have ended, and returns the number and status (wait(2)) of each. The last ones of a pipeline
/// are left to fullbore by shells that wait only for its last stage (ksh93, yash). Linux counts their CPU time only then.
pub(crate) fn collect_ended() -> Vec<(i32, i32)> {
    let ended = || wait(WaitOptions::NOHANG).ok().flatten();
    std::iter::from_fn(ended)
        .map(|(pid, status)| (pid.as_raw_nonzero().get(), status.as_raw()))
        .collect()
}

/// What the news of a child means; `None`: nothing, such as the stop of a process that is not the shell.
fn event_of(pid: i32, status: WaitStatus, shell: i32) -> Option<Event> {
    match (pid == shell, status.stopping_signal()) {
        (true, Some(signal)) => Some(Event::Stopped(signal)),
        (true, None) => Some(Event::Ended(status)),
        (false, Some(_)) => None,
        (false, None) => Some(Event::OrphanEnded { pid, status: status.as_raw() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::WaitStatus;

    /// `WaitStatus` of a child that did this, from wait(2) itself.
    #[expect(clippy::zombie_processes, reason = "waitpid below collects it")]
    fn status_after(script: &str) -> WaitStatus {
        use rustix::process::{Pid, waitpid};
        let child = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        let (_, status) = waitpid(pid, WaitOptions::UNTRACED).unwrap().unwrap();
        if status.stopped() {
            let _ = rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL);
            let _ = waitpid(pid, WaitOptions::empty());
        }
        status
    }

    #[test]
    fn an_orphan_that_is_stopped_has_not_ended() {
        let stopped = status_after("kill -STOP $$");
        assert!(event_of(7, stopped, 8).is_none());
        assert!(matches!(event_of(8, stopped, 8), Some(Event::Stopped(_))));
        let ended = status_after("exit 3");
        assert!(matches!(
            event_of(7, ended, 8),
            Some(Event::OrphanEnded { pid: 7, status: 0x300 })
        ));
    }
}
