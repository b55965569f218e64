//! The well-known fastest way to write a pipe, which makes no promise about the bytes.

use std::io;
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::wait_until;
use fullbore_pipe::{capacity, widen};
use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::{PageSize, TrialPages, Wait};

/// Fills and lends the two halves of a buffer in turn. Each half is as long as the pipe, and is overwritten without
/// asking who still holds it. The methods are those of [`PipeWriter`](fullbore_pipe::PipeWriter), for comparison.
///
/// **The bytes are right only** for a reader that copies what it reads before it frees room in the pipe (read(2) does;
/// splice(2), tee(2) and everything built on them do not), and only as long as the pipe's capacity stays the same.
/// Other readers get bytes of a later chunk. Nothing worse can happen: see [`TrialPages`].
#[derive(Debug)]
pub struct DoubleBuffer<F: AsFd> {
    out: F,
    pages: TrialPages,
    /// Length of one half in bytes.
    half: usize,
    sent: usize,
    filled: usize,
}

impl<F: AsFd> DoubleBuffer<F> {
    /// Makes a writer to a pipe, which it widens to 1 MiB where Linux allows it.
    ///
    /// # Errors
    /// When `out` is not a pipe, or memory is short.
    pub fn without_promise(out: F) -> io::Result<Self> {
        widen(&out, Bytes(1 << 20));
        let capacity = capacity(&out).map_err(io::Error::other)?;
        let half = usize::try_from(capacity.0).map_err(io::Error::other)?;
        let pages = TrialPages::map(2 * half, PageSize::Huge)?;
        Ok(Self { out, pages, half, sent: 0, filled: 0 })
    }

    /// Returns at least `wanted` bytes to fill from the front.
    ///
    /// # Errors
    /// As [`flush_all`](Self::flush_all), because the writer may have to make room.
    ///
    /// # Panics
    /// When `wanted` exceeds a half.
    pub fn room(&mut self, wanted: usize) -> io::Result<&mut [u8]> {
        assert!(wanted <= self.half, "{wanted} bytes of room in halves of {}", self.half);
        if self.end_of_half() - self.filled < wanted.max(1) {
            self.flush_all()?;
            let next = self.end_of_half() % self.pages.bytes().len();
            (self.sent, self.filled) = (next, next);
        }
        let range = self.filled..self.end_of_half();
        Ok(&mut self.pages.bytes_mut()[range])
    }

    /// Returns where the half ends that takes the next byte.
    fn end_of_half(&self) -> usize {
        if self.sent < self.half { self.half } else { 2 * self.half }
    }

    /// Takes over the first `count` bytes of the last [`room`](Self::room).
    ///
    /// # Errors
    /// As [`flush_all`](Self::flush_all), because a full half is lent at once.
    ///
    /// # Panics
    /// When `count` exceeds the room that was given.
    pub fn commit(&mut self, count: usize) -> io::Result<()> {
        assert!(count <= self.end_of_half() - self.filled, "{count} bytes of less room");
        self.filled += count;
        if self.filled < self.end_of_half() {
            return Ok(());
        }
        self.flush_all()?;
        if self.filled == self.pages.bytes().len() {
            (self.sent, self.filled) = (0, 0);
        }
        Ok(())
    }

    /// Lends everything that waits.
    ///
    /// # Errors
    /// Linux's error from vmsplice(2): see [`TrialPages::lend_without_promise`].
    pub fn flush_all(&mut self) -> io::Result<()> {
        while self.sent < self.filled {
            let range = self.sent..self.filled;
            match self.pages.lend_without_promise(&self.out, range, Wait::ForRoom) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_until(&self.out, PollFlags::OUT)?,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}
