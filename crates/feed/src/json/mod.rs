//! Does something with every record of a stream of JSON.
//!
//! Flow: inputs ─`Source`─▶ block ─`Scanner`─▶ `Found`, as if a record began at its beginning ─`Between`─▶ the block after what the one
//! before it left ─`Task`─▶ output, in order.
//!
//! Blocks end with lines, so that most of them end with a record. Several workers scan blocks that nobody has reached yet; a
//! block counts only when the one before it was read to its end without a rest. If it left one, the block is scanned again behind the rest.
//! Where this happens often, blocks are scanned one after the other.

mod back;
mod between;
mod block;
mod control;
mod crew;
mod each;
mod job;
mod options;
mod outcome;
mod scan;
mod source;
mod task;

use std::os::fd::AsFd;

use fullbore_pipe::PipeWriter;

pub use control::Control;
use crew::Crew;
pub use each::each;
pub use options::{BLOCK_BYTES, MAX_RECORD, Options};
pub use outcome::{Invalid, Kind, Outcome, RunError};
pub use task::{RecordError, Task};

use crate::Input;

/// Does a task with all records of all inputs, one input after the other; a record does not go on in the next input. Writes
/// what the task appends; the writer is flushed whenever the input has to be waited for, but not at the end.
///
/// Invalid JSON and a record that the task refuses are no failures: the [`Outcome`] tells.
///
/// # Errors
/// [`RunError`]: what came before it was written.
pub fn run<I, E, T, F>(
    inputs: I,
    options: &Options,
    task: &T,
    control: &Control,
    writer: &mut PipeWriter<F>,
) -> Result<Outcome<T::State>, RunError<E>>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
    T: Task,
    F: AsFd + Send,
{
    Crew::new(inputs, options, task, control, writer).run()
}
