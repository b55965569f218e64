//! Counts equal lines.
//!
//! Flow: inputs ─`Source`─▶ block of whole lines ─worker─▶ table ─▶ tables merged segment by segment ─▶ rows in
//! an order. A table that outgrows its memory goes to disk as records, by segments; in the end the segments are counted
//! one after the other, and their sorted rows are merged.

mod budget;
mod error;
mod finish;
mod gather;
mod merge;
mod options;
mod overflow;
mod records;
mod runs;
mod source;
mod stop;
mod top;

use std::io;
use std::path::Path;
use std::thread::available_parallelism;

use fullbore_codec::group::{Order, Placed, Tally};
use fullbore_pipe::OutputError;

pub use error::CountError;
use finish::{Plan, from_disk, in_memory, in_order};
use gather::{Gathered, disk, gather};
pub use options::Options;
use overflow::Recount;
use records::Scrap;
use runs::Runs;

use crate::Input;

/// Counts the lines of all inputs, and calls `each` with every distinct one and its number, in the order of the
/// options.
///
/// # Errors
/// [`CountError`]; unless the output failed, nothing was written then.
pub fn count<I, E>(
    inputs: I,
    options: &Options,
    each: impl FnMut(&[u8], u64) -> Result<(), OutputError>,
) -> Result<(), CountError<E>>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
{
    if options.order == Order::First {
        count_as::<Placed, I, E>(inputs, options, each)
    } else {
        count_as::<u64, I, E>(inputs, options, each)
    }
}

/// Checks that temporary files can be made in a folder.
///
/// # Errors
/// Linux's error.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    Scrap::create(folder).map(drop)
}

/// The part of the memory for tables. The rest is for what the allocator keeps, and for the rows of `top`.
const TABLE_SHARE: f64 = 0.7;

/// The part of the memory for the most frequent rows, while there are tables.
const TOP_SHARE: f64 = 0.1;

/// The part of the memory for the buffers of sorted rows on disk, when there are no tables any more.
const MERGE_SHARE: f64 = 0.25;

fn count_as<V: Tally, I, E>(
    inputs: I,
    options: &Options,
    mut each: impl FnMut(&[u8], u64) -> Result<(), OutputError>,
) -> Result<(), CountError<E>>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
{
    let cpus = available_parallelism().map_or(1, usize::from);
    let workers = options.workers.unwrap_or(cpus).max(1);
    #[expect(clippy::cast_possible_truncation, reason = "less than the memory of the machine")]
    let part = |share: f64| (options.memory.0 as f64 * share) as usize;
    let Gathered { tables, overflow } =
        gather::<V, I, E>(inputs, options, workers, part(TABLE_SHARE))?;
    let runs = Runs::new(options, part(MERGE_SHARE));
    let plan = Plan { options, workers, runs: &runs, top_bytes: part(TOP_SHARE) };
    let failed = |source| disk(&options.folder, source);
    let (found, plan) = match overflow {
        None => {
            // Who counted alone has too little for several threads.
            let plan = Plan { workers: tables.len(), ..plan };
            (in_memory(tables, plan).map_err(failed)?, plan)
        }
        Some(overflow) => {
            let memory = part(TABLE_SHARE) / workers;
            let recount = Recount { memory, folder: options.folder.clone(), seed: options.seed };
            (from_disk::<V>(&overflow, &recount, plan).map_err(failed)?, plan)
        }
    };
    let row = |key: &[u8], value: V| each(key, value.count()).map_err(Failed::Output);
    in_order(found, plan, row).map_err(|f| f.of(options))
}

/// Why the rows could not be handed on.
enum Failed {
    Disk(io::Error),
    Output(OutputError),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl Failed {
    fn of<E>(self, options: &Options) -> CountError<E> {
        match self {
            Self::Disk(source) => disk(&options.folder, source),
            Self::Output(error) => CountError::Output(error),
        }
    }
}
