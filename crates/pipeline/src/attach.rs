//! Watching a pipeline that somebody else started, and leaving it as it was.

use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use fullbore_measure::Bytes;
use fullbore_pipe::PipeId;
use fullbore_proc::{Root, State, host};
use fullbore_record::Snapshot;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use crate::attached::Attached;
use crate::onlooker::Onlooker;
use crate::pace::Pace;
use crate::sampler::Guests;
use crate::session::{Finished, stop_self};
use crate::tune::{AdjustError, Adjusted, Tuning};
use crate::{AttachError, Error};

/// How a pipeline of others is watched.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AttachOptions {
    /// What may be done to pipes. With [`Tuning::Off`], none is opened.
    pub tuning: Tuning,
    /// How long to watch; `None`: until it ends or a signal comes.
    pub duration: Option<Duration>,
    /// Whether stacks are taken, for [`Finished::profile`].
    pub profile: bool,
    /// Where to record every sample, for [`crate::replay`].
    pub samples: Option<File>,
}

/// Watches the pipeline that a process is in, until it ends, the time is over, or SIGINT, SIGTERM or SIGHUP comes, which
/// does nothing to the pipeline.
///
/// Which processes are of it is found out by the ends of pipes that they hold. No process is stopped. Whatever the record
/// counts, it counts from the moment at which watching began.
///
/// # Errors
/// When there is nothing to watch ([`Error::Attach`]), or signals could not be taken over.
pub fn attach(
    pid: i32,
    options: AttachOptions,
    onlooker: &mut dyn Onlooker,
) -> Result<Finished, Error> {
    let root = Root::system();
    may_be_watched(&root, pid).map_err(Error::Attach)?;
    let signals = listen(onlooker.interval().is_some())?;
    let _ = fullbore_process::raise_file_limit(None);
    let _ = fullbore_process::wake_on_time();
    let own = std::process::id().cast_signed();
    let guests = Guests::named(pid, own, options.tuning != Tuning::Off);
    let mut attached = Attached::begin(pid, guests, options.tuning, host(&root), options.samples);
    if options.profile {
        attached.sample();
        attached.take_stacks();
    }
    watch(&mut attached, options.duration, &signals, onlooker);
    let was_refused = attached.watch.observed.tuner.was_refused();
    let (record, profile) = attached.finish();
    if record.stages.is_empty() {
        return Err(Error::Attach(AttachError::NoProcess(pid)));
    }
    Ok(Finished { record, signal: None, was_refused, was_interrupted: false, profile })
}

/// Whether a process is one whose pipeline can be watched.
fn may_be_watched(root: &Root, pid: i32) -> Result<(), AttachError> {
    let stat = root.stat(pid).filter(|stat| stat.state != State::Ended);
    let stat = stat.ok_or(AttachError::NoProcess(pid))?;
    if pid == std::process::id().cast_signed() {
        return Err(AttachError::Own);
    }
    // Process 2 starts all threads of the kernel.
    if pid == 2 || stat.parent == 2 {
        return Err(AttachError::Kernel(pid));
    }
    Ok(())
}

/// After so much time a process holds only what it uses.
const SETTLED: Duration = Duration::from_millis(5);

/// A pipeline of others that is looked at once.
pub struct Visit {
    attached: Attached,
}

impl Visit {
    /// Looks at the pipeline that a process is in; its pipes are asked for their capacity.
    ///
    /// # Errors
    /// [`Error::Attach`] when there is nothing to look at.
    pub fn begin(pid: i32) -> Result<Self, Error> {
        let root = Root::system();
        may_be_watched(&root, pid).map_err(Error::Attach)?;
        let own = std::process::id().cast_signed();
        let guests = Guests::named(pid, own, true);
        let mut attached = Attached::begin(pid, guests, Tuning::Off, host(&root), None);
        // A process that has just been seen may be a copy of a shell that holds more than it will use.
        for pause in [Duration::ZERO, SETTLED, SETTLED] {
            thread::sleep(pause);
            attached.sample();
        }
        if attached.has_ended() {
            return Err(Error::Attach(AttachError::NoProcess(pid)));
        }
        Ok(Self { attached })
    }

    /// What was seen: stages and pipes; no times yet.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        self.attached.snapshot()
    }

    /// Which pipe has a number in the record.
    #[must_use]
    pub fn pipe_id(&self, pipe: u32) -> Option<PipeId> {
        self.attached.pipe_id(pipe)
    }

    /// Gives a pipe a capacity, by its number in the record. Linux rounds it up to a power of two of pages.
    ///
    /// # Errors
    /// When the pipe keeps the capacity it has.
    pub fn adjust(&mut self, pipe: u32, to: Bytes) -> Result<Adjusted, AdjustError> {
        self.attached.adjust(pipe, to)
    }
}

/// Watches until the pipeline ends, the time is over, or a signal comes.
fn watch(
    attached: &mut Attached,
    duration: Option<Duration>,
    signals: &Receiver<i32>,
    onlooker: &mut dyn Onlooker,
) {
    let begin = Instant::now();
    // What holds more than it will use is seen to have closed that.
    attached.sample();
    thread::sleep(SETTLED);
    let seed = u64::from(std::process::id()) ^ attached.elapsed_ns();
    let mut pace = Pace::new(seed).for_profile(attached.watch.profiling.is_some());
    let end = duration.map(|duration| begin + duration);
    let mut next_show = onlooker.interval().map(|interval| begin + interval);
    loop {
        let spent = attached.sample_and(|accounts, look| pace.take_in(accounts, look));
        if attached.has_ended() {
            return;
        }
        if let Some(due) = next_show.filter(|due| Instant::now() >= *due) {
            onlooker.show(&attached.snapshot());
            next_show = onlooker.interval().map(|interval| due + interval);
        }
        let next = Instant::now() + pace.next(attached.elapsed_ns(), spent);
        let until = end.map_or(next, |end| end.min(next));
        match signals.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(SIGTSTP) => {
                onlooker.pause();
                stop_self(SIGSTOP);
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return;
        }
    }
}

/// Signals that end watching, or stop fullbore.
fn listen(shows_something: bool) -> Result<Receiver<i32>, Error> {
    let mut numbers = vec![SIGINT, SIGTERM, SIGHUP];
    let own = Root::system().status(std::process::id().cast_signed()).unwrap_or_default();
    numbers.extend(shows_something.then_some(SIGTSTP));
    numbers.retain(|number| !own.ignores(*number));
    let mut signals = Signals::new(numbers).map_err(Error::Signals)?;
    let (sender, receiver) = channel();
    let listen = move || {
        for number in signals.forever() {
            if sender.send(number).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(Error::Thread)?;
    Ok(receiver)
}
