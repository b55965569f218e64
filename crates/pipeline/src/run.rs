//! The run itself: start, watch, tune, pass signals on, and report.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use fullbore_measure::Host;
use fullbore_pipe::Limits;
use fullbore_proc::{Root, State, host};
use signal_hook::consts::signal::{SIGCONT, SIGSTOP, SIGTSTP};

use crate::diagnose::diagnose;
use crate::discover::Likeness;
use crate::events::{Event, as_shell_reports, take_over_signals, wait_for_children};
use crate::observe::Watch;
use crate::record::{RunRecord, Snapshot};
use crate::spawn::{Started, start};
use crate::summarise::Frame;
use crate::tune::{Tuner, Tuning};
use crate::{Command, Error};

/// How a run is watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What may be done to pipes.
    pub tuning: Tuning,
}

/// Someone who looks on while the pipeline runs.
pub trait Onlooker {
    /// How often [`Onlooker::show`] is called; `None`: never.
    fn interval(&self) -> Option<Duration>;
    /// Shows the record so far.
    fn show(&mut self, snapshot: &Snapshot);
    /// The run is about to be stopped (Ctrl-Z): leave the terminal as it was.
    fn pause(&mut self);
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Everything seen.
    pub record: RunRecord,
    /// Signal that ended the shell, if one did.
    pub signal: Option<i32>,
    /// A change to a pipe was refused.
    pub was_refused: bool,
}

/// Runs a command to its end.
///
/// # Errors
/// When it could not be started, or its end not be learned. Failing to watch or to tune is no error:
/// it is said in the record.
pub fn run(
    command: &Command,
    options: Options,
    onlooker: &mut dyn Onlooker,
) -> Result<Finished, Error> {
    let host = host(&Root::system());
    let (sender, events) = take_over_signals(onlooker.interval().is_some())?;
    let started = start(command)?;
    wait_for_children(started.pid, sender)?;
    look_on_time();
    let mut watch = Watch::begin(&started, command, host.cpus);
    if Root::system().stat(std::process::id().cast_signed()).is_none() {
        watch
            .gaps
            .insert("/proc cannot be read here: nothing of this run could be seen".to_owned());
    }
    let tuner = Tuner::new(options.tuning, limits(&host));
    Run { command: command.text(), host, started, watch, tuner }.watch_to_the_end(&events, onlooker)
}

fn limits(host: &Host) -> Limits {
    Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes)
}

struct Run {
    command: String,
    host: Host,
    started: Started,
    watch: Watch,
    tuner: Tuner,
}

/// Looks follow each other this closely at first …
const FIRST_INTERVAL_NS: u64 = 1_000_000;
/// … then this part of the time run so far, …
const INTERVAL_SHARE: u64 = 100;
/// … at most this in the first second, which decides about tuning, …
const EARLY_INTERVAL_NS: u64 = 2_000_000;
const EARLY_NS: u64 = 1_000_000_000;
/// … and in the long run this: 50 looks a second cost 0.3 % of a CPU with four stages.
const LAST_INTERVAL_NS: u64 = 20_000_000;
/// Never longer than this, or stages come and go unseen.
const LONGEST_INTERVAL_NS: u64 = 250_000_000;
/// In the first moments looks follow each other even more closely: short stages come and go.
const BIRTH_NS: u64 = 12_000_000;
const BIRTH_INTERVAL_NS: u64 = 250_000;
/// Looking may take this part of a CPU, whatever the number of stages …
const OBSERVER_SHARE: u64 = 60;
/// … and at first, when much is new, this.
const EARLY_OBSERVER_SHARE: u64 = 10;

