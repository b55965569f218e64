//! How dealing out ends, well or not.

use std::fmt;
use std::io;

use fullbore_measure::Bytes;

use super::cut::CutError;
use super::job::Status;
use super::merge::Trouble;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// All blocks were dealt out: the exit status that follows from those of the copies.
    Done(u8),
    /// [`Options::halt`](super::Options::halt) ended it: the exit status of the copy that failed last.
    Halted(u8),
    /// The reader of the output left; the copies were ended.
    ReaderLeft,
    /// [`Stop`](super::Stop) ended it, with this signal.
    Stopped(i32),
}

/// Something worth telling while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A signal killed the copy of this block, or it failed and will be tried again.
    Failed {
        /// The number of the block, from 1.
        block: u64,
        /// How its copy ended.
        status: Status,
        /// Whether it is tried again.
        is_tried_again: bool,
    },
    /// The command is dealt out from here on; until now one copy took everything.
    Dealing,
    /// So many bytes were worked on twice, with the same result.
    Proved(u64),
    /// Dealing out changes what the command writes for the beginning of the input, from this byte of the output on, or
    /// its exit status. One copy of the command goes on, with everything.
    Differs(u64),
}

/// Why it could not go on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Reading(io::Error),
    /// There is no end of a record in so many bytes, as many as [`Options::window`](super::Options::window) lets wait.
    NoRecordEnd(Bytes),
    /// A copy could not be started for this block.
    Starting(u64, io::Error),
    /// Writing the output failed.
    Writing(io::Error),
    /// Moving the input or the output of the copy of this block failed.
    Moving(u64, io::Error),
    /// Linux refused what every run needs: a file in memory, a thread.
    Preparing(io::Error),
    /// Writing the log of copies failed.
    Joblog(io::Error),
    /// The output of this block cannot be merged with those before.
    Merging(u64, String),
    /// The command that merges the outputs failed.
    MergeCommand(Status),
    /// What is to be merged takes more memory than [`Options::window`](super::Options::window).
    TooMuchToMerge(Bytes),
}

impl From<CutError> for Error {
    fn from(error: CutError) -> Self {
        match error {
            CutError::Reading(error) => Self::Reading(error),
            CutError::NoEnd(bytes) => Self::NoRecordEnd(Bytes(bytes)),
        }
    }
}

impl Error {
    /// `block` is the one whose output was merged last; 0 at the end.
    pub(super) fn of_merge(block: u64, trouble: Trouble) -> Self {
        match trouble {
            Trouble::Output(why) => Self::Merging(block, why),
            Trouble::Command(status) => Self::MergeCommand(status),
            Trouble::Writing(error) => Self::Writing(error),
            Trouble::Memory(error) => Self::Preparing(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading(error) => write!(f, "reading the input: {error}"),
            Self::NoRecordEnd(bytes) => write!(f, "no record ends in {bytes} of input"),
            Self::Starting(block, error) => {
                write!(f, "starting a copy of the command for block {block}: {error}")
            }
            Self::Writing(error) => write!(f, "writing the output: {error}"),
            Self::Moving(block, error) => write!(f, "block {block}: {error}"),
            Self::Preparing(error) => write!(f, "{error}"),
            Self::Joblog(error) => write!(f, "writing the job log: {error}"),
            Self::Merging(block, error) => {
                write!(f, "merging the output of block {block}: {error}")
            }
            Self::MergeCommand(status) => write!(f, "merging the outputs: the command {status}"),
            Self::TooMuchToMerge(bytes) => write!(f, "the outputs to merge take more than {bytes}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoRecordEnd(_)
            | Self::TooMuchToMerge(_)
            | Self::Merging(..)
            | Self::MergeCommand(_) => None,
            Self::Reading(error)
            | Self::Starting(_, error)
            | Self::Writing(error)
            | Self::Moving(_, error)
            | Self::Preparing(error)
            | Self::Joblog(error) => Some(error),
        }
    }
}
