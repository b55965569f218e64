//! Where output goes: spliced where Linux can, else copied.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use fullbore_pipe::transfer::{Moved, pass};
use fullbore_pipe::{Lender, Loan, capacity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Fewer bytes are copied.
const WORTH_LENDING: usize = 32 << 10;

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
    Bytes(usize),
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
    /// Found out when it first matters.
    can_lend: Option<bool>,
    lender: Lender,
    /// Bytes that were taken and found no room yet, from this position on.
    rest: Vec<u8>,
    rest_from: usize,
}

impl<'f> Sink<'f> {
    pub(super) fn new(fd: BorrowedFd<'f>, lender: &Lender) -> Self {
        let is_pipe = fullbore_pipe::is_pipe(fd);
        Self {
            fd,
            is_pipe,
            can_splice: true,
            can_lend: None,
            lender: lender.clone(),
            rest: Vec::new(),
            rest_from: 0,
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'f> {
        self.fd
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    /// Whether bytes wait that found no room.
    pub(super) fn has_rest(&self) -> bool {
        !self.rest.is_empty()
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
                Some(Moved::Bytes(bytes)) => return Ok(Passed::Bytes(bytes)),
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
                Ok(Passed::Bytes(count))
            }
            Err(Errno::AGAIN) => Ok(Passed::Nothing),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Passes on bytes, which a loan may have from this position on.
    pub(super) fn pass_bytes(
        &mut self,
        bytes: &[u8],
        loan: Option<(&Loan, usize)>,
    ) -> io::Result<Passed> {
        if !self.flush()? {
            return Ok(Passed::Full);
        }
        if let Some((loan, at)) = loan
            && bytes.len() >= WORTH_LENDING
            && self.can_lend()
        {
            match loan.lend(self.fd, at..at + bytes.len()) {
                Ok(Moved::Bytes(count)) => return Ok(Passed::Bytes(count)),
                Ok(_) => return Ok(Passed::Full),
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
                Err(_) => self.can_lend = Some(false),
            }
        }
        let count = bytes.len().min(PIECE_BYTES);
        self.push(&bytes[..count])?;
        Ok(Passed::Bytes(count))
    }

    fn can_lend(&mut self) -> bool {
        let is_pipe = self.is_pipe;
        *self.can_lend.get_or_insert_with(|| is_pipe && self.lender.lends())
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
        self.drop_rest();
        Ok(true)
    }

    /// Forgets what found no room.
    pub(super) fn drop_rest(&mut self) {
        self.rest.clear();
        self.rest_from = 0;
    }

    fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An error shows in the write that follows.
        rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))).is_ok_and(|ready| ready > 0)
    }
}
