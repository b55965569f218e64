//! The run itself: start, sample, account, tune, pass signals on, and report.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use fullbore_measure::Host;
use fullbore_pipe::Limits;
use fullbore_proc::{CpuTimes, Root, State, clock_ticks_per_second, host};
use fullbore_process::children_cpu_time;
use fullbore_profile::Profile;
use rustix::time::ClockId;
use signal_hook::consts::signal::{SIGCONT, SIGINT, SIGQUIT, SIGSTOP, SIGTSTP};

use crate::counting::Counting;
use crate::observed::Observed;
use crate::onlooker::Onlooker;
use crate::pace::Pace;
use crate::recording::{End, Recorder, Start};
use crate::sampler::Sampler;
use crate::subject::{
    Doubt, Event, Events, Exact, Sender, Started, as_shell_reports, collect_ended, start,
};
use crate::summarise::{Frame, Numbers, record};
use crate::topology::pipes::Pipes;
use crate::topology::{Roots, Topology};
use crate::tune::{Tuner, Tuning};
use crate::wake::Waking;
use crate::watch::{Watch, cpu_time, nanoseconds};
use crate::{Command, Error};
use fullbore_diagnose::diagnose;
use fullbore_record::{Job, RunRecord, Snapshot};

/// How a run is watched.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// What may be done to pipes.
    pub tuning: Tuning,
    /// Whether idle CPUs may be kept awake while that makes the pipeline faster.
    pub keep_awake: bool,
    /// A folder of the user that Linux empties when the machine is started (`XDG_RUNTIME_DIR`): what was measured of the
    /// machine is kept there for other runs, unless others can enter it.
    pub remember_in: Option<PathBuf>,
    /// Whether every switch is counted.
    pub exact: Exact,
    /// Whether the CPU and Linux count for each stage.
    pub counters: bool,
    /// Whether stacks are taken, for [`Finished::profile`].
    pub profile: bool,
    /// Where to record every sample, for [`crate::replay`].
    pub samples: Option<File>,
    /// The job that the run belongs to, for the record.
    pub job: Option<Job>,
}

/// A run that has ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished {
    /// Everything seen.
    pub record: RunRecord,
    /// Signal that ended the shell, if one did.
    pub signal: Option<i32>,
    /// A change to a pipe was refused.
    pub was_refused: bool,
    /// Somebody pressed Ctrl-C or Ctrl-\\, which a terminal shows in the line where its cursor is.
    pub was_interrupted: bool,
    /// Where the time of each stage went, down to functions, where that was wanted.
    pub profile: Option<Profile>,
}

/// Runs a command to its end.
///
/// A run takes over the whole process it is called in, for good: it handles signals, becomes the subreaper of
/// its descendants (prctl(2)), collects *every* child that ends, raises its own limit on open files, makes its own
/// timers exact (PR_SET_TIMERSLACK) and its slices short (sched_setattr(2)), and once the pipeline was started turns standard input and output into `/dev/null`
/// and closes every descriptor that was inherited. It is meant for a program whose one task this is.
///
/// # Errors
/// When the command could not be started, or its end not be learned. Failing to watch or to tune is no error:
/// the record says so.
pub fn run(
    command: &Command,
    options: Options,
    onlooker: &mut dyn Onlooker,
) -> Result<Finished, Error> {
    let children = children_cpu_time();
    let (events, hearing) = Events::listen(onlooker.interval().is_some())?;
    let started = start(command, options.exact, options.profile, hearing.held())?;
    events.begin(started.pid);
    hearing.begin();
    // What the machine is does not change, so it is read while the program is loaded.
    let before = Before { children, cpus: Root::system().cpu_times() };
    let host = host(&Root::system());
    let continued = events.continued().clone();
    Session::begin(command, options, (host, before), started, continued)
        .watch_to_the_end(&events, onlooker)
}

/// Stolen CPU time worth a sentence: in idle minutes there is a percent or two on a shared host.
const STOLEN_PERCENT: f64 = 5.0;

/// Linux counts stolen time in ticks of some milliseconds: a shorter run has too few of them for a share.
const STOLEN_FROM_NS: u64 = 100_000_000;

/// Linux takes a process apart within this time, unless it closes files on a slow disk.
const LAST_MOMENTS: Duration = Duration::from_millis(20);

/// A sample this late after fullbore was continued stands for time in which the pipeline was stopped with it.
const STOPPED_FROM: Duration = Duration::from_millis(20);

