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
mod ended;
mod intake;
mod job;
mod joblog;
mod merge;
mod options;
mod output;
mod reader;
mod records;
mod sink;
mod status;
mod stop;
mod store;
mod through;

use std::os::fd::AsFd;

pub use command::{Command, Missing, Position};
pub use crew::Jobs;
pub use cut::{BlockSize, Source};
pub use ended::{Ended, Error, Event};
pub use job::Status;
pub use joblog::Joblog;
pub use merge::Merge;
pub use options::{Halt, Options};
pub use records::Records;
pub use status::StatusRule;
pub use stop::Stop;

use cut::Cutter;
use dealer::Dealer;
use reader::Reader;
use through::Through;

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
