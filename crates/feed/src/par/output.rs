//! What a copy writes: passed on when it is its turn, kept until then.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{Moved, Patience};
use memchr::memchr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;

use super::sink::{Passed, Sink};
use super::store::{Part, Store};

/// Most that one call keeps.
const MOST_BYTES: usize = 1 << 20;

/// A pipe that holds so many bytes is emptied although it is not its turn.
const MANY_BYTES: u64 = 32 << 10;

/// Lines that are dropped are looked for in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// One output of a copy.
#[derive(Debug)]
pub(super) struct Output {
    /// `None` after its end.
    pipe: Option<OwnedFd>,
    kept: Option<Store>,
    /// So much of what was kept is passed on.
    given: u64,
    /// Lines at the beginning that are not passed on: the header, which the first block has given.
    skip_lines: u64,
    received: u64,
}

impl Output {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        Self { pipe: Some(pipe), kept: None, given: 0, skip_lines: 0, received: 0 }
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
        self.kept.as_ref().map_or(0, |kept| kept.len() - self.given)
    }

    /// Takes what was kept of an output that has ended.
    pub(super) fn take_kept(&mut self) -> io::Result<Part> {
        let kept = self.kept.take().map_or_else(Store::new, Ok)?;
        Ok(Part { file: Arc::clone(kept.file()), range: 0..kept.len() })
    }

    /// Whether the copy has little room left to write to.
    pub(super) fn is_nearly_full(&self, capacity: Bytes) -> bool {
        let waiting = self.pipe.as_ref().and_then(|pipe| ioctl_fionread(pipe).ok());
        waiting.is_some_and(|bytes| bytes >= capacity.0 / 4 * 3)
    }

    pub(super) fn close(&mut self) {
        self.pipe = None;
    }

    /// Keeps what waits in the pipe, if it is much or the last.
    pub(super) fn keep(&mut self, is_last: bool) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let waiting = ioctl_fionread(pipe).unwrap_or(0);
        if waiting < MANY_BYTES && !is_last {
            return Ok(());
        }
        loop {
            // Without a byte there is nothing to store: most copies write no errors.
            if waiting == 0 && self.kept.is_none() && is_at_end(pipe) {
                self.pipe = None;
                return Ok(());
            }
            let kept = match &mut self.kept {
                Some(kept) => kept,
                None => self.kept.insert(Store::new()?),
            };
            match kept.take(pipe, MOST_BYTES, Patience::Never) {
                Ok(Moved::Bytes(bytes)) => self.received += bytes as u64,
                Ok(Moved::WouldBlock) => return Ok(()),
                Ok(Moved::End) => {
                    self.pipe = None;
                    return Ok(());
                }
                Ok(Moved::CannotSplice(why)) => return Err(why.into_error().source),
                Err(error) => return Err(error.source),
                Ok(_) => return Ok(()),
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
        if let Some(kept) = &self.kept {
            let passed = sink.pass_file(kept.file(), self.given, kept.len())?;
            match passed {
                Passed::Bytes(bytes) => self.given += bytes,
                Passed::End => {
                    self.kept = None;
                    self.given = 0;
                }
                Passed::Nothing | Passed::Full => return Ok(passed),
            }
            return Ok(Passed::Bytes(0));
        }
        let Some(pipe) = &self.pipe else { return Ok(Passed::End) };
        let passed = sink.pass_pipe(pipe)?;
        if let Passed::Bytes(bytes) = passed {
            self.received += bytes;
        }
        Ok(passed)
    }

    /// Drops a piece of the header; returns `End` when the output ends in it.
    fn skip(&mut self, sink: &mut Sink<'_>) -> io::Result<Passed> {
        if !sink.flush()? {
            return Ok(Passed::Full);
        }
        let mut piece = vec![0; PIECE_BYTES];
        let count = match (&self.kept, &self.pipe) {
            (Some(kept), _) if self.given < kept.len() => {
                let count = kept.read(self.given, &mut piece)?;
                self.given += count as u64;
                count
            }
            (_, Some(pipe)) => match rustix::io::read(pipe, &mut piece) {
                Ok(count) => {
                    self.received += count as u64;
                    count
                }
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                    return Ok(Passed::Nothing);
                }
                Err(errno) => return Err(errno.into()),
            },
            _ => 0,
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
        Ok(Passed::Bytes(rest.len() as u64))
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
