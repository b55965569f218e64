//! The loop that feeds the copies and passes on their output.

mod alone;
mod passing;

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use fullbore_measure::Bytes;
use fullbore_pipe::{Lender, pipe_budget, widen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Signal, getrlimit};

use super::command::Command;
use super::crew::Crew;
use super::cut::Block;
use super::ended::{Ended, Error, Event};
use super::first::Begun;
use super::intake::Intake;
use super::job::{Job, Means};
use super::merge::Collector;
use super::options::Options;
use super::orphans::Orphans;
use super::sink::Sink;
use super::status::Statuses;
use super::stop::Stop;

/// The time between two looks at all pipes lies between these.
const PAUSES: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(5)];

/// Copies get so long to end after they were told to.
const GRACE: Duration = Duration::from_secs(2);

/// A copy that one of these killed (HUP, INT, QUIT, TERM) is no news if so soon par gets a signal, too.
const GROUP_SIGNALS: [i32; 4] = [1, 2, 3, 15];
const GROUP_SIGNAL: Duration = Duration::from_millis(50);

/// Pipes of the copies have at most this capacity.
const PIPE_BYTES: u64 = 1 << 20;

/// And at least this one.
const LEAST_PIPE_BYTES: u64 = 64 << 10;

/// Blocks in the row, however many descriptors there are: small outputs that wait are not counted in the window.
const MOST_JOBS: usize = 512;

/// Descriptors that a block may take, and those that the process needs besides.
const DESCRIPTORS: [u64; 2] = [8, 32];

pub(super) struct Dealer<'a, E> {
    means: Means<'a>,
    options: Options,
    stop: &'a Stop,
    on_event: E,
    intake: Intake,
    /// Blocks that a copy works on or whose output waits, in the order of output.
    jobs: VecDeque<Job>,
    crew: Crew,
    sinks: [Sink<'a>; 2],
    collector: Option<Collector>,
    tally: Tally,
    bounds: Bounds,
    pace: Pace,
}

/// When to look at all pipes again.
#[derive(Clone, Copy, Debug)]
struct Pace {
    pause: Duration,
    /// The reader of the output had no room at the last look.
    was_full: bool,
}

/// How the copies ended so far.
#[derive(Debug, Default)]
struct Tally {
    statuses: Statuses,
    /// What was done before.
    begun: Option<Begun>,
    failures: u64,
    /// The status of the copy because of which no more are started.
    halted: Option<u8>,
    /// A single copy of the command would have ended here.
    is_over: bool,
}

/// What Linux lets us have.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Blocks in the row, because each takes descriptors.
    jobs: usize,
    /// Memory in use.
    memory: Bytes,
}

