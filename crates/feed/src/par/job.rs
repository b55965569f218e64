//! A block and the process that works on it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use fullbore_measure::Bytes;
use fullbore_pipe::set_capacity;
use fullbore_pipe::transfer::{Moved, Patience, from_file};
use rustix::io::ioctl_fionread;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::command::{Command, Position};
use super::cut::Block;
use super::output::Output;
use super::store::Part;

/// Most that one call feeds.
const MOST_BYTES: u64 = 1 << 20;

/// Blocks up to this size fit into a new pipe as it is.
const SMALL_BYTES: u64 = 64 << 10;

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
    is_in_memory: bool,
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

/// The copy of the command.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Readable when the process ends; `None` on Linux before 5.3.
    pidfd: Option<OwnedFd>,
    started: Instant,
    started_at: SystemTime,
    took: Option<Duration>,
}

/// What the copy reads.
#[derive(Debug)]
struct Feed {
    /// `None` when it has everything.
    pipe: Option<OwnedFd>,
    capacity: u64,
    /// What is left to feed, the next last.
    parts: Vec<Part>,
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

impl Job {
    /// Starts a copy of the command for a block, for the `tries`th time; pipes get a capacity of `pipe_bytes`, if Linux
    /// grants it.
    pub(super) fn start(
        command: &Command,
        (block, slot): (&Block, usize),
        header: Option<&Part>,
        pipe_bytes: Bytes,
        tries: u32,
    ) -> io::Result<Self> {
        let position = Position { block: block.number, slot };
        let mut parts: Vec<Part> = header.into_iter().chain([&block.part]).cloned().collect();
        parts.retain(|part| part.len() > 0);
        parts.reverse();
        let (child_in, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
        let (out, child_out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err, child_err) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut capacity = SMALL_BYTES;
        if block.part.len() > SMALL_BYTES {
            // Refused where the user's pipes hold too much already: smaller pipes are slower, and as right.
            capacity = set_capacity(&stdin, pipe_bytes).map_or(capacity, |granted| granted.0);
            let _ = set_capacity(&out, pipe_bytes);
        }
        for fd in [&stdin, &out, &err] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        let (started, started_at) = (Instant::now(), SystemTime::now());
        let child = command.spawn(position, [child_in, child_out, child_err])?;
        let pidfd = Pid::from_raw(child.id().cast_signed())
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Self {
            position,
            bytes: block.part.len(),
            again: None,
            is_in_memory: block.is_in_memory,
            tries,
            out: Output::new(out),
            err: Output::new(err),
            status: None,
            is_settled: false,
            is_begun: false,
            process: Process { child, pidfd, started, started_at, took: None },
            input: Feed { pipe: Some(stdin), capacity, parts },
        })
    }

    /// Readable when the process has ended.
    pub(super) fn ending(&self) -> Option<BorrowedFd<'_>> {
        self.process.pidfd.as_ref().filter(|_| self.status.is_none()).map(AsFd::as_fd)
    }

    /// Feeds what finds room, and tells whether its input ran low since the last time.
    pub(super) fn feed(&mut self) -> io::Result<bool> {
        let Feed { pipe: Some(stdin), capacity, parts } = &mut self.input else {
            return Ok(false);
        };
        let held = ioctl_fionread(&*stdin).unwrap_or(0);
        let is_low = held < *capacity / LOW;
        while let Some(part) = parts.last_mut() {
            let at_most = usize::try_from(part.len().min(MOST_BYTES)).unwrap_or(usize::MAX);
            match from_file(&part.file, part.range.start, &*stdin, at_most, Patience::Never) {
                Ok(Moved::Bytes(bytes)) => part.range.start += bytes as u64,
                Ok(Moved::WouldBlock) => return Ok(is_low),
                Ok(Moved::End) => return Err(shorter()),
                Ok(Moved::CannotSplice(why)) => return Err(why.into_error().source),
                // It reads no more, as head does; that is no error.
                Err(error) if error.source.kind() == io::ErrorKind::BrokenPipe => {
                    parts.clear();
                    break;
                }
                Err(error) => return Err(error.source),
                Ok(_) => {}
            }
            if part.len() == 0 {
                parts.pop();
            }
        }
        self.input.pipe = None;
        Ok(false)
    }

    /// Whether the process still runs.
    pub(super) fn is_running(&self) -> bool {
        self.status.is_none()
    }

    /// Notes that the process has ended, if it has.
    pub(super) fn reap(&mut self) -> io::Result<()> {
        if self.status.is_none()
            && let Some(status) = self.process.child.try_wait()?
        {
            self.status = Some(Status::of(status));
            self.process.took = Some(self.process.started.elapsed());
            self.process.pidfd = None;
            self.input.pipe = None;
        }
        Ok(())
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

    /// Bytes in memory that this block takes.
    pub(super) fn held_bytes(&self) -> u64 {
        let is_needed = self.again.is_some() || self.input.pipe.is_some();
        let input = if self.is_in_memory && is_needed { self.bytes } else { 0 };
        input + self.out.held_bytes() + self.err.held_bytes()
    }

    /// Sends a signal, unless it has ended.
    pub(super) fn signal(&self, signal: Signal) {
        if self.status.is_none()
            && let Some(pid) = Pid::from_raw(self.process.child.id().cast_signed())
        {
            // It may end at this moment.
            let _ = kill_process(pid, signal);
        }
    }

    /// Closes all that is joined to it, so that it and what it started find an end.
    pub(super) fn cut_off(&mut self) {
        self.input.pipe = None;
        self.out.close();
        self.err.close();
    }
}

fn shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read")
}
