//! Moving bytes between pipes and other descriptors without taking them into memory.
//!
//! A plain splice(2) between two descriptors of the user cannot say which of them failed. So everything goes
//! through a pipe of our own, that cannot fail: [`take`] moves into it and blames the input, [`give`] moves out
//! of it and blames the output. [`pass`] is the short cut for the moment when nothing waits; it never decides
//! that something failed, [`take`] and [`give`] do.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use crate::OwnPipe;

/// The side of a transfer that a failure came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where bytes come from.
    Input,
    /// Where they go.
    Output,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "reading",
            Self::Output => "writing",
        })
    }
}

/// What came of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moved {
    /// This many bytes, at least 1; fewer than were asked for is normal.
    Bytes(usize),
    /// Nothing now: the call would have had to wait.
    WouldBlock,
    /// The input is at its end.
    End,
    /// Linux does not splice this descriptor (EINVAL, ENOSYS, EPERM, EOPNOTSUPP): nothing was moved. A value of
    /// the first transfer only; a caller for whom one succeeded before takes it for a failure ([`CannotSplice::into_error`]).
    CannotSplice(CannotSplice),
}

/// Why a descriptor cannot be spliced: an error number that was checked to be one of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CannotSplice {
    side: Side,
    errno: Errno,
}

impl CannotSplice {
    /// The same as a failure, for when splicing has worked before.
    #[must_use]
    pub fn into_error(self) -> TransferError {
        TransferError { side: self.side, source: self.errno.into() }
    }
}

/// A transfer that failed, and on which side.
#[derive(Debug)]
pub struct TransferError {
    /// The side it came from.
    pub side: Side,
    /// What Linux said.
    pub source: io::Error,
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.side, self.source)
    }
}

impl std::error::Error for TransferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Whether a transfer waits until something can be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It waits, unless the descriptor of the user is non-blocking.
    Waits,
    /// It returns [`Moved::WouldBlock`] instead.
    Never,
}

/// Moves at most `at_most` bytes from `input` into a pipe of our own.
///
/// With [`Patience::Waits`] it waits for room in `into`, too: see [`OwnPipe::has_room`].
///
/// # Errors
/// [`TransferError`] with [`Side::Input`].
///
/// Source: splice(2).
pub fn take(
    input: impl AsFd,
    into: &OwnPipe,
    at_most: usize,
    patience: Patience,
) -> Result<Moved, TransferError> {
    outcome(Side::Input, splice(input, into.write_end(), at_most, flags(patience)))
}

/// Moves at most `at_most` bytes from a pipe of our own to `output`.
///
/// [`Patience::Never`] holds for pipes only; another output may wait in any case. [`Moved::End`] does not occur.
///
/// # Errors
/// [`TransferError`] with [`Side::Output`]; a pipe without a reader is `BrokenPipe`.
///
/// Source: splice(2).
pub fn give(
    from: &OwnPipe,
    output: impl AsFd,
    at_most: usize,
    patience: Patience,
) -> Result<Moved, TransferError> {
    match outcome(Side::Output, splice(from.read_end(), output, at_most, flags(patience)))? {
        // Our own pipe is empty, and this process holds its write end: nothing to move is no end.
        Moved::End => Ok(Moved::WouldBlock),
        moved => Ok(moved),
    }
}

/// Moves what is there from pipe to pipe without waiting for either; `None` when it must be found out with
/// [`take`] and [`give`] what is the matter.
///
/// Source: splice(2).
pub fn pass(input: impl AsFd, output: impl AsFd, at_most: usize) -> Option<Moved> {
    outcome(Side::Output, splice(input, output, at_most, SpliceFlags::NONBLOCK)).ok()
}

/// Puts what waits in one pipe of our own into another one as well, without copying, at most `at_most` bytes;
/// returns how many.
///
/// # Errors
/// What Linux says; [`io::ErrorKind::WouldBlock`] when `from` is empty or `into` is full.
///
/// Source: tee(2).
pub fn duplicate(from: &OwnPipe, into: &OwnPipe, at_most: usize) -> io::Result<usize> {
    let again =
        || rustix::pipe::tee(from.read_end(), into.write_end(), at_most, SpliceFlags::NONBLOCK);
    Ok(rustix::io::retry_on_intr(again)?)
}

/// Waits until a descriptor that does not wait by itself can be read or written.
///
/// # Errors
/// What Linux says; an interruption is none.
///
/// Source: poll(2).
pub fn wait_until(fd: impl AsFd, what: PollFlags) -> Result<(), Errno> {
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&fd, what)], None)).map(drop)
}

