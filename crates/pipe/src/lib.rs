//! Everything fullbore does with a pipe through Linux: identify it, size it, read its fill, write to it without
//! copying.
//!
//! From a descriptor come [`PipeId`], [`capacity()`], [`set_capacity()`] and [`fill()`]. For pipes of other processes,
//! [`lend()`] opens the descriptor for one closure and closes it at once. [`transfer`] moves data, through pipes of our
//! own ([`OwnPipe`]) where it must not be copied. [`PipeWriter`] writes into a pipe without copying where that is safe
//! under every reader.
//!
//! This crate never keeps an end of a pipe it did not make, and never polls one that belongs to another process. It
//! runs nothing before `main` and changes nothing process-wide.
//!
//! ```
//! let (reader, _writer) = std::io::pipe()?;
//! assert_eq!(fullbore_pipe::capacity(&reader)?.0, 65536);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capacity;
mod error;
mod fill;
mod foreign;
mod identity;
mod lender;
mod pages;
mod relay;
mod room;
mod scratch;
pub mod transfer;
mod writer;

pub use capacity::{Limits, Refused, Widened, capacity, set_capacity, widen};
pub use error::Error;
pub use fill::fill;
pub use foreign::{End, Handle, lend};
pub use identity::PipeId;
pub use lender::{Lender, Loan, PIECE_BYTES, Piece};
pub use relay::{OwnPipe, pipe_budget};
pub use room::is_room_for;
pub use scratch::Scratch;
pub use writer::{Block, Options, OutputError, PipeWriter, Probe, Strategy, is_pipe, probe};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
