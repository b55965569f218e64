//! Moves bytes between pipes and other descriptors without taking them into memory.
//!
//! A plain splice(2) between two of the user's descriptors cannot say which of them failed. So all data goes through a
//! pipe of our own, which cannot fail: [`take`] moves bytes into it and blames the input, [`give`] moves them out and
//! blames the output. [`pass`] is the shortcut while nothing waits; it never reports a failure but leaves that to
//! [`take`] and [`give`].

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use crate::relay::OwnPipe;

/// The side of a transfer that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that bytes come from.
    Input,
    /// The side that bytes go to.
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

/// Result of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moved {
    /// This many bytes moved: at least 1, and often fewer than asked for.
    Bytes(usize),
    /// Nothing moved, because the call would have had to wait.
    WouldBlock,
    /// The input has ended.
    End,
    /// Linux does not splice this descriptor (EINVAL, ENOSYS, EPERM, EOPNOTSUPP), and nothing moved. Only a first
    /// transfer should accept this; after a transfer has succeeded, treat it as a failure
    /// ([`CannotSplice::into_error`]).
    CannotSplice(CannotSplice),
}

/// Why Linux cannot splice a descriptor: one of the error numbers that mean so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CannotSplice {
    side: Side,
    errno: Errno,
}

impl CannotSplice {
    /// Turns this into a failure, for callers whose earlier splices worked.
    #[must_use]
    pub fn into_error(self) -> TransferError {
        TransferError { side: self.side, source: self.errno.into() }
    }
}

/// A failed transfer and the side that failed.
#[derive(Debug)]
pub struct TransferError {
    /// The side that failed.
    pub side: Side,
    /// Linux's reason.
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

/// Whether a transfer waits until bytes can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It waits, unless the user's descriptor is non-blocking.
    Waits,
    /// It returns [`Moved::WouldBlock`] instead of waiting.
    Never,
}

/// Moves at most `at_most` bytes from `input` into a pipe of our own, without copying them.
///
/// With [`Patience::Waits`] the call waits for input and for room in `into`, so call [`OwnPipe::has_room`] first.
/// Interrupted calls are retried.
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

/// Moves at most `at_most` bytes from a pipe of our own to `output`, without copying them where Linux can.
///
/// [`Patience::Never`] works for pipes only; the call may wait for any other output. It never returns [`Moved::End`]:
/// for an empty pipe of our own it returns [`Moved::WouldBlock`].
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
        // Our own pipe is empty but has not ended, because this process holds its write end.
        Moved::End => Ok(Moved::WouldBlock),
        moved => Ok(moved),
    }
}

/// Moves at most `at_most` bytes from pipe to pipe without waiting for either. Returns `None` when something failed:
/// [`take`] and [`give`] then find out on which side.
///
/// Source: splice(2).
pub fn pass(input: impl AsFd, output: impl AsFd, at_most: usize) -> Option<Moved> {
    outcome(Side::Output, splice(input, output, at_most, SpliceFlags::NONBLOCK)).ok()
}

/// Moves at most `at_most` bytes from a pipe to position `at` of a file, in a single copy by Linux. A file in memory
/// (memfd_create(2)) can hold what no pipe has room for.
///
/// # Errors
/// [`TransferError`]: [`Side::Output`] when there is no space (ENOSPC, ENOMEM, EFBIG, EDQUOT), else [`Side::Input`].
///
/// Source: splice(2).
pub fn to_file(
    input: impl AsFd,
    file: impl AsFd,
    mut at: u64,
    at_most: usize,
    patience: Patience,
) -> Result<Moved, TransferError> {
    let again =
        || rustix::pipe::splice(&input, None, &file, Some(&mut at), at_most, flags(patience));
    let result = rustix::io::retry_on_intr(again);
    let is_full = matches!(result, Err(Errno::NOSPC | Errno::NOMEM | Errno::FBIG | Errno::DQUOT));
    outcome(if is_full { Side::Output } else { Side::Input }, result)
}

/// Moves at most `at_most` bytes from position `at` of a file to a pipe, without copying them: the pipe then holds the
/// file's own pages, and whoever writes to the file changes what the reader of the pipe will see.
///
/// # Errors
/// [`TransferError`]: [`Side::Output`] when the pipe has no reader (`BrokenPipe`), else [`Side::Input`].
///
/// Source: splice(2).
pub fn from_file(
    file: impl AsFd,
    mut at: u64,
    output: impl AsFd,
    at_most: usize,
    patience: Patience,
) -> Result<Moved, TransferError> {
    let again =
        || rustix::pipe::splice(&file, Some(&mut at), &output, None, at_most, flags(patience));
    let result = rustix::io::retry_on_intr(again);
    let is_gone = matches!(result, Err(Errno::PIPE));
    outcome(if is_gone { Side::Output } else { Side::Input }, result)
}

/// Duplicates at most `at_most` bytes that wait in one pipe of our own into another, without copying them, and returns
/// how many. Both pipes then hold the same pages.
///
/// # Errors
/// Linux's error; [`io::ErrorKind::WouldBlock`] when `from` is empty or `into` is full.
///
/// Source: tee(2).
pub fn duplicate(from: &OwnPipe, into: &OwnPipe, at_most: usize) -> io::Result<usize> {
    let again =
        || rustix::pipe::tee(from.read_end(), into.write_end(), at_most, SpliceFlags::NONBLOCK);
    Ok(rustix::io::retry_on_intr(again)?)
}

/// Waits, without a time limit, until a non-blocking descriptor of this process is readable or writable. Never call it
/// on an end of another process's pipe: polling changes how that pipe wakes its owners.
///
/// # Errors
/// Linux's error from poll(2) (ENOMEM). Interrupted calls are retried.
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
    fn bytes_wait_in_a_file_in_memory() {
        let (input, mut writer) = io::pipe().unwrap();
        let (mut reader, output) = io::pipe().unwrap();
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        writer.write_all(b"twelve bytes").unwrap();
        assert_eq!(to_file(&input, &file, 0, 7, Patience::Waits).unwrap(), Moved::Bytes(7));
        assert_eq!(to_file(&input, &file, 7, 99, Patience::Waits).unwrap(), Moved::Bytes(5));
        assert_eq!(to_file(&input, &file, 12, 99, Patience::Never).unwrap(), Moved::WouldBlock);
        assert_eq!(from_file(&file, 0, &output, 7, Patience::Waits).unwrap(), Moved::Bytes(7));
        assert_eq!(from_file(&file, 7, &output, 99, Patience::Waits).unwrap(), Moved::Bytes(5));
        assert_eq!(from_file(&file, 12, &output, 99, Patience::Waits).unwrap(), Moved::End);
        let mut got = [0; 12];
        reader.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"twelve bytes");
        drop((writer, reader));
        assert_eq!(to_file(&input, &file, 12, 99, Patience::Waits).unwrap(), Moved::End);
        let error = from_file(&file, 0, &output, 7, Patience::Waits).unwrap_err();
        assert_eq!(error.side, Side::Output);
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
