//! What a copy writes: passed on when it is its turn, kept until then.

use std::io::{self, Read};
use std::os::fd::OwnedFd;

use fullbore_measure::Bytes;
use fullbore_pipe::{Lender, capacity, set_capacity};
use memchr::memchr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};

use super::kept::Kept;
use super::sink::{Passed, Sink};

/// Most that one call keeps.
const MOST_BYTES: usize = 1 << 20;

/// A pipe that holds so many bytes is emptied although it is not its turn.
const MANY_BYTES: u64 = 32 << 10;

/// What a pipe holds at least. Source: pipe(7).
const LEAST_CAPACITY: u64 = 4096;

/// Lines that are dropped are looked for in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// One output of a copy.
#[derive(Debug)]
pub(super) struct Output {
    /// `None` after its end.
    pipe: Option<OwnedFd>,
    kept: Kept,
    /// Lines at the beginning that are not passed on: the header, which the first block has given.
    skip_lines: u64,
    received: u64,
    /// What its pipe holds.
    capacity: u64,
}

impl Output {
    pub(super) fn new(pipe: OwnedFd, lender: &Lender) -> Self {
        let capacity = capacity(&pipe).map_or(LEAST_CAPACITY, |bytes| bytes.0);
        Self { pipe: Some(pipe), kept: Kept::new(lender), skip_lines: 0, received: 0, capacity }
    }

    pub(super) fn skip_lines(&mut self, lines: u64) {
        self.skip_lines = lines;
    }

    /// Bytes that the copy wrote, as far as they were taken.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// Whether everything was taken from the copy.
    pub(super) fn has_ended(&self) -> bool {
        self.pipe.is_none()
    }

    /// Whether everything was passed on.
    pub(super) fn is_given(&self) -> bool {
        self.pipe.is_none() && self.held_bytes() == 0
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.kept.len()
    }

    /// Takes what was kept of an output that has ended.
    pub(super) fn take_kept(&mut self) -> &mut Kept {
        &mut self.kept
    }

    /// Whether the copy has little room left to write to.
    pub(super) fn is_nearly_full(&self) -> bool {
        let waiting = self.pipe.as_ref().and_then(|pipe| ioctl_fionread(pipe).ok());
        waiting.is_some_and(|bytes| bytes >= self.capacity / 4 * 3)
    }

    /// Gives its pipe this capacity, if Linux grants it.
    pub(super) fn widen(&mut self, bytes: Bytes) {
        if let Some(Ok(capacity)) = self.pipe.as_ref().map(|pipe| set_capacity(pipe, bytes)) {
            self.capacity = capacity.0;
        }
    }

    pub(super) fn close(&mut self) {
        self.pipe = None;
    }

    /// Closes it, and forgets what was kept: nobody listens.
    pub(super) fn discard(&mut self) {
        self.close();
        self.kept.clear();
    }

    /// Keeps what waits in the pipe, if it is much or the last.
    pub(super) fn keep(&mut self, is_last: bool) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let mut waiting = ioctl_fionread(pipe).unwrap_or(0);
        if waiting < MANY_BYTES.min(self.capacity / 4) && !is_last {
            return Ok(());
        }
        loop {
            // An empty pipe is read only to find its end.
            if waiting == 0 && !is_at_end(pipe) {
                return Ok(());
            }
            let wanted = usize::try_from(waiting.max(1)).unwrap_or(MOST_BYTES).min(MOST_BYTES);
            let again =
                |room: &mut [u8]| rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *room));
            match self.kept.take_in(wanted, again)? {
                Ok(0) => {
                    self.pipe = None;
                    return Ok(());
                }
                Ok(count) => {
                    self.received += count as u64;
                    waiting = waiting.saturating_sub(count as u64);
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Passes on what there is, as far as the reader has room: until nothing is left for now, the reader's pipe is full,
    /// or the end.
    pub(super) fn pass(&mut self, sink: &mut Sink<'_>) -> io::Result<Passed> {
        loop {
            let passed =
                if self.skip_lines > 0 { self.skip(sink)? } else { self.pass_piece(sink)? };
            match passed {
                Passed::Bytes(_) => {}
                Passed::End => {
                    self.pipe = None;
                    return Ok(Passed::End);
                }
                Passed::Nothing | Passed::Full => return Ok(passed),
            }
        }
    }

    /// Passes on a piece: first of what was kept, then of what is in the pipe.
    fn pass_piece(&mut self, sink: &mut Sink<'_>) -> io::Result<Passed> {
        if self.kept.len() > 0 {
            let (bytes, loan) = self.kept.front();
            let passed = sink.pass_bytes(bytes, loan)?;
            if let Passed::Bytes(count) = passed {
                self.kept.advance(count);
            }
            return Ok(passed);
        }
        let Some(pipe) = &self.pipe else { return Ok(Passed::End) };
        let passed = sink.pass_pipe(pipe)?;
        if let Passed::Bytes(bytes) = passed {
            self.received += bytes as u64;
        }
        Ok(passed)
    }

    /// Drops a piece of the header; returns `End` when the output ends in it.
    fn skip(&mut self, sink: &mut Sink<'_>) -> io::Result<Passed> {
        if !sink.flush()? {
            return Ok(Passed::Full);
        }
        let mut piece = vec![0; PIECE_BYTES];
        let count = if self.kept.len() > 0 {
            self.kept.read(&mut piece)?
        } else {
            let Some(pipe) = &self.pipe else { return Ok(Passed::End) };
            match rustix::io::read(pipe, &mut piece) {
                Ok(count) => {
                    self.received += count as u64;
                    count
                }
                Err(Errno::AGAIN | Errno::INTR) => return Ok(Passed::Nothing),
                Err(errno) => return Err(errno.into()),
            }
        };
        if count == 0 {
            return Ok(Passed::End);
        }
        let mut rest = &piece[..count];
        while self.skip_lines > 0 {
            let Some(end) = memchr(b'\n', rest) else { return Ok(Passed::Bytes(0)) };
            rest = &rest[end + 1..];
            self.skip_lines -= 1;
        }
        sink.push(rest)?;
        Ok(Passed::Bytes(rest.len()))
    }
}

/// Whether an empty pipe has no writer any more.
fn is_at_end(pipe: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(pipe, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now)));
    let events = fds[0].revents();
    polled.is_ok() && events.contains(PollFlags::HUP) && !events.contains(PollFlags::IN)
}