impl<'a, E: FnMut(Event)> Dealer<'a, E> {
    pub(super) fn new(
        (command, lender): (&'a Command, Lender),
        (intake, begun): (Intake, Option<Begun>),
        ends: [BorrowedFd<'a>; 2],
        mut options: Options,
        stop: &'a Stop,
        on_event: E,
    ) -> Self {
        let sinks = ends.map(|end| Sink::new(end, &lender));
        let collector = options.merge.take().and_then(Collector::new);
        let mut crew = Crew::new(options.jobs);
        let mut tally = Tally { begun, ..Tally::default() };
        if let Some(begun) = &tally.begun {
            crew.begin_with(begun.copies);
            tally.statuses.add(1, begun.status);
        }
        // Each copy has two large pipes; standard input and output come on top.
        let pipes = 2 * crew.most() as u64 + 2;
        let share =
            (pipe_budget(options.pipe_limits).0 / pipes).clamp(LEAST_PIPE_BYTES, PIPE_BYTES);
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let memory = options.used_bytes();
        let most_jobs = files.saturating_sub(DESCRIPTORS[1]) / DESCRIPTORS[0];
        Self {
            means: Means { command, lender, pipe_bytes: Bytes(1 << share.ilog2()) },
            options,
            stop,
            on_event,
            intake,
            jobs: VecDeque::new(),
            crew,
            sinks,
            collector,
            tally,
            bounds: Bounds {
                jobs: usize::try_from(most_jobs).unwrap_or(usize::MAX).clamp(1, MOST_JOBS),
                memory,
            },
            pace: Pace { pause: PAUSES[0], was_full: false },
        }
    }

    pub(super) fn run(mut self) -> Result<Ended, Error> {
        let widened = widen(self.sinks[0].fd(), self.means.pipe_bytes);
        let ended = self.begin().and_then(|()| self.deal());
        match &ended {
            Ok(Ended::Done(_)) => {}
            Ok(Ended::Stopped(signal)) => {
                self.end_all(Signal::from_named_raw(*signal).unwrap_or(Signal::TERM));
            }
            _ => self.end_all(Signal::TERM),
        }
        if let Some(widened) = widened {
            widened.put_back(self.sinks[0].fd());
        }
        ended
    }

    /// Takes over what was done before.
    fn begin(&mut self) -> Result<(), Error> {
        let (Some(begun), Some(collector)) = (self.tally.begun.take(), &mut self.collector) else {
            return Ok(());
        };
        collector.begin(&begun.output).map_err(|trouble| Error::of_merge(1, trouble))
    }

    fn deal(&mut self) -> Result<Ended, Error> {
        loop {
            if let Some(signal) = self.stop.signal() {
                return Ok(Ended::Stopped(signal));
            }
            let is_pressed = match self.turn() {
                Err(Error::Writing(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(Ended::ReaderLeft);
                }
                turned => turned?,
            };
            if let Some(status) = self.tally.halted
                && (self.options.halt.is_some_and(|halt| halt.now) || self.is_done())
            {
                return Ok(Ended::Halted(status));
            }
            if self.is_done() {
                return match self.intake.take_failure() {
                    Some(error) => Err(error),
                    None => self.finish(),
                };
            }
            let [least, most] = PAUSES;
            self.pace.pause =
                if is_pressed { self.pace.pause / 2 } else { self.pace.pause * 5 / 4 }
                    .clamp(least, most);
            if self.wait() {
                return Ok(Ended::ReaderLeft);
            }
        }
    }

    fn finish(&mut self) -> Result<Ended, Error> {
        let status = self.tally.statuses.under(self.options.status);
        let Some(collector) = self.collector.take() else { return Ok(Ended::Done(status)) };
        match collector.finish(self.sinks[0].fd()) {
            Ok(()) => Ok(Ended::Done(status)),
            Err(trouble) => match Error::of_merge(0, trouble) {
                Error::Writing(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Ok(Ended::ReaderLeft)
                }
                error => Err(error),
            },
        }
    }

    /// Looks at everything once; tells whether a pipe ran nearly dry or full since the last time.
    fn turn(&mut self) -> Result<bool, Error> {
        let mut is_pressed = false;
        for job in &mut self.jobs {
            let number = job.position.block;
            let moving = |error| Error::Moving(number, error);
            is_pressed |= job.feed().map_err(moving)?;
            job.reap().map_err(moving)?;
        }
        self.settle()?;
        // A copy that has ended makes room for the next one at once.
        self.start_jobs()?;
        is_pressed |= self.pass()?;
        is_pressed |= self.keep()?;
        // What found no room goes out although no copy runs and the input goes on.
        let [output, errors] = &mut self.sinks;
        output.flush().map_err(Error::Writing)?;
        // Nobody listens to what the copies say; their output still counts.
        if errors.flush().is_err() {
            errors.drop_rest();
        }
        Ok(is_pressed)
    }

    /// Whether every block was dealt out and all output passed on.
    fn is_done(&self) -> bool {
        let no_more = self.takes_no_more() || self.intake.has_ended();
        no_more && self.jobs.is_empty() && !self.sinks.iter().any(Sink::has_rest)
    }

    /// What fits into the window besides the input and output that wait now, and what the reading thread has.
    fn room_bytes(&self) -> u64 {
        self.bounds.memory.0.saturating_sub(self.means.lender.out_bytes())
    }

    /// Starts copies for the blocks that wait, as many as may run.
    fn start_jobs(&mut self) -> Result<(), Error> {
        if self.goes_on_alone()? {
            return Ok(());
        }
        while !self.takes_no_more() && self.intake.has_block() {
            let running = self.jobs.iter().filter(|job| job.is_running()).count();
            let is_full = self.jobs.len() >= self.bounds.jobs
                || (!self.jobs.is_empty() && self.room_bytes() == 0);
            if is_full || running >= self.crew.may_run(running, Instant::now()) {
                break;
            }
            let Some(block) = self.intake.take() else { break };
            let slot = self.free_slot();
            match self.start(&block, slot, 1) {
                Ok(job) => {
                    let is_open = job.is_open();
                    self.jobs.push_back(job);
                    if is_open {
                        break;
                    }
                }
                // Too many processes, files or pages; fewer copies do as well.
                Err(Error::Starting(_, error)) if is_short(&error) && !self.jobs.is_empty() => {
                    self.intake.put_back(block);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn start(&self, block: &Block, slot: usize, tries: u32) -> Result<Job, Error> {
        let header = self.intake.header();
        let job = Job::start(&self.means, (block, slot), header, tries);
        let mut job = job.map_err(|error| Error::Starting(block.number, error))?;
        if block.number > 1 {
            job.out.skip_lines(self.options.header_lines);
        }
        if tries <= self.options.retries {
            job.again = Some(block.clone());
        }
        if let Err(error) = job.feed() {
            job.signal(Signal::KILL);
            return Err(Error::Moving(block.number, error));
        }
        Ok(job)
    }

    fn free_slot(&self) -> usize {
        let is_taken = |slot: &usize| {
            self.jobs.iter().any(|job| job.is_running() && job.position.slot == *slot)
        };
        (1..).find(|slot| !is_taken(slot)).unwrap_or(1)
    }

    /// Takes note of copies that have ended.
    fn settle(&mut self) -> Result<(), Error> {
        for index in 0..self.jobs.len() {
            let job = &mut self.jobs[index];
            let (Some(status), false) = (job.status, job.is_settled) else { continue };
            job.is_settled = true;
            self.intake.learn(job.seen());
            if let Some(share) = job.waited() {
                self.crew.note_wait(share);
            }
            let block = job.position.block;
            if let Some(log) = &mut self.options.joblog {
                // What is still in its pipe counts.
                job.out.keep(true).map_err(|error| Error::Moving(block, error))?;
                log.note(self.means.command, job).map_err(Error::Joblog)?;
            }
            if status.code == 0 {
                job.again = None;
            } else {
                self.tally.failures += 1;
                let again = job.again.take();
                let is_tried_again = again.is_some();
                let is_end = || self.stop.comes_within(GROUP_SIGNAL);
                let is_told = match status.signal {
                    Some(signal) => !GROUP_SIGNALS.contains(&signal) || !is_end(),
                    None => is_tried_again,
                };
                if is_told {
                    (self.on_event)(Event::Failed { block, status, is_tried_again });
                }
                if let Some(again) = again {
                    let (slot, tries) = (job.position.slot, job.tries + 1);
                    self.jobs[index] = self.start(&again, slot, tries)?;
                    continue;
                }
            }
            self.tally.statuses.add(block, status.code);
            if self.has_failed(status.code) {
                self.give_up_after(index);
                return Ok(());
            }
            if self.options.halt.is_some_and(|halt| self.tally.failures >= halt.after)
                && status.code != 0
            {
                self.tally.halted = Some(status.code);
            }
        }
        Ok(())
    }

    /// Waits until something ends or comes, at most a pause; tells whether the reader of the output left.
    fn wait(&mut self) -> bool {
        let none = PollFlags::empty();
        let bell = self.stop.bell();
        let mut fds = vec![PollFd::new(&bell, PollFlags::IN)];
        let out = self.sinks[0].fd();
        // An error is told without being asked for.
        let watches_reader = self.sinks[0].is_pipe();
        if watches_reader {
            fds.push(PollFd::new(&out, none));
        }
        let news = self.intake.news();
        fds.extend(news.iter().map(|news| PollFd::new(news, PollFlags::IN)));
        let endings: Vec<BorrowedFd<'_>> = self.jobs.iter().filter_map(Job::ending).collect();
        fds.extend(endings.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(self.pace.pause.subsec_nanos()) };
        let has_rest = self.sinks.iter().any(Sink::has_rest);
        let has_work = !self.jobs.is_empty() || news.is_none() || has_rest;
        // Interrupted or out of memory: then this look comes early.
        let _ = poll(&mut fds, has_work.then_some(&pause));
        watches_reader && fds[1].revents().contains(PollFlags::ERR)
    }

    /// Ends all copies: their pipes first, then by a signal, at last by SIGKILL.
    fn end_all(&mut self, signal: Signal) {
        self.jobs.retain(Job::is_running);
        if self.jobs.is_empty() {
            return;
        }
        let mut orphans = Orphans::adopt(self.jobs.iter().map(Job::process_id));
        for job in &mut self.jobs {
            job.cut_off();
            job.signal(signal);
        }
        let deadline = Instant::now() + GRACE;
        while self.jobs.iter().any(Job::is_running) {
            let left = deadline.saturating_duration_since(Instant::now());
            let endings: Vec<BorrowedFd<'_>> = self.jobs.iter().filter_map(Job::ending).collect();
            let mut fds: Vec<PollFd<'_>> =
                endings.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
            let pause = left.min(PAUSES[1]);
            let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
            let _ = poll(&mut fds, Some(&pause));
            orphans.look();
            if left.is_zero() {
                self.jobs.iter().for_each(|job| job.signal(Signal::KILL));
            }
            // Without its status, a process counts as ended.
            self.jobs.retain_mut(|job| job.reap().is_ok() && job.is_running());
        }
        orphans.end(signal, deadline.saturating_duration_since(Instant::now()));
    }
}

/// Whether it may go better later, with fewer copies.
fn is_short(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
