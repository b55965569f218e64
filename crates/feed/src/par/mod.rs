//! Deals a stream out to copies of a command, and puts their output together again in order.
//!
//! Flow: [`Source`] ─records─▶ `Block` (a part of a file, or of a stream in memory) ─pages, not copied─▶ the standard
//! input of a process of its own ─pipe─▶ output, when it is the block's turn; until then memory keeps what it writes.
//!
//! One thread cuts the input, because reading may wait. The calling thread does all else. It never waits for a pipe: a
//! pipe that a waiting writer fills wakes it at every read of a few kilobytes. It looks at all pipes from time to time,
//! as often as is necessary for none to run dry or full.

mod caution;
mod command;
mod crew;
mod cut;
mod dealer;
mod ended;
mod first;
mod fitting;
mod intake;
mod job;
mod joblog;
mod kept;
mod merge;
mod options;
mod orphans;
mod output;
mod prove;
mod reader;
mod records;
mod sink;
mod status;
mod stop;
mod store;
mod through;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use fullbore_measure::Bytes;
use fullbore_pipe::Lender;

pub use caution::{Assumption, Caution};
pub use command::{Command, Missing, Position};
pub use crew::Jobs;
pub use cut::{BlockSize, Source};
pub use ended::{Ended, Error, Event};
pub use first::FAST_BYTES_PER_SECOND;
pub use job::Status;
pub use joblog::Joblog;
pub use merge::Merge;
pub use options::{Halt, Options};
pub use records::Records;
pub use status::StatusRule;
pub use stop::Stop;

use cut::Cutter;
use dealer::Dealer;
use first::{Begun, First, Proof};
use fitting::Fitting;
use intake::Intake;
use prove::Beginning;
use reader::Reader;
use through::Through;

/// Bytes that are worked on twice while a first copy runs make so many blocks.
const PROVED_BLOCKS: u64 = 5;

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
    mut on_event: impl FnMut(Event),
) -> Result<Ended, Error> {
    let lender = Lender::new(usize::try_from(options.used_bytes().0).unwrap_or(usize::MAX));
    let fitting = Arc::new(Fitting::new(options.jobs.most()));
    let ends = [output.as_fd(), errors.as_fd()];
    let (source, begun) = match &options.caution {
        Some(caution) => {
            let differs = |bytes: &[u8]| difference_of(bytes, command, &options, stop);
            let most = options.proved.map(|bytes| bytes.0.min(options.window.0 / 4));
            let proof = most.map(|most| Proof::new(most, &differs, &mut on_event));
            match first::begin((command, source), ends, (&options, caution), proof, stop)? {
                First::Ended(ended) => return Ok(ended),
                First::Begun(source, begun) => {
                    on_event(Event::Dealing);
                    (source, Some(begun))
                }
            }
        }
        None => (source, None),
    };
    let cut = (options.records.clone(), options.block);
    let memory = (&lender, Arc::clone(&fitting));
    let mut cutter =
        Cutter::new(source, cut, options.window.0, memory).map_err(Error::Preparing)?;
    if let Some(caution) = &options.caution {
        cutter.be_cautious(caution);
    }
    if let Some(begun) = &begun {
        cutter.begin_with(&begun.rest).map_err(Error::Preparing)?;
    }
    let reader = Reader::start(cutter, options.header_lines).map_err(Error::Preparing)?;
    let mut intake = Intake::new(reader, Arc::clone(&fitting));
    if let (Some(proved), None) = (options.proved, &begun) {
        let most = proved.0.min(options.window.0 / 4);
        let beginning = Beginning::take(&mut intake, most, stop);
        if beginning.blocks.is_empty() {
            // Reading failed, or a signal came.
            return deal((command, lender), (intake, begun), ends, options, stop, on_event);
        }
        let means = (command, &lender);
        let (difference, _) = difference(&beginning, means, fitting, &options, stop)?;
        if let Some(signal) = stop.signal() {
            return Ok(Ended::Stopped(signal));
        }
        if let Some(at) = difference {
            on_event(Event::Differs(at));
            return beginning.go_on_serially(intake, command, ends, &lender, stop);
        }
        on_event(Event::Proved(beginning.len()));
        beginning.put_back(&mut intake);
    }
    deal((command, lender), (intake, begun), ends, options, stop, on_event)
}

/// Works on blocks twice, in blocks and in one piece; returns the first byte of the output that differs, and how the command in
/// one piece ended.
fn difference(
    beginning: &Beginning,
    (command, lender): (&Command, &Lender),
    fitting: Arc<Fitting>,
    options: &Options,
    stop: &Stop,
) -> Result<(Option<u64>, Ended), Error> {
    let again = |header, blocks, output: &File, errors: &File| {
        let intake = Intake::of(header, blocks, fitting);
        let ends = [output.as_fd(), errors.as_fd()];
        let plan = prove::plan(options);
        deal((command, lender.clone()), (intake, None), ends, plan, stop, |_| {})
    };
    beginning.difference(command, lender, stop, again)
}

/// The first byte of the output that differs, of bytes that the first copy was given. A command that ends with a failure there
/// would end the stream with its first copy.
fn difference_of(
    bytes: &[u8],
    command: &Command,
    options: &Options,
    stop: &Stop,
) -> Result<Option<u64>, Error> {
    let mut file = prove::in_memory().map_err(Error::Preparing)?;
    file.write_all(bytes).map_err(Error::Preparing)?;
    let lender = Lender::new(usize::try_from(options.window.0).unwrap_or(usize::MAX));
    let fitting = Arc::new(Fitting::new(options.jobs.most()));
    let block = BlockSize::Bytes(Bytes((bytes.len() as u64).div_ceil(PROVED_BLOCKS).max(1)));
    let cut = (options.records.clone(), block);
    let memory = (&lender, Arc::clone(&fitting));
    let cutter = Cutter::new(Source::File(file, 0), cut, options.window.0, memory)
        .map_err(Error::Preparing)?;
    let reader = Reader::start(cutter, options.header_lines).map_err(Error::Preparing)?;
    let mut intake = Intake::new(reader, Arc::clone(&fitting));
    let beginning = Beginning::take(&mut intake, u64::MAX, stop);
    let (difference, ended) = difference(&beginning, (command, &lender), fitting, options, stop)?;
    let failed_from = options.caution.and_then(|caution| caution.failed_from);
    let has_failed =
        matches!((ended, failed_from), (Ended::Done(status), Some(least)) if status >= least);
    Ok(difference.or(has_failed.then_some(0)))
}

/// Deals out what comes in.
fn deal(
    (command, lender): (&Command, Lender),
    intake: (Intake, Option<Begun>),
    [output, errors]: [BorrowedFd<'_>; 2],
    options: Options,
    stop: &Stop,
    on_event: impl FnMut(Event),
) -> Result<Ended, Error> {
    let Some(Merge::Through(last)) = &options.merge else {
        return Dealer::new((command, lender), intake, [output, errors], options, stop, on_event)
            .run();
    };
    let mut last = Through::start(last, output).map_err(Error::Preparing)?;
    let ended = last.dealt(|pipe| {
        Dealer::new((command, lender), intake, [pipe, errors], options, stop, on_event).run()
    });
    last.end(ended)
}