/// What ended this long before a signal was heard of may have ended of it.
const A_MOMENT_NS: u64 = 500_000_000;

/// A shell reports an end by a signal as this and the number of the signal.
const FROM_SIGNAL: i32 = 128;

/// A run that is being watched.
struct Session {
    command: String,
    host: Host,
    job: Option<Job>,
    started: Started,
    watch: Watch,
    pace: Pace,
    /// Signals of which it is not known yet whether the shell got them, too.
    doubts: Vec<Doubt>,
    /// A key of the terminal asked the pipeline to end.
    was_interrupted: bool,
    beat: Beat,
    waking: Waking,
    before: Before,
}

/// When samples are taken.
struct Beat {
    /// When the last one was taken, how long to wait from then on, and when the next one is due.
    last_ns: u64,
    pause: Duration,
    next: Instant,
    /// This process was continued (SIGCONT) since the last one.
    continued: Arc<AtomicBool>,
}

/// Counts that go on from run to run, as they were before this one.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// CPU time of children that this process had waited for.
    children: Option<Duration>,
    cpus: Option<CpuTimes>,
}

/// What became of the CPUs during a run, as far as its stages did not use them.
#[derive(Clone, Copy, Debug)]
struct Used {
    /// Time in which they had nothing to do, summed over them.
    idle_ns: Option<u64>,
    /// What fullbore itself used.
    observer_ns: u64,
}

fn observer_cpu_ns() -> u64 {
    nanoseconds(cpu_time(ClockId::ProcessCPUTime))
}

