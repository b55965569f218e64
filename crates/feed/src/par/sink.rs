//! Where output goes: spliced where Linux can, else copied.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use fullbore_pipe::capacity;
use fullbore_pipe::transfer::{Moved, Patience, from_file, pass};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Pieces in which is copied what cannot be spliced.
const PIECE_BYTES: usize = 64 << 10;

/// Most that one call moves.
const MOST_BYTES: usize = 1 << 20;

/// When poll(2) says that a pipe has room, a write of so many bytes does not wait. Source: pipe(7).
const SURE_BYTES: usize = 4096;

/// What came of an attempt to pass bytes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// So many were taken.
    Bytes(u64),
    /// There is nothing to pass on yet.
    Nothing,
    /// The reader has no room.
    Full,
    /// There will never be more.
    End,
}

/// An output, which other processes may share.
#[derive(Debug)]
pub(super) struct Sink<'f> {
    fd: BorrowedFd<'f>,
    is_pipe: bool,
    can_splice: bool,
    /// Bytes that were taken and found no room yet, from this position on.
    rest: Vec<u8>,
    rest_from: usize,
}

impl<'f> Sink<'f> {
    pub(super) fn new(fd: BorrowedFd<'f>) -> Self {
        let is_pipe = fullbore_pipe::is_pipe(fd);
        Self { fd, is_pipe, can_splice: true, rest: Vec::new(), rest_from: 0 }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'f> {
        self.fd
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    /// Whether the reader has less left to read than it may have read by the next look.
    pub(super) fn ran_low(&self) -> bool {
        let held = rustix::io::ioctl_fionread(self.fd).unwrap_or(0);
        self.is_pipe && capacity(self.fd).is_ok_and(|capacity| held < capacity.0 / 4)
    }

    /// Passes on what a non-blocking pipe has.
    pub(super) fn pass_pipe(&mut self, pipe: impl AsFd) -> io::Result<Passed> {
        if !self.flush()? {
            return Ok(Passed::Full);
        }
        if self.can_splice {
            match pass(&pipe, self.fd, MOST_BYTES) {
                Some(Moved::Bytes(bytes)) => return Ok(Passed::Bytes(bytes as u64)),
                Some(Moved::End) => return Ok(Passed::End),
                Some(Moved::WouldBlock) => {
                    let is_empty = rustix::io::ioctl_fionread(&pipe).is_ok_and(|bytes| bytes == 0);
                    return Ok(if is_empty { Passed::Nothing } else { Passed::Full });
                }
                // Copying finds out what is wrong.
                _ => self.can_splice = false,
            }
        }
        self.rest.resize(PIECE_BYTES, 0);
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&pipe, &mut self.rest));
        self.rest.truncate(*read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Ok(Passed::End),
            Ok(count) => {
                self.flush()?;
                Ok(Passed::Bytes(count as u64))
            }
            Err(Errno::AGAIN) => Ok(Passed::Nothing),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Passes on a part of a file; returns `End` at `end`.
    pub(super) fn pass_file(&mut self, file: &File, at: u64, end: u64) -> io::Result<Passed> {
        if !self.flush()? {
            return Ok(Passed::Full);
        }
        let left = usize::try_from(end - at).unwrap_or(usize::MAX).min(MOST_BYTES);
        if left == 0 {
            return Ok(Passed::End);
        }
        // Linux splices from a file to a pipe only.
        if self.is_pipe && self.can_splice {
            match from_file(file, at, self.fd, left, Patience::Never) {
                Ok(Moved::Bytes(bytes)) => return Ok(Passed::Bytes(bytes as u64)),
                Ok(Moved::WouldBlock) => return Ok(Passed::Full),
                Ok(_) => self.can_splice = false,
                Err(error) => return Err(error.source),
            }
        }
        self.rest.resize(left.min(PIECE_BYTES), 0);
        if let Err(error) = file.read_exact_at(&mut self.rest, at) {
            self.rest.clear();
            return Err(error);
        }
        let taken = self.rest.len() as u64;
        self.flush()?;
        Ok(Passed::Bytes(taken))
    }

    /// Takes bytes, and passes on what finds room. Call it only after [`flush`](Self::flush) said `true`.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.rest.extend_from_slice(bytes);
        self.flush().map(drop)
    }

    /// Writes what found no room before, and tells whether nothing is left of it.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        while self.rest_from < self.rest.len() {
            // Asked first: no descriptor is made non-blocking, because other processes share it.
            if self.is_pipe && !self.has_room() {
                return Ok(false);
            }
            let most = if self.is_pipe { SURE_BYTES } else { PIECE_BYTES };
            let to = self.rest.len().min(self.rest_from + most);
            let piece = &self.rest[self.rest_from..to];
            match rustix::io::retry_on_intr(|| rustix::io::write(self.fd, piece)) {
                Ok(count) => {
                    self.rest_from += count;
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(errno) => return Err(errno.into()),
            }
        }
        self.rest.clear();
        self.rest_from = 0;
        Ok(true)
    }

    fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An error shows in the write that follows.
        rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))).is_ok_and(|ready| ready > 0)
    }
}
