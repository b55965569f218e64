//! The alternatives that experiments compare pipes with. Only the lab and the benchmarks use them: no stage writes or
//! copies like this.
//!
//! | item | purpose |
//! |---|---|
//! | [`TrialPages`], [`DoubleBuffer`] | lend pages to a pipe *without a promise*, as the fastest published programs do, for comparison with [`PipeWriter`](fullbore_pipe::PipeWriter) |
//! | [`passing`] | compares message queues, shared memory and io_uring with pipes |
//! | [`memory`] | compares ways to copy, write and read memory |

mod double;
pub mod memory;
mod pages;
pub mod passing;
#[cfg(test)]
#[path = "../tests/skip/mod.rs"]
#[allow(clippy::print_stderr, reason = "a test says what it skips")]
mod skip;

pub use double::DoubleBuffer;
pub use pages::{PageSize, TrialPages, Wait};