fn flags(patience: Patience) -> SpliceFlags {
    match patience {
        Patience::Waits => SpliceFlags::empty(),
        Patience::Never => SpliceFlags::NONBLOCK,
    }
}

fn splice(
    from: impl AsFd,
    to: impl AsFd,
    at_most: usize,
    flags: SpliceFlags,
) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::pipe::splice(&from, None, &to, None, at_most, flags))
}

fn outcome(side: Side, result: Result<usize, Errno>) -> Result<Moved, TransferError> {
    match result {
        Ok(0) => Ok(Moved::End),
        Ok(bytes) => Ok(Moved::Bytes(bytes)),
        Err(Errno::AGAIN) => Ok(Moved::WouldBlock),
        Err(errno @ (Errno::INVAL | Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP)) => {
            Ok(Moved::CannotSplice(CannotSplice { side, errno }))
        }
        Err(errno) => Err(TransferError { side, source: errno.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_measure::Bytes;
    use std::io::{Read, Write};

    fn own(bytes: u64) -> OwnPipe {
        OwnPipe::new(Bytes(bytes)).unwrap()
    }

    #[test]
    fn bytes_go_through_a_pipe_of_our_own() {
        let (input, mut writer) = io::pipe().unwrap();
        let (mut reader, output) = io::pipe().unwrap();
        let own = own(65536);
        writer.write_all(b"twelve bytes").unwrap();
        assert_eq!(take(&input, &own, 1 << 20, Patience::Waits).unwrap(), Moved::Bytes(12));
        assert_eq!(give(&own, &output, 6, Patience::Waits).unwrap(), Moved::Bytes(6));
        assert_eq!(give(&own, &output, 1 << 20, Patience::Never).unwrap(), Moved::Bytes(6));
        assert_eq!(give(&own, &output, 1 << 20, Patience::Never).unwrap(), Moved::WouldBlock);
        let mut got = [0; 12];
        reader.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"twelve bytes");
    }

    #[test]
    fn an_empty_input_would_block_and_a_closed_one_is_at_its_end() {
        let (input, writer) = io::pipe().unwrap();
        let (_reader, output) = io::pipe().unwrap();
        let own = own(65536);
        assert_eq!(take(&input, &own, 1, Patience::Never).unwrap(), Moved::WouldBlock);
        assert_eq!(pass(&input, &output, 1), Some(Moved::WouldBlock));
        drop(writer);
        assert_eq!(take(&input, &own, 1, Patience::Waits).unwrap(), Moved::End);
    }

    #[test]
    fn a_reader_that_left_is_blamed_on_the_output() {
        let (reader, output) = io::pipe().unwrap();
        let (input, mut writer) = io::pipe().unwrap();
        let own = own(65536);
        writer.write_all(b"x").unwrap();
        take(&input, &own, 1, Patience::Waits).unwrap();
        drop(reader);
        let error = give(&own, &output, 1, Patience::Waits).unwrap_err();
        assert_eq!(error.side, Side::Output);
        assert_eq!(error.source.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_cannot_be_spliced_says_so_and_loses_nothing() {
        let own = own(65536);
        let file = tempfile::NamedTempFile::new().unwrap();
        let append = std::fs::File::options().append(true).open(file.path()).unwrap();
        let (input, mut writer) = io::pipe().unwrap();
        writer.write_all(b"kept").unwrap();
        take(&input, &own, 4, Patience::Waits).unwrap();
        let moved = give(&own, &append, 4, Patience::Waits).unwrap();
        let Moved::CannotSplice(why) = moved else { panic!("O_APPEND was spliced: {moved:?}") };
        assert_eq!(why.into_error().side, Side::Output);
        let mut got = [0; 4];
        rustix::io::read(own.read_end(), &mut got).unwrap();
        assert_eq!(&got, b"kept");
    }

    #[test]
    fn a_duplicate_leaves_the_original_where_it_is() {
        let (first, second) = (own(65536), own(65536));
        rustix::io::write(first.write_end(), b"both").unwrap();
        assert_eq!(duplicate(&first, &second, 100).unwrap(), 4);
        for pipe in [&first, &second] {
            let mut got = [0; 4];
            rustix::io::read(pipe.read_end(), &mut got).unwrap();
            assert_eq!(&got, b"both");
        }
        let empty = duplicate(&first, &second, 100).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
    }
}
