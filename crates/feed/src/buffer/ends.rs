//! The two ends: what is read from, what is written to, and whether they can be spliced.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use fullbore_pipe::transfer::{Moved, Patience, TransferError, give, take, wait_until};
use fullbore_pipe::{OwnPipe, PipeId};
use rustix::event::PollFlags;
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, IoSlice, ReadWriteFlags, pwritev2, retry_on_intr};

use super::Error;
use super::queue::Block;

/// Whether an end can be spliced: only the first try may find out that it cannot.
#[derive(Debug)]
struct Splicing(AtomicU8);

const UNTRIED: u8 = 0;
const WORKS: u8 = 1;
const NEVER: u8 = 2;

/// What came of an attempt to splice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spliced {
    /// This many bytes.
    Bytes(usize),
    /// Nothing, without waiting.
    WouldBlock,
    /// The input is at its end.
    End,
    /// This end must be read or written instead.
    Never,
}

impl Splicing {
    fn is_possible(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NEVER
    }

    fn learn(&self, moved: Moved) -> Result<Spliced, TransferError> {
        match moved {
            Moved::Bytes(bytes) => {
                self.0.store(WORKS, Ordering::Relaxed);
                Ok(Spliced::Bytes(bytes))
            }
            Moved::End => Ok(Spliced::End),
            Moved::CannotSplice(why) if self.0.load(Ordering::Relaxed) == WORKS => {
                Err(why.into_error())
            }
            Moved::CannotSplice(_) => {
                self.0.store(NEVER, Ordering::Relaxed);
                Ok(Spliced::Never)
            }
            _ => Ok(Spliced::WouldBlock),
        }
    }
}

/// Where the stream comes from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) fd: OwnedFd,
    splicing: Splicing,
}

impl Source {
    pub(super) fn new(fd: OwnedFd) -> Self {
        // Splicing a file would put its pages, not its bytes, into the queue: who writes to it later
        // would change what waits. Other descriptors gain nothing.
        let splicing = if PipeId::of(&fd).is_some() { UNTRIED } else { NEVER };
        Self { fd, splicing: Splicing(AtomicU8::new(splicing)) }
    }

    pub(super) fn can_splice(&self) -> bool {
        self.splicing.is_possible()
    }

    /// Waits for bytes and moves them into a pipe that has room.
    pub(super) fn take(&self, into: &OwnPipe, at_most: usize) -> Result<Spliced, Error> {
        let moved = take(&self.fd, into, at_most, Patience::Waits);
        let spliced = moved.and_then(|moved| self.splicing.learn(moved));
        let spliced = spliced.map_err(|error| Error::Reading(error.source))?;
        if spliced == Spliced::WouldBlock {
            wait_for(&self.fd, PollFlags::IN);
        }
        Ok(spliced)
    }

    /// Waits for bytes and appends them to the block; 0 at the end.
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
}

/// Where the stream goes.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) fd: OwnedFd,
    splicing: Splicing,
    is_pipe: bool,
    /// Whether a write can be told not to wait.
    takes_now: bool,
}

impl Sink {
    pub(super) fn new(fd: OwnedFd) -> Self {
        let is_pipe = PipeId::of(&fd).is_some();
        let is_socket =
            fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket);
        let splicing = Splicing(AtomicU8::new(UNTRIED));
        Self { fd, splicing, is_pipe, takes_now: is_pipe || is_socket }
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    pub(super) fn takes_now(&self) -> bool {
        self.takes_now
    }

    pub(super) fn can_splice(&self) -> bool {
        self.splicing.is_possible()
    }

    /// Moves bytes out of a pipe of ours.
    pub(super) fn give(
        &self,
        from: &OwnPipe,
        at_most: usize,
        patience: Patience,
    ) -> Result<Spliced, Error> {
        if !self.can_splice() {
            return Ok(Spliced::Never);
        }
        let moved = give(from, &self.fd, at_most, patience);
        let spliced = moved.and_then(|moved| self.splicing.learn(moved));
        let spliced = spliced.map_err(|error| Error::Writing(error.source))?;
        if spliced == Spliced::WouldBlock && patience == Patience::Waits {
            wait_for(&self.fd, PollFlags::OUT);
        }
        Ok(spliced)
    }

    /// Waits for room and writes; returns how much it took, at least 1.
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

    /// Writes what fits without waiting; 0 when nothing does, or this cannot be asked for.
    pub(super) fn write_now(&self, bytes: &[u8]) -> Result<usize, Error> {
        const HERE: u64 = u64::MAX; // the offset -1 of pwritev2(2): the current position
        let once = || pwritev2(&self.fd, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT);
        match retry_on_intr(once) {
            Ok(count) => Ok(count),
            Err(Errno::PIPE) => Err(Error::Writing(Errno::PIPE.into())),
            // Whatever else it is, the write that may wait will find out.
            Err(_) => Ok(0),
        }
    }
}

/// A file that gets the stream as well.
#[derive(Debug)]
pub struct Copy {
    /// Its name, for messages.
    pub path: std::path::PathBuf,
    /// The file, open for writing.
    pub file: File,
}

/// Waits for a descriptor that someone made non-blocking; others never get here.
fn wait_for(fd: impl AsFd, events: PollFlags) {
    // A failure shows in the call that follows.
    let _ = wait_until(fd, events);
}
