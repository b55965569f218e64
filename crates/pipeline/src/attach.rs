//! Watching a pipeline that somebody else started, and leaving it as it was.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fullbore_diagnose::diagnose;
use fullbore_measure::Host;
use fullbore_pipe::Limits;
use fullbore_proc::{Root, State, clock_ticks_per_second, host};
use fullbore_record::{PipeRecord, RunRecord};
use rustix::time::ClockId;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use crate::observed::Observed;
use crate::onlooker::Onlooker;
use crate::pace::Pace;
use crate::recording::{End, Recorder, Start};
use crate::sampler::{Guests, Sampler};
use crate::session::{Finished, stop_self};
use crate::summarise::{Frame, Numbers, record};
use crate::topology::pipes::Pipes;
use crate::topology::{Roots, Topology};
use crate::tune::{Tuner, Tuning};
use crate::wake::WakeUps;
use crate::watch::{Watch, cpu_time, nanoseconds};
use crate::{AttachError, Error};

/// How a pipeline of others is watched.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AttachOptions {
    /// What may be done to pipes. With [`Tuning::Off`], none is opened.
    pub tuning: Tuning,
    /// How long to watch; `None`: until it ends or a signal comes.
    pub duration: Option<Duration>,
    /// Where to record every sample, for [`crate::replay`].
    pub samples: Option<File>,
}

/// Pipes that are too full to shrink are given this long to be read.
const PATIENCE: Duration = Duration::from_secs(1);

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
    Attached::begin(pid, options, host(&root)).watch(&signals, onlooker)
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

/// A pipeline of others that is being watched.
struct Attached {
    pid: i32,
    host: Host,
    watch: Watch,
    pace: Pace,
    at: Instant,
    unix_ns: u64,
    /// How long it had run, as far as its processes tell.
    age_ns: Option<u64>,
    duration: Option<Duration>,
}

impl Attached {
    fn begin(pid: i32, options: AttachOptions, host: Host) -> Self {
        let own = std::process::id().cast_signed();
        let may_ask = options.tuning != Tuning::Off;
        let sampler = Sampler::new(Root::system(), own, BTreeSet::new(), None)
            .of_guests(Guests::new(pid, own, may_ask));
        let roots = Roots { shell: 0, shell_words: Vec::new(), own };
        let limits =
            Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut gaps = sampler.gaps().to_vec();
        if Root::system().try_fds(pid).is_err() {
            gaps.push(format!(
                "which pipes process {pid} holds may not be seen (it is another user's): the rest of its pipeline is \
                 unknown; root can see it"
            ));
        }
        let start = Start {
            command: String::new(),
            roots: roots.clone(),
            outside: Vec::new(),
            host: host.clone(),
            tuning: options.tuning,
            started_unix_ns: nanoseconds(since),
            gaps: gaps.clone(),
        };
        let topology = Topology::new(roots, Pipes::default());
        let mut observed = Observed::new(topology, host.cpus, Tuner::new(options.tuning, limits));
        observed.gaps.extend(gaps);
        let recorder = Recorder::begin(options.samples, start);
        Self {
            pid,
            host,
            watch: Watch { sampler, observed, recorder, tuning: options.tuning },
            pace: Pace::new(nanoseconds(since)),
            at: Instant::now(),
            unix_ns: nanoseconds(since),
            age_ns: None,
            duration: options.duration,
        }
    }

    fn watch(
        mut self,
        signals: &Receiver<i32>,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Finished, Error> {
        let end = self.duration.map(|duration| self.at + duration);
        let mut next_show = onlooker.interval().map(|interval| self.at + interval);
        loop {
            let elapsed_ns = nanoseconds(self.at.elapsed());
            let spent = self.watch.sample(elapsed_ns, |_, _| {});
            if self.age_ns.is_none() {
                self.age_ns = self.age_ns();
            }
            if self.watch.observed.topology.processes.is_empty() {
                break;
            }
            if let Some(due) = next_show.filter(|due| Instant::now() >= *due) {
                self.watch.learn_statuses();
                let (record, numbers) = self.record();
                onlooker.show(&self.watch.snapshot(record, &numbers));
                next_show = onlooker.interval().map(|interval| due + interval);
            }
            let next = Instant::now() + self.pace.next(elapsed_ns, spent);
            let until = end.map_or(next, |end| end.min(next));
            match signals.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(SIGTSTP) => {
                    onlooker.pause();
                    stop_self(SIGSTOP);
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
        }
        self.finish()
    }

    /// How long the oldest process of the pipeline had run when watching began.
    fn age_ns(&self) -> Option<u64> {
        let root = Root::system();
        let started = |pid: &i32| Some(root.stat(*pid)?.start_ticks);
        let oldest = self.watch.observed.topology.processes.keys().filter_map(started).min()?;
        let started_ns = oldest.saturating_mul(1_000_000_000 / clock_ticks_per_second().max(1));
        let now_ns = nanoseconds(cpu_time(ClockId::Boottime));
        Some(now_ns.saturating_sub(started_ns).saturating_sub(nanoseconds(self.at.elapsed())))
    }

    fn record(&self) -> (RunRecord, Numbers) {
        let frame = Frame {
            command: "",
            started_unix_ns: self.unix_ns.saturating_sub(self.age_ns.unwrap_or(0)),
            elapsed_ns: nanoseconds(self.at.elapsed()),
            exit_status: None,
            job: None,
            cpu_ns: None,
            observer_cpu_ns: nanoseconds(cpu_time(ClockId::ProcessCPUTime)),
            wake_ups: WakeUps::default(),
            host: &self.host,
        };
        let (mut record, numbers) = record(&self.watch.observed, &frame);
        record.command = line_of(&record);
        record.attached_at_ns = Some(self.age_ns.unwrap_or(0).max(1));
        record.findings = diagnose(&record);
        (record, numbers)
    }

    fn finish(mut self) -> Result<Finished, Error> {
        self.watch.learn_statuses();
        let is_restored = self.watch.finish(PATIENCE);
        let (mut record, _) = self.record();
        if record.stages.is_empty() {
            return Err(Error::Attach(AttachError::NoProcess(self.pid)));
        }
        if !self.watch.observed.topology.processes.is_empty() {
            record.gaps.push("the pipeline went on when watching ended".to_owned());
        }
        if !is_restored {
            let gap = "a pipe keeps more than its old capacity: too much was in it to shrink it";
            record.gaps.push(gap.to_owned());
        }
        self.watch.recorder.end(&End {
            elapsed_ns: record.elapsed_ns,
            exit_status: 0,
            cpu_ns: None,
            observer_cpu_ns: record.observer_cpu_ns,
            wake_ups: WakeUps::default(),
            gaps: Vec::new(),
        });
        let was_refused = self.watch.observed.tuner.was_refused();
        Ok(Finished { record, signal: None, was_refused })
    }
}

/// The stages as somebody would write them, if each reads from the one before.
fn line_of(record: &RunRecord) -> String {
    let is_joined = |pair: &[u32]| {
        let joins =
            |pipe: &PipeRecord| pipe.writers.contains(&pair[0]) && pipe.readers.contains(&pair[1]);
        record.pipes.iter().any(joins)
    };
    let numbers: Vec<u32> = record.stages.iter().map(|stage| stage.stage).collect();
    let commands: Vec<&str> = record.stages.iter().map(|stage| stage.command.as_str()).collect();
    let between = if numbers.windows(2).all(is_joined) { " | " } else { "; " };
    commands.join(between)
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