impl Run {
    fn watch_to_the_end(
        mut self,
        events: &Receiver<Event>,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Finished, Error> {
        let mut next_show = onlooker.interval().map(|interval| self.started.at + interval);
        let mut next_look = self.started.at;
        let mut random = Jitter(self.started.unix_ns | 1);
        let status = loop {
            match events.recv_timeout(next_look.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(status)) => break status.as_raw(),
                Ok(Event::WaitFailed(errno)) => return Err(Error::Wait(errno.into())),
                Ok(event) => self.answer(event, onlooker),
                Err(RecvTimeoutError::Timeout) => {
                    let spent = self.look();
                    next_look = Instant::now()
                        + Duration::from_nanos(random.around(self.interval_ns(spent)));
                    next_show = self.show(next_show, onlooker);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Wait(std::io::Error::other("the waiting thread ended")));
                }
            }
        };
        Ok(self.finish(status))
    }

    /// Looks once; returns the time it took.
    fn look(&mut self) -> Duration {
        let begin = Instant::now();
        let now_ns = self.elapsed_ns();
        self.watch.look(now_ns);
        self.tuner.step(&mut self.watch, now_ns);
        begin.elapsed()
    }

    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.at.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn interval_ns(&self, spent: Duration) -> u64 {
        let elapsed_ns = self.elapsed_ns();
        if elapsed_ns < BIRTH_NS {
            return BIRTH_INTERVAL_NS;
        }
        let wanted_ns = if elapsed_ns < EARLY_NS {
            (elapsed_ns / INTERVAL_SHARE).clamp(FIRST_INTERVAL_NS, EARLY_INTERVAL_NS)
        } else {
            (elapsed_ns / (INTERVAL_SHARE * 5)).clamp(EARLY_INTERVAL_NS, LAST_INTERVAL_NS)
        };
        let spent_ns = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        let share = if elapsed_ns < EARLY_NS { EARLY_OBSERVER_SHARE } else { OBSERVER_SHARE };
        wanted_ns.max(spent_ns.saturating_mul(share).min(LONGEST_INTERVAL_NS))
    }

    fn show(&mut self, due: Option<Instant>, onlooker: &mut dyn Onlooker) -> Option<Instant> {
        let due = due?;
        if Instant::now() < due {
            return Some(due);
        }
        onlooker.show(&self.snapshot());
        onlooker.interval().map(|interval| Instant::now() + interval)
    }

    fn frame(&self, exit_status: i32) -> Frame<'_> {
        Frame {
            command: &self.command,
            started_unix_ns: self.started.unix_ns,
            elapsed_ns: self.elapsed_ns(),
            exit_status,
            host: &self.host,
            attempts: &self.tuner.attempts,
        }
    }

    fn snapshot(&self) -> Snapshot {
        let (mut record, numbers) = self.watch.record(&self.frame(0));
        record.findings = diagnose(&record);
        let pipe_fill_bytes =
            numbers.pipe_order.iter().map(|index| self.watch.fill(*index)).collect();
        let stage_is_alive =
            numbers.stage_order.iter().map(|index| self.watch.stages[*index].alive > 0).collect();
        Snapshot { record, pipe_fill_bytes, stage_is_alive }
    }

    fn answer(&mut self, event: Event, onlooker: &mut dyn Onlooker) {
        match event {
            Event::Signal { number, for_us_alone } => {
                if for_us_alone || number == SIGCONT {
                    self.started.signal(number);
                }
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

    fn finish(mut self, status: i32) -> Finished {
        let exit_status = as_shell_reports(status);
        let elapsed_ns = self.elapsed_ns();
        self.watch.look(elapsed_ns);
        self.watch.note_status(self.started.pid, exit_status);
        self.watch.join_repetitions(Likeness::SameWords);
        self.tuner.finish(&mut self.watch);
        let frame = Frame { elapsed_ns, ..self.frame(exit_status) };
        let (mut record, _) = self.watch.record(&frame);
        record.findings = diagnose(&record);
        let signal = (status & 0x7f != 0).then_some(status & 0x7f);
        Finished { record, signal, was_refused: self.tuner.was_refused() }
    }
}

/// Takes the slack from our own timers. With it, Linux lets them go off together with others: looks
/// then fall on the moment a sleeping stage wakes. What remains of that is corrected (`MetAwake`). Call
/// after the pipeline was started, which would inherit it.
fn look_on_time() {
    // Refused by nobody known; then the default of 50 µs stays.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Stops this process until someone continues it.
fn stop_self(signal: i32) {
    use rustix::process::{Signal, getpid, kill_process};
    // A signal that is handled here (for the live view) would not stop: SIGSTOP always does.
    let signal = Signal::from_named_raw(signal).unwrap_or(Signal::STOP);
    let _ = kill_process(getpid(), signal);
}

/// Spreads looks so that they do not beat with a pipeline that works in a rhythm.
struct Jitter(u64);

impl Jitter {
    /// A length between 3/4 and 5/4 of `length_ns`.
    fn around(&mut self, length_ns: u64) -> u64 {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        length_ns * 3 / 4 + self.0 % (length_ns / 2 + 1)
    }
}

impl Watch {
    /// Notes the exit status of the stage that began with this process.
    fn note_status(&mut self, pid: i32, status: i32) {
        if let Some(stage) = self.stages.iter_mut().find(|stage| stage.leader == pid) {
            stage.exit_status = Some(status);
        }
    }

    /// Bytes queued in a pipe, by index.
    fn fill(&self, index: usize) -> Option<u64> {
        let pipe = &self.pipes.list[index];
        crate::discover::ask(pipe, |fd| fullbore_pipe::fill(fd).ok()).map(|bytes| bytes.0)
    }
}

/// An onlooker that does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Onlooker for Nobody {
    fn interval(&self) -> Option<Duration> {
        None
    }

    fn show(&mut self, _: &Snapshot) {}

    fn pause(&mut self) {}
}
