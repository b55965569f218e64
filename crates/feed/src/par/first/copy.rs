//! The process of the first copy.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use fullbore_measure::Bytes;
use fullbore_pipe::{capacity, set_capacity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

use super::judge::Seen;
use crate::par::command::{Command, Position};
use crate::par::crew::cpu_time;
use crate::par::job::{Status, pidfd_of, signal_to};
use crate::par::orphans::Orphans;
use crate::par::stop::Stop;

/// It gets so long to end after it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// Where its end cannot be polled for (Linux before 5.3), it is looked for so often.
const LOOK: Duration = Duration::from_millis(5);

/// What a wait has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// There may be something to do.
    Ready,
    /// The copy has ended, or a signal came.
    Left,
}

/// The first copy.
#[derive(Debug)]
pub(super) struct Copy {
    child: Child,
    /// Readable when it ends; `None` on Linux before 5.3.
    pidfd: Option<OwnedFd>,
    /// `None` once it has everything.
    input: Option<OwnedFd>,
    given: u64,
    /// Its output, if that is kept: few bytes, which it writes at its end.
    output: Option<OwnedFd>,
    written: Vec<u8>,
    complaints: Complaints,
}

/// What it says on standard error, on its way to where that belongs.
#[derive(Debug)]
struct Complaints {
    /// `None` when it can say nothing more.
    from: Option<OwnedFd>,
    to: OwnedFd,
    are_some: bool,
}