impl Session {
    fn begin(
        command: &Command,
        options: Options,
        (host, before): (Host, Before),
        mut started: Started,
        continued: Arc<AtomicBool>,
    ) -> Self {
        let own = std::process::id().cast_signed();
        let roots = Roots {
            shell: started.pid,
            shell_words: command.shell_words(),
            own,
            words_after_line: command.words_after_line(),
        };
        let limits =
            Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes);
        let sampler =
            Sampler::new(Root::system(), own, started.strangers.clone(), started.switches.take());
        let gaps: Vec<String> = started.gaps.iter().chain(sampler.gaps()).cloned().collect();
        let start = Start {
            command: command.text(),
            roots: roots.clone(),
            outside: started.outside.iter().map(|id| (id.device, id.inode)).collect(),
            host: host.clone(),
            tuning: options.tuning,
            started_unix_ns: started.unix_ns,
            gaps: gaps.clone(),
        };
        let recorder = Recorder::begin(options.samples, start);
        let topology = Topology::new(roots, Pipes::new(started.outside.clone()));
        let tuner = Tuner::new(options.tuning, limits);
        let mut observed = Observed::new(topology, host.cpus, tuner);
        observed.gaps.extend(gaps);
        Self {
            command: command.text(),
            watch: Watch {
                sampler,
                observed,
                recorder,
                tuning: options.tuning,
                counting: options.counters.then(Counting::default),
                profiling: started.profiling.take(),
            },
            pace: Pace::new(started.unix_ns).for_profile(options.profile),
            doubts: Vec::new(),
            was_interrupted: false,
            beat: Beat { last_ns: 0, pause: Duration::ZERO, next: started.at, continued },
            waking: Waking::new(options.keep_awake, options.remember_in.as_deref()),
            before,
            host,
            job: options.job,
            started,
        }
    }

    fn watch_to_the_end(
        mut self,
        events: &Events,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Finished, Error> {
        let mut next_show = onlooker.interval().map(|interval| self.started.at + interval);
        let status = loop {
            let due = self.doubts.iter().map(|doubt| doubt.due).chain([self.beat.next]).min();
            let patience = due.unwrap_or(self.beat.next).saturating_duration_since(Instant::now());
            match events.receiver().recv_timeout(patience) {
                Ok(Event::Ended(status)) => break status.as_raw(),
                Ok(Event::WaitFailed(errno)) => return Err(Error::Wait(errno.into())),
                Ok(event) => self.answer(event, onlooker),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Wait(std::io::Error::other("the waiting thread ended")));
                }
            }
            self.settle_doubts();
            if Instant::now() >= self.beat.next {
                let spent = self.sample(self.elapsed_ns());
                self.beat.pause = self.pace.next(self.elapsed_ns(), spent);
                self.beat.next = Instant::now() + self.beat.pause;
                next_show = self.show(next_show, onlooker);
            }
        };
        if let Some(io) = events.shell_io() {
            self.watch.sampler.note_shell_io(self.started.pid, io.into());
        }
        Ok(self.finish(status))
    }

    fn sample(&mut self, now_ns: u64) -> Duration {
        // Counted from the last one, in the midst of which the stop may have come.
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.beat.last_ns, now_ns));
        let is_late = passed_ns >= nanoseconds(self.beat.pause + STOPPED_FROM);
        if self.beat.continued.swap(false, Ordering::Relaxed) && is_late {
            self.watch.sampler.all_were_stopped();
        }
        let (waking, pace) = (&mut self.waking, &mut self.pace);
        self.watch.sample(now_ns, |accounts, look| {
            pace.take_in(accounts, look);
            waking.take_in(accounts, look);
        })
    }

    fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.started.at.elapsed())
    }

    /// CPU time of the processes of this run that were waited for.
    fn children_cpu_ns(&self) -> Option<u64> {
        Some(nanoseconds(children_cpu_time()?.saturating_sub(self.before.children?)))
    }

    /// Time in which CPUs had nothing to do since the run began, summed over them.
    fn idle_cpu_ns(&self) -> Option<u64> {
        let idle_ticks =
            Root::system().cpu_times()?.idle_ticks.checked_sub(self.before.cpus?.idle_ticks)?;
        Some(idle_ticks * (1_000_000_000 / clock_ticks_per_second().max(1)))
    }

    fn show(&mut self, due: Option<Instant>, onlooker: &mut dyn Onlooker) -> Option<Instant> {
        let due = due?;
        if Instant::now() < due {
            return Some(due);
        }
        onlooker.show(&self.snapshot());
        onlooker.interval().map(|interval| Instant::now() + interval)
    }

    fn record(
        &self,
        elapsed_ns: u64,
        used: Used,
        exit_status: Option<i32>,
    ) -> (RunRecord, Numbers) {
        let frame = Frame {
            command: &self.command,
            started_unix_ns: self.started.unix_ns,
            elapsed_ns,
            exit_status,
            job: self.job.as_ref(),
            cpu_ns: exit_status.and_then(|_| self.children_cpu_ns()),
            observer_cpu_ns: used.observer_ns,
            idle_cpu_ns: used.idle_ns,
            wake_ups: self.waking.outcome(),
            host: &self.host,
        };
        let (mut record, numbers) = record(&self.watch.observed, &frame);
        record.findings = diagnose(&record);
        (record, numbers)
    }

    fn snapshot(&mut self) -> Snapshot {
        self.watch.learn_statuses();
        let used = Used { idle_ns: self.idle_cpu_ns(), observer_ns: observer_cpu_ns() };
        let (record, numbers) = self.record(self.elapsed_ns(), used, None);
        self.watch.snapshot(record, &numbers)
    }

    fn answer(&mut self, event: Event, onlooker: &mut dyn Onlooker) {
        match event {
            Event::Signal { number, sender } => {
                self.take_signal(number, sender);
                if number == SIGTSTP {
                    onlooker.pause();
                    stop_self(SIGSTOP);
                }
            }
            Event::Stopped(signal) => {
                // Stop, too, so that whoever started us sees it.
                if self.stays_stopped() {
                    onlooker.pause();
                    stop_self(signal);
                    self.started.signal(SIGCONT);
                }
            }
            Event::OrphanEnded { pid, status } => {
                self.watch.note_status(pid, as_shell_reports(status))
            }
            Event::Ended(_) | Event::WaitFailed(_) => {}
        }
    }

    fn take_signal(&mut self, number: i32, sender: Sender) {
        match sender {
            // To continue twice is to continue once.
            _ if number == SIGCONT => self.started.signal(number),
            Sender::ToUsAlone => self.started.signal(number),
            Sender::Terminal => self.was_interrupted |= matches!(number, SIGINT | SIGQUIT),
            Sender::Unclear { pid } => {
                let processes = self.watch.observed.topology.processes.iter();
                let known = processes.map(|(pid, process)| (*pid, process.first_ns));
                let a_moment_ago_ns = self.elapsed_ns().saturating_sub(A_MOMENT_NS);
                let root = Root::system();
                self.doubts.push(Doubt::new(&root, number, pid, known, a_moment_ago_ns));
            }
        }
    }

    /// Passes on the signals that turn out to have been sent to fullbore alone.
    fn settle_doubts(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.doubts)
            .into_iter()
            .partition::<Vec<_>, _>(|doubt| doubt.due <= now);
        self.doubts = later;
        for doubt in due {
            let status_of = |pid| self.watch.sampler.leaders.status_of(pid);
            let ended: Vec<(i32, u64)> =
                self.watch.sampler.leaders.ended_since(doubt.since_ns).collect();
            if doubt.must_pass_on(&Root::system(), self.started.pid, &ended, status_of) {
                self.started.signal(doubt.number);
            }
        }
    }

    /// Whether the shell is stopped and stays so: after Ctrl-Z and `fg` the news of the stop may reach
    /// us when all are being continued.
    fn stays_stopped(&self) -> bool {
        let is_stopped = || {
            Root::system().stat(self.started.pid).is_some_and(|stat| stat.state == State::Stopped)
        };
        // Far longer than it takes Linux to continue the processes of a group one after the other.
        let deadline = Instant::now() + Duration::from_millis(30);
        while Instant::now() < deadline {
            if !is_stopped() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        true
    }

    /// What a run should know when the host of this virtual machine ran something else on its CPUs.
    fn stolen_time(&self, elapsed_ns: u64) -> Option<String> {
        if elapsed_ns < STOLEN_FROM_NS {
            return None;
        }
        let percent = Root::system().cpu_times()?.stolen_percent_since(self.before.cpus?)?;
        (percent >= STOLEN_PERCENT).then(|| {
            format!(
                "the host of this virtual machine took away {percent:.0} % of its CPU time (steal): shares may be off, \
                 and another run may come out differently"
            )
        })
    }

    /// Waits for the processes that the shell left, as far as they have ended or are about to.
    fn collect_the_last(&mut self) {
        let deadline = Instant::now() + LAST_MOMENTS;
        loop {
            for (pid, status) in collect_ended() {
                self.watch.note_status(pid, as_shell_reports(status));
            }
            let known = self.watch.observed.topology.processes.keys();
            let own = std::process::id().cast_signed();
            let ends = |pid: &i32| {
                let stat = Root::system().stat(*pid);
                stat.is_some_and(|stat| stat.is_exiting && stat.parent == own)
            };
            if !known.copied().any(|pid| ends(&pid)) || Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(LAST_MOMENTS / 64);
        }
    }

    fn finish(mut self, status: i32) -> Finished {
        let exit_status = as_shell_reports(status);
        let elapsed_ns = self.elapsed_ns();
        self.sample(elapsed_ns);
        self.watch.learn_statuses();
        // Only now, since nothing can be read about a process that was waited for.
        self.collect_the_last();
        self.watch.note_status(self.started.pid, exit_status);
        self.watch.finish(Duration::ZERO);
        // Before a price is measured, which is no part of the run.
        let used = Used { idle_ns: self.idle_cpu_ns(), observer_ns: observer_cpu_ns() };
        let gaps: Vec<String> = self.stolen_time(elapsed_ns).into_iter().collect();
        let is_in_a_hurry = self.was_interrupted || status & 0x7f != 0;
        self.waking.finish(&self.watch.observed.accounts, elapsed_ns, is_in_a_hurry);
        self.watch.observed.gaps.extend(gaps.iter().cloned());
        let (mut record, numbers) = self.record(elapsed_ns, used, Some(exit_status));
        if let Some(counting) = self.watch.counting.take() {
            counting.finish(&mut record, &self.watch.observed.topology, &numbers);
        }
        let profile = self.watch.profile(&record, &numbers);
        let cpu_ns = record.cpu_ns;
        let wake_ups = self.waking.outcome();
        self.watch.recorder.end(&End {
            elapsed_ns,
            exit_status,
            cpu_ns,
            observer_cpu_ns: used.observer_ns,
            idle_cpu_ns: used.idle_ns,
            wake_ups,
            gaps,
        });
        let signal = (status & 0x7f != 0).then_some(status & 0x7f);
        // The end of the shell may be heard of before the signal that ended it.
        let was_interrupted =
            self.was_interrupted || [SIGINT, SIGQUIT].contains(&(exit_status - FROM_SIGNAL));
        let was_refused = self.watch.observed.tuner.was_refused();
        Finished { record, signal, was_refused, was_interrupted, profile }
    }
}

/// Stops this process until someone continues it.
pub(crate) fn stop_self(signal: i32) {
    use rustix::process::{Signal, getpid, kill_process};
    // A signal that is handled here (for the live view) would not stop: SIGSTOP always does.
    let signal = Signal::from_named_raw(signal).unwrap_or(Signal::STOP);
    let _ = kill_process(getpid(), signal);
}
