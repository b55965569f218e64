//! What the first copy is given: a stream, or a file from some place on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use fullbore_pipe::transfer::{Moved, Patience, from_file, pass};

use super::copy::Copy;
use crate::par::cut::Source;

/// What one read takes at most: as much as a pipe has, so that the copy reads the same pieces as without this process (grep
/// decides piece by piece whether it reads text).
const READ_BYTES: usize = 64 << 10;

/// Most that one call moves.
const MOST_BYTES: usize = 1 << 20;

/// After less than so much, while the copy has enough to read, it naps: otherwise every write of the producer would wake
/// this process.
const LITTLE_BYTES: usize = 128 << 10;

/// A pipe of 1 MiB takes longer to fill, even at 4 GB/s.
const NAP: Duration = Duration::from_micros(150);

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Took {
    Bytes,
    Nothing,
    End,
}

/// The input, and whether its pages can be moved.
#[derive(Debug)]
pub(super) struct Input {
    source: Source,
    can_move: bool,
    /// Bytes that were read, because they cannot be moved, and found no room yet.
    rest: Vec<u8>,
}

impl Input {
    pub(super) fn new(source: Source) -> Self {
        Self { source, can_move: true, rest: Vec::new() }
    }

    /// Readable when something comes; `None` for a file.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Stream(stream) => Some(stream.as_fd()),
            Source::File(..) => None,
        }
    }

    /// What was not read yet.
    pub(super) fn into_source(self) -> Source {
        self.source
    }

    /// Appends what comes next.
    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> io::Result<Took> {
        let from = into.len();
        into.resize(from + READ_BYTES, 0);
        let read = match &mut self.source {
            Source::Stream(stream) => {
                rustix::io::retry_on_intr(|| rustix::io::read(&*stream, &mut into[from..]))
                    .map_err(io::Error::from)
            }
            Source::File(file, at) => file.read_at(&mut into[from..], *at).inspect(|count| {
                *at += *count as u64;
            }),
        };
        into.truncate(from + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Ok(Took::End),
            Ok(_) => Ok(Took::Bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Took::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Moves what comes next to the copy, as much as finds room.
    pub(super) fn pass(&mut self, copy: &mut Copy) -> io::Result<Took> {
        if !self.can_move {
            return self.copy_on(copy);
        }
        let moved = match &mut self.source {
            Source::Stream(stream) => pass(&*stream, copy.input()?, MOST_BYTES),
            Source::File(file, at) => {
                let moved = from_file(&*file, *at, copy.input()?, MOST_BYTES, Patience::Never);
                let moved = moved.map_err(|error| error.source)?;
                if let Moved::Bytes(count) = moved {
                    *at += count as u64;
                }
                Some(moved)
            }
        };
        match moved {
            Some(Moved::Bytes(count)) => {
                let is_stream = matches!(self.source, Source::Stream(_));
                if is_stream && count < LITTLE_BYTES && copy.waiting_bytes() > LITTLE_BYTES as u64 {
                    thread::sleep(NAP);
                }
                Ok(Took::Bytes)
            }
            Some(Moved::End) => Ok(Took::End),
            Some(Moved::WouldBlock) => Ok(Took::Nothing),
            // Copying finds out what is wrong.
            _ => {
                self.can_move = false;
                self.copy_on(copy)
            }
        }
    }

    /// Copies what comes next.
    fn copy_on(&mut self, copy: &mut Copy) -> io::Result<Took> {
        let mut rest = std::mem::take(&mut self.rest);
        let took = if rest.is_empty() { self.read(&mut rest)? } else { Took::Bytes };
        if took == Took::Bytes {
            let given = copy.give(&rest)?;
            rest.drain(..given);
            self.rest = rest;
            return Ok(if given == 0 { Took::Nothing } else { Took::Bytes });
        }
        Ok(took)
    }
}
