//! From a source to a sink: what moves the bytes of fullbore's own stages.
//!
//! Flow of a stage: [`Input`] ─block─▶ [`Codec::push`](fullbore_codec::Codec::push) ─room of the
//! [`PipeWriter`](fullbore_pipe::PipeWriter)─▶ output. [`transform`] does it for a codec, [`generate`] for a source of
//! its own. A second thread reads ahead only where a CPU is idle and enough was read to make it pay.
//! Several CPUs work on a stream that can be divided, and where they are idle: [`transform_divided`],
//! [`generate_divided`], and [`in_chunks`] for chunks that are independent of each other.
//! [`inspect()`] only looks at what passes by.
//! Flow of [`buffer`]: input → reader → queue (pipes, memory, disk) → writer → output.
//! This crate shows nothing and decides no exit status.
#![forbid(unsafe_code)]

mod ahead;
pub mod buffer;
mod error;
mod flow;
mod input;
mod inspect;
mod parallel;

pub use ahead::Threads;
pub use error::FeedError;
pub use flow::{Moved, generate, generate_divided, transform, transform_divided};
pub use input::{Input, InputError};
pub use inspect::{Flaw, Inspected, inspect};
pub use parallel::{Chunk, Chunked, in_chunks};