impl Copy {
    pub(super) fn start(
        command: &Command,
        [output, errors]: [BorrowedFd<'_>; 2],
        is_kept: bool,
    ) -> io::Result<Self> {
        let (child_in, input) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&input, true)?;
        let (kept, child_out) = if is_kept {
            let (kept, child_out) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&kept, true)?;
            (Some(kept), child_out)
        } else {
            (None, output.try_clone_to_owned()?)
        };
        let (from, child_errors) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&from, true)?;
        let complaints =
            Complaints { from: Some(from), to: errors.try_clone_to_owned()?, are_some: false };
        let ends = [child_in, child_out, child_errors];
        let child = command.spawn(Position { block: 1, slot: 1 }, ends)?;
        let pidfd = pidfd_of(&child);
        Ok(Self {
            child,
            pidfd,
            input: Some(input),
            given: 0,
            output: kept,
            written: Vec::new(),
            complaints,
        })
    }

    /// Waits until there is something to read, if `input` is given, until there is room, if that is wanted, until the copy
    /// ends or says something, or until a signal comes.
    pub(super) fn wait(
        &mut self,
        input: Option<BorrowedFd<'_>>,
        wants_room: bool,
        stop: &Stop,
    ) -> io::Result<Waited> {
        let bell = stop.bell();
        let mut fds = vec![PollFd::new(&bell, PollFlags::IN)];
        fds.extend(self.pidfd.iter().map(|pidfd| PollFd::new(pidfd, PollFlags::IN)));
        fds.extend(self.complaints.from.iter().map(|from| PollFd::new(from, PollFlags::IN)));
        fds.extend(input.iter().map(|input| PollFd::new(input, PollFlags::IN)));
        let room = self.input.as_ref().filter(|_| wants_room);
        fds.extend(room.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        // A regular file always has something.
        let is_ready_now = input.is_none() && !wants_room && self.input.is_some();
        let look = if is_ready_now { Some(Duration::ZERO) } else { None };
        let look = look.or(self.pidfd.is_none().then_some(LOOK)).map(timespec);
        match poll(&mut fds, look.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let has_ended = self.pidfd.is_some() && !fds[1].revents().is_empty();
        let has_signal = !fds[0].revents().is_empty();
        self.complaints.pass_on();
        Ok(if has_ended || has_signal { Waited::Left } else { Waited::Ready })
    }

    /// Copies bytes to its input, as many as find room.
    pub(super) fn give(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(input) = &self.input else { return Err(io::ErrorKind::BrokenPipe.into()) };
        match rustix::io::retry_on_intr(|| rustix::io::write(input, bytes)) {
            Ok(count) => {
                self.given += count as u64;
                Ok(count)
            }
            Err(Errno::AGAIN) => Ok(0),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Its input, while it takes more.
    pub(super) fn input(&self) -> io::Result<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Bytes that wait in its input.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.input.as_ref().and_then(|input| ioctl_fionread(input).ok()).unwrap_or(0)
    }

    /// Whether its input has no room.
    pub(super) fn is_full(&self) -> bool {
        let Some(input) = &self.input else { return false };
        let mut fds = [PollFd::new(input, PollFlags::OUT)];
        poll(&mut fds, Some(&timespec(Duration::ZERO))) == Ok(0)
    }

    /// What is seen of it now. Source: proc_pid_schedstat(5).
    pub(super) fn seen(&self) -> Option<Seen> {
        let cpu = cpu_time(self.child.id())?;
        Some(Seen { cpu, bytes: self.given - self.waiting_bytes().min(self.given) })
    }

    /// Gives it a larger pipe.
    pub(super) fn widen(&self, bytes: Bytes) {
        if let Some(input) = &self.input
            && capacity(input).is_ok_and(|now| now < bytes)
        {
            // Refused where the user's pipes hold too much already; then it is slower, and as right.
            let _ = set_capacity(input, bytes);
        }
    }

    /// It has everything.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// How it ended, if it has.
    pub(super) fn status(&mut self) -> io::Result<Option<Status>> {
        self.keep_output();
        let ended = self.child.try_wait()?.map(Status::of);
        if ended.is_some() {
            self.keep_output();
        }
        Ok(ended)
    }

    /// Whether it has said something on standard error: other copies might say the same.
    pub(super) fn has_complained(&self) -> bool {
        self.complaints.are_some
    }

    fn keep_output(&mut self) {
        self.complaints.pass_on();
        let Some(output) = &self.output else { return };
        let mut piece = [0; 4096];
        // Whatever inherited it may still hold it open.
        while let Ok(count @ 1..) = rustix::io::read(output, &mut piece) {
            self.written.extend_from_slice(&piece[..count]);
        }
    }

    /// What it has written, if that is merged.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }

    /// Ends it and what it started: with this signal, and with SIGKILL what is still there after two seconds.
    pub(super) fn end(&mut self, signal: Option<i32>) {
        let signal = signal.and_then(Signal::from_named_raw).unwrap_or(Signal::TERM);
        let mut orphans = Orphans::adopt([self.child.id()]);
        self.input = None;
        let deadline = Instant::now() + GRACE;
        let mut signal_now = Some(signal);
        while let Ok(None) = self.child.try_wait() {
            let left = deadline.saturating_duration_since(Instant::now());
            let number = if left.is_zero() { Some(Signal::KILL) } else { signal_now.take() };
            if let Some(number) = number {
                signal_to(&self.child, number);
            }
            let mut fds: Vec<PollFd<'_>> =
                self.pidfd.iter().map(|pidfd| PollFd::new(pidfd, PollFlags::IN)).collect();
            let _ = poll(&mut fds, Some(&timespec(LOOK)));
            orphans.look();
        }
        orphans.end(signal, deadline.saturating_duration_since(Instant::now()));
    }
}

impl Complaints {
    fn pass_on(&mut self) {
        let mut piece = [0; 4096];
        while let Some(from) = &self.from {
            match rustix::io::retry_on_intr(|| rustix::io::read(from, &mut piece)) {
                Ok(0) => self.from = None,
                Ok(count) => {
                    self.are_some = true;
                    let mut rest = &piece[..count];
                    // Where nobody listens, nothing is to be said.
                    while let Ok(count @ 1..) = rustix::io::write(&self.to, rest) {
                        rest = &rest[count..];
                    }
                }
                Err(_) => return,
            }
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) }
}
