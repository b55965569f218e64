//! A block and the process that works on it.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::Moved;
use fullbore_pipe::{Lender, capacity, set_capacity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::command::{Command, Position};
use super::crew::share_of_waiting;
use super::cut::Block;
use super::fitting::Seen;
use super::output::Output;
use super::store::Part;

/// Blocks up to this size fit into a new pipe as it is.
const SMALL_BYTES: u64 = 64 << 10;

/// Of a shorter life little can be told.
const WORTH_A_LOOK: Duration = Duration::from_millis(5);

/// A pipe that holds less than this share of its capacity may run dry before the next look.
const LOW: u64 = 2;

/// A block that a copy of the command works on, or has worked on.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) position: Position,
    /// Bytes of the block, without the header.
    pub(super) bytes: u64,
    /// The block, while it may be tried again.
    pub(super) again: Option<Block>,
    pub(super) tries: u32,
    pub(super) out: Output,
    pub(super) err: Output,
    pub(super) status: Option<Status>,
    /// Its end was taken note of.
    pub(super) is_settled: bool,
    /// Part of its output was passed on although others may have ended before.
    pub(super) is_begun: bool,
    process: Process,
    input: Feed,
}

/// What every copy is started with.
#[derive(Debug)]
pub(super) struct Means<'a> {
    pub(super) command: &'a Command,
    pub(super) lender: Lender,
    /// The capacity of its pipes, if Linux grants it.
    pub(super) pipe_bytes: Bytes,
}

/// The copy of the command.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Readable when the process ends; `None` on Linux before 5.3.
    pidfd: Option<OwnedFd>,
    started: Instant,
    started_at: SystemTime,
    /// When it began to read.
    began: Option<Duration>,
    took: Option<Duration>,
    waited: Option<f64>,
}

/// What the copy reads.
#[derive(Debug)]
struct Feed {
    /// `None` when it has everything.
    pipe: Option<OwnedFd>,
    lender: Lender,
    capacity: u64,
    /// What is left to feed, the next last.
    parts: Vec<Part>,
    /// Bytes that were fed.
    fed: u64,
    /// More may come.
    is_open: bool,
}

/// When the output of the first block in the row is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    AtOnce,
    /// When its copy has ended: it may be tried again, or its output is merged with others.
    WhenDone,
    /// When its copy has ended, and that of the block that ends first comes first.
    FirstDone,
}

/// How a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The exit status; 128 + n for signal n.
    pub code: u8,
    /// The signal that killed it.
    pub signal: Option<i32>,
}

impl Status {
    pub(super) fn of(status: ExitStatus) -> Self {
        let signal = status.signal();
        let code = status.code().or(signal.map(|number| 128 + number)).unwrap_or(255);
        Self { code: u8::try_from(code).unwrap_or(255), signal }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signal {
            Some(signal) => write!(f, "was killed by signal {signal}"),
            None => write!(f, "failed with status {}", self.code),
        }
    }
}

impl Job {
    /// Starts a copy of the command for a block, for the `tries`th time.
    pub(super) fn start(
        means: &Means<'_>,
        (block, slot): (&Block, usize),
        header: Option<&Part>,
        tries: u32,
    ) -> io::Result<Self> {
        let position = Position { block: block.number, slot };
        let mut parts: Vec<Part> = header.into_iter().chain([&block.part]).cloned().collect();
        parts.retain(|part| part.len() > 0);
        parts.reverse();
        let (child_in, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
        let (out, child_out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err, child_err) = pipe_with(PipeFlags::CLOEXEC)?;
        if block.part.len() > SMALL_BYTES {
            // Refused where the user's pipes hold too much already: smaller pipes are slower, and as right.
            let _ = set_capacity(&stdin, means.pipe_bytes);
            let _ = set_capacity(&out, means.pipe_bytes);
        }
        let capacity = capacity(&stdin).map_or(SMALL_BYTES, |bytes| bytes.0);
        for fd in [&stdin, &out, &err] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        let (started, started_at) = (Instant::now(), SystemTime::now());
        let child = means.command.spawn(position, [child_in, child_out, child_err])?;
        let pidfd = pidfd_of(&child);
        Ok(Self {
            position,
            bytes: block.part.len(),
            again: None,
            tries,
            out: Output::new(out, &means.lender),
            err: Output::new(err, &means.lender),
            status: None,
            is_settled: false,
            is_begun: false,
            process: Process {
                child,
                pidfd,
                started,
                started_at,
                began: None,
                took: None,
                waited: None,
            },
            input: Feed {
                pipe: Some(stdin),
                lender: means.lender.clone(),
                capacity,
                parts,
                fed: 0,
                is_open: block.is_open,
            },
        })
    }

    /// Readable when the process has ended.
    pub(super) fn ending(&self) -> Option<BorrowedFd<'_>> {
        self.process.pidfd.as_ref().filter(|_| self.status.is_none()).map(AsFd::as_fd)
    }

