//! Stages at work: source → blocks → codec → pipe writer.
//!
//! Flow: [`Input`] ─block─▶ [`Codec::push`](fullbore_codec::Codec::push) ─room of the
//! [`PipeWriter`](fullbore_pipe::PipeWriter)─▶ output. [`transform`] does it for a codec, [`generate`] for a source of
//! its own. A second thread reads ahead only where a CPU is idle and enough was read to make it pay.

mod ahead;
mod error;
mod flow;
mod input;

pub use ahead::Ahead;
pub use error::FeedError;
pub use flow::{Moved, generate, transform};
pub use input::{Input, InputError};
