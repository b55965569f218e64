//! Moves the bytes of fullbore's own stages, from source to output.
//!
//! Flow of a stage: [`Input`] ─block─▶ [`Codec::push`](fullbore_codec::Codec::push) ─room of the
//! [`PipeWriter`](fullbore_pipe::PipeWriter)─▶ output. [`transform`] does this for a codec, [`generate`] for a source
//! that needs no input. A second thread reads ahead only where a CPU is idle and the stage has read enough to make it
//! pay. Where CPUs are idle, several work on a stream that can be split: [`transform_divided`], [`generate_divided`],
//! and [`in_chunks`] for independent chunks. [`inspect()`] checks a stream that passes by. Flow of [`buffer`]: input →
//! reader → queue (memory, disk) → writer → output.
//!
//! This crate prints nothing and decides no exit status.
#![forbid(unsafe_code)]

mod ahead;
pub mod buffer;
#[cfg(feature = "count")]
pub mod count;
mod error;
pub mod few;
mod flow;
mod input;
mod inspect;
#[cfg(feature = "json")]
pub mod json;
mod moved;
#[cfg(feature = "par")]
pub mod par;
mod parallel;

pub use ahead::Threads;
pub use error::FeedError;
pub use flow::{generate, generate_divided, transform, transform_divided};
pub use input::{Input, InputError};
pub use inspect::{Flaw, Inspected, inspect};
pub use moved::Moved;
pub use parallel::{Chunk, Chunked, in_chunks, memory_for_chunks};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