    /// Feeds what finds room, and tells whether its input ran low since the last time.
    pub(super) fn feed(&mut self) -> io::Result<bool> {
        let Feed { pipe: Some(stdin), lender, capacity, parts, fed, .. } = &mut self.input else {
            return Ok(false);
        };
        let held = ioctl_fionread(&*stdin).unwrap_or(0);
        if self.process.began.is_none() && held < *fed {
            self.process.began = Some(self.process.started.elapsed());
        }
        let is_low = held < *capacity / LOW;
        while let Some(part) = parts.last_mut() {
            match part.feed(&*stdin, lender) {
                Ok(Moved::Bytes(bytes)) => *fed += bytes as u64,
                Ok(Moved::WouldBlock) => return Ok(is_low),
                Ok(Moved::CannotSplice(why)) => return Err(why.into_error().source),
                Ok(_) => return Err(shorter()),
                // It reads no more, as head does; that is no error.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    parts.clear();
                    self.input.pipe = None;
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
            if part.len() == 0 {
                parts.pop();
            }
        }
        if self.input.is_open {
            return Ok(is_low);
        }
        self.input.pipe = None;
        Ok(false)
    }

    /// Whether it takes more than its block.
    pub(super) fn is_open(&self) -> bool {
        self.input.is_open
    }

    /// Whether it was fed all it was given.
    pub(super) fn is_fed(&self) -> bool {
        self.input.parts.is_empty()
    }

    /// Whether it reads no more, although it was not told to end.
    pub(super) fn has_left(&self) -> bool {
        self.status.is_some() || self.input.pipe.is_none()
    }

    /// Gives it more than its block.
    pub(super) fn give(&mut self, part: Part) {
        self.bytes += part.len();
        if part.len() > 0 {
            self.input.parts.insert(0, part);
        }
    }

    /// Gives it larger pipes than it got for a small block.
    pub(super) fn widen(&mut self, bytes: Bytes) {
        if let Some(stdin) = &self.input.pipe
            && self.input.capacity < bytes.0
            && let Ok(capacity) = set_capacity(stdin, bytes)
        {
            self.input.capacity = capacity.0;
            self.out.widen(bytes);
        }
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) {
        // Without its status, a process counts as ended.
        let _ = self.process.child.wait();
    }

    /// Whether it takes more from now on, if it still reads.
    pub(super) fn set_open(&mut self, is_open: bool) {
        self.input.is_open = is_open && self.input.pipe.is_some();
    }

    /// Whether the process still runs.
    pub(super) fn is_running(&self) -> bool {
        self.status.is_none()
    }

    /// Notes that the process has ended, if it has.
    pub(super) fn reap(&mut self) -> io::Result<()> {
        if self.status.is_some() || !self.may_have_ended() {
            return Ok(());
        }
        let is_long = self.process.started.elapsed() >= WORTH_A_LOOK;
        let waited = if is_long { share_of_waiting(self.process.child.id()) } else { None };
        if let Some(status) = self.process.child.try_wait()? {
            self.process.waited = waited;
            self.status = Some(Status::of(status));
            self.process.took = Some(self.process.started.elapsed());
            self.process.pidfd = None;
            self.input.pipe = None;
            self.input.parts.clear();
        }
        Ok(())
    }

    /// Asks the descriptor of the process, which is cheaper than to ask for its status.
    fn may_have_ended(&self) -> bool {
        let Some(pidfd) = &self.process.pidfd else { return true };
        let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)) != Ok(0)
    }

    /// The share of its time that it waited for a CPU, if it ran long enough to tell.
    pub(super) fn waited(&self) -> Option<f64> {
        self.process.waited
    }

    /// Whether it has ended, and all its output was taken.
    pub(super) fn has_ended(&self) -> bool {
        self.is_settled && self.out.has_ended()
    }

    /// Whether its output must wait for its end although it is its turn.
    pub(super) fn is_held(&self, release: Release) -> bool {
        match release {
            Release::AtOnce => false,
            Release::WhenDone => !self.has_ended(),
            Release::FirstDone => !self.is_begun && !self.has_ended(),
        }
    }

    /// Whether it has ended and all its output was passed on. What inherited only its standard error is not waited for.
    pub(super) fn is_done(&mut self) -> bool {
        if !self.is_settled || !self.out.is_given() {
            return false;
        }
        if self.err.held_bytes() == 0 {
            self.err.close();
        }
        self.err.is_given()
    }

    /// When the copy was started, and how long it took.
    pub(super) fn times(&self) -> (SystemTime, Duration) {
        (self.process.started_at, self.process.took.unwrap_or_default())
    }

    /// Bytes in memory that it has written and nobody was given yet.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.out.held_bytes() + self.err.held_bytes()
    }

    /// How it did, once it has ended.
    pub(super) fn seen(&self) -> Seen {
        let took = self.process.took.unwrap_or_default();
        Seen { bytes: self.bytes, took, began: self.process.began }
    }

    /// The number of its process.
    pub(super) fn process_id(&self) -> u32 {
        self.process.child.id()
    }

    /// Sends a signal, unless it has ended.
    pub(super) fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            signal_to(&self.process.child, signal);
        }
    }

    /// Closes all that is joined to it, so that it and what it started find an end.
    pub(super) fn cut_off(&mut self) {
        self.input.pipe = None;
        self.out.close();
        self.err.close();
    }
}

/// A descriptor that is readable when the process ends; `None` on Linux before 5.3.
pub(super) fn pidfd_of(child: &Child) -> Option<OwnedFd> {
    let pid = Pid::from_raw(child.id().cast_signed())?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Sends a signal to a process that was not waited for.
pub(super) fn signal_to(child: &Child, signal: Signal) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // It may end at this moment.
        let _ = kill_process(pid, signal);
    }
}

fn shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read")
}
