//! The two ends of the stream: reading, writing, and waiting for each.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{Moved, pass, wait_until};
use fullbore_pipe::{PipeId, Widened, fill, widen};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, IoSlice, ReadWriteFlags, pwritev2, retry_on_intr};

use super::error::Error;
use super::queue::Block;

/// Exceeds the capacity of any pipe, so that a splice takes everything.
const ALL_BYTES: usize = 1 << 30;

/// Capacity to which pipes on both sides are widened, where Linux allows it.
const PIPE_BYTES: Bytes = Bytes(1 << 20);

/// Why a wait for input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A read returns at once: with bytes, the end, or a failure.
    Input,
    /// Someone told the reader to stop.
    Stop,
}

/// The input of the stream.
#[derive(Debug)]
pub(super) struct Source {
    fd: OwnedFd,
    /// Becomes readable when the reader is told to stop, and stays so.
    stop: OwnedFd,
    is_pipe: bool,
    widened: Option<Widened>,
}

impl Source {
    /// Opens the input. A pipe is widened as far as `budget` allows, and `budget` shrinks by what that uses.
    pub(super) fn new(fd: OwnedFd, budget: &mut Bytes) -> Result<Self, Error> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let stop = stop.map_err(|errno| Error::Descriptor(errno.into()))?;
        let widened = widen_within(&fd, budget);
        let is_pipe = PipeId::of(&fd).is_some();
        Ok(Self { fd, stop, is_pipe, widened })
    }

    /// Tells whether pages can move on without a copy. Pages of a regular file cannot: a later write to the file would
    /// change what waits.
    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    /// Tells whether the next read would have to wait, as far as Linux can tell.
    pub(super) fn is_dry(&self) -> bool {
        fill(&self.fd).is_ok_and(|bytes| bytes.0 == 0)
    }

    /// Waits for input or for [`Self::stop`], without reading.
    pub(super) fn wait(&self) -> Woken {
        let mut fds =
            [PollFd::new(&self.stop, PollFlags::IN), PollFd::new(&self.fd, PollFlags::IN)];
        // The next read reports a failure.
        let _ = retry_on_intr(|| poll(&mut fds, None));
        if fds[0].revents().is_empty() { Woken::Input } else { Woken::Stop }
    }

    /// Ends the current wait and all later ones.
    pub(super) fn stop(&self) {
        // This fails only when the counter is full, and then the descriptor is readable anyway.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
    }

    /// Appends the available bytes to the block and returns how many; 0 at the end. Waits when another process has
    /// taken them first.
    pub(super) fn read(&self, block: &mut Block) -> Result<usize, Error> {
        loop {
            let room = rustix::buffer::spare_capacity(&mut block.bytes);
            match rustix::io::read(&self.fd, room) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_for(&self.fd, PollFlags::IN),
                Err(errno) => return Err(Error::Reading(errno.into())),
            }
        }
    }

    /// Restores the pipe's old capacity.
    pub(super) fn put_back(&self) {
        if let Some(widened) = self.widened {
            widened.put_back(&self.fd);
        }
    }
}

/// The output of the stream.
#[derive(Debug)]
pub(super) struct Sink {
    fd: OwnedFd,
    is_pipe: bool,
    /// Whether a write can be told not to wait.
    takes_now: bool,
    widened: Option<Widened>,
}

impl Sink {
    /// Opens the output. A pipe is widened as far as `budget` allows, and `budget` shrinks by what that uses.
    pub(super) fn new(fd: OwnedFd, budget: &mut Bytes) -> Self {
        let widened = widen_within(&fd, budget);
        let is_pipe = PipeId::of(&fd).is_some();
        let is_socket =
            fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket);
        Self { fd, is_pipe, takes_now: is_pipe || is_socket, widened }
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    pub(super) fn takes_now(&self) -> bool {
        self.takes_now
    }

    /// Moves pages straight from the input, without waiting for either side; returns `None` when Linux cannot do that.
    pub(super) fn pass(&self, source: &Source) -> Option<Moved> {
        match pass(&source.fd, &self.fd, ALL_BYTES)? {
            Moved::CannotSplice(_) => None,
            moved => Some(moved),
        }
    }

    /// Waits for room for at most this long, and tells whether there is any.
    pub(super) fn wait(&self, at_most: Duration) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        let at_most = Timespec::try_from(at_most).ok();
        retry_on_intr(|| poll(&mut fds, at_most.as_ref())).is_ok_and(|count| count > 0)
    }

    /// Waits for room, writes, and returns how many bytes the output took, at least 1.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, Error> {
        loop {
            match rustix::io::write(&self.fd, bytes) {
                Ok(0) => return Err(Error::Writing(io::ErrorKind::WriteZero.into())),
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_for(&self.fd, PollFlags::OUT),
                Err(errno) => return Err(Error::Writing(errno.into())),
            }
        }
    }

    /// Writes what fits without waiting and returns how much; 0 when nothing fits or Linux cannot write without waiting
    /// here.
    pub(super) fn write_now(&self, bytes: &[u8]) -> Result<usize, Error> {
        const HERE: u64 = u64::MAX; // the offset -1 of pwritev2(2) means the current position
        let once = || pwritev2(&self.fd, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT);
        match retry_on_intr(once) {
            Ok(count) => Ok(count),
            Err(Errno::PIPE) => Err(Error::Writing(Errno::PIPE.into())),
            // Leave any other error to the write that may wait: it will meet it too.
            Err(_) => Ok(0),
        }
    }

    /// Restores the pipe's old capacity.
    pub(super) fn put_back(&self) {
        if let Some(widened) = self.widened {
            widened.put_back(&self.fd);
        }
    }
}

fn widen_within(fd: &OwnedFd, budget: &mut Bytes) -> Option<Widened> {
    let widened = (*budget >= PIPE_BYTES).then(|| widen(fd, PIPE_BYTES)).flatten()?;
    budget.0 -= widened.gained().0.min(budget.0);
    Some(widened)
}

/// Waits for a descriptor that someone made non-blocking; others never get here.
fn wait_for(fd: impl AsFd, events: PollFlags) {
    // The next call reports a failure.
    let _ = wait_until(fd, events);
}
