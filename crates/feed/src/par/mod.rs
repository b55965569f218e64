//! Deals a stream out to copies of a command, and puts their output together again in order.
//!
//! Flow: [`Source`] ─records─▶ `Block` (a part of a file, or of a file in memory) ─spliced─▶ the standard input of a
//! process of its own ─pipe─▶ output, when it is the block's turn; until then a file in memory keeps what it writes.
//!
//! One thread cuts the input, because reading may wait. The calling thread does all else. It never waits for a pipe: a
//! pipe that a waiting writer fills wakes it at every read of a few kilobytes. It looks at all pipes from time to time,
//! as often as is necessary for none to run dry or full.

mod command;
mod crew;
mod cut;
mod dealer;
mod job;
mod joblog;
mod merge;
mod output;
mod reader;
mod records;
mod sink;
mod status;
mod store;
mod through;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use fullbore_measure::Bytes;
use fullbore_pipe::Limits;
use rustix::event::{EventfdFlags, eventfd};

pub use command::{Command, Missing, Position};
pub use crew::Jobs;
pub use cut::{BlockSize, Source};
pub use job::Status;
pub use joblog::Joblog;
pub use merge::Merge;
pub use records::Records;
pub use status::StatusRule;

use cut::Cutter;
use dealer::Dealer;
use reader::Reader;
use through::Through;

/// What to do when copies fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    /// After so many failures.
    pub after: u64,
    /// End the copies that run, too, instead of waiting for them.
    pub now: bool,
}

/// How to deal out a stream.
#[derive(Debug)]
pub struct Options {
    /// What separates the records.
    pub records: Records,
    /// How many of them make a block.
    pub block: BlockSize,
    /// Lines at the beginning of the input that every copy gets first. The first lines of its output are passed on from
    /// the first block only.
    pub header_lines: u64,
    /// How many copies run at the same time.
    pub jobs: Jobs,
    /// Blocks and output that wait may take so much memory; then nothing more is read.
    pub window: Bytes,
    /// Pass on whole outputs in the order in which copies end, not in that of the input.
    pub is_unordered: bool,
    /// How outputs become one; by default they are put one after the other.
    pub merge: Option<Merge>,
    /// Which exit status follows from those of the copies.
    pub status: StatusRule,
    /// When to give up; by default a failed copy stops nothing.
    pub halt: Option<Halt>,
    /// How often a failed block is tried again. Its output is passed on only when its copy has ended.
    pub retries: u32,
    /// Where to note every copy.
    pub joblog: Option<Joblog>,
    /// What Linux grants pipes here.
    pub pipe_limits: Limits,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// All blocks were dealt out: the exit status that follows from those of the copies.
    Done(u8),
    /// [`Options::halt`] ended it: the exit status of the copy that failed last.
    Halted(u8),
    /// The reader of the output left; the copies were ended.
    ReaderLeft,
    /// [`Stop`] ended it, with this signal.
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
}

/// Why it could not go on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Reading(io::Error),
    /// There is no end of a record in so many bytes, as many as [`Options::window`] lets wait.
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
    Merging(u64, io::Error),
    /// What is to be merged takes more memory than [`Options::window`].
    TooMuchToMerge(Bytes),
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
            Self::TooMuchToMerge(bytes) => write!(f, "the outputs to merge take more than {bytes}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoRecordEnd(_) | Self::TooMuchToMerge(_) => None,
            Self::Reading(error)
            | Self::Starting(_, error)
            | Self::Writing(error)
            | Self::Moving(_, error)
            | Self::Merging(_, error)
            | Self::Preparing(error)
            | Self::Joblog(error) => Some(error),
        }
    }
}

/// Ends [`par`] from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    signal: Arc<AtomicI32>,
    bell: Arc<OwnedFd>,
}

impl Stop {
    /// # Errors
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { signal: Arc::new(AtomicI32::new(0)), bell: Arc::new(bell) })
    }

    /// Sends the copies this signal and ends.
    pub fn stop(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        // It rings already when Linux has no room for one more.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}

/// Deals `source` out to copies of `command`, each with one block of whole records as its standard input, and writes
/// their output to `output` and what they say to `errors`, in the order of the blocks. Returns when all have ended.
///
/// An input without a byte is one empty block.
///
/// # Errors
/// [`Error`]; copies that run have been ended then, and what was written is whole up to the block at fault.
pub fn par(
    command: &Command,
    source: Source,
    output: impl AsFd,
    errors: impl AsFd,
    options: Options,
    stop: &Stop,
    on_event: impl FnMut(Event),
) -> Result<Ended, Error> {
    let cutter = Cutter::new(source, options.records.clone(), options.block, options.window.0);
    let cutter = cutter.map_err(Error::Preparing)?;
    let reader = Reader::start(cutter, options.header_lines).map_err(Error::Preparing)?;
    let (output, errors) = (output.as_fd(), errors.as_fd());
    let Some(Merge::Through(last)) = &options.merge else {
        return Dealer::new(command, reader, [output, errors], options, stop, on_event).run();
    };
    let mut last = Through::start(last, output).map_err(Error::Preparing)?;
    let ended = last
        .dealt(|pipe| Dealer::new(command, reader, [pipe, errors], options, stop, on_event).run());
    last.end(ended)
}
