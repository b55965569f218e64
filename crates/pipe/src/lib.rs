//! What fullbore asks Linux to do with a pipe: name it, size it, look into it, without owning it.
//!
//! Flow: descriptor → [`PipeId`] · [`capacity()`] · [`set_capacity()`] · [`fill()`]; for pipes of other
//! processes, [`lend()`] opens the descriptor for one closure and closes it at once. Data moves with [`transfer`],
//! and waits in pipes of our own ([`Reservoir`]).
//! It is also the fence around what safe libraries do not offer: inherited descriptors, [`Pidfd`], and what experiments
//! compare pipes with ([`TrialPages`], [`passing`]).
//! This crate never keeps an end of a pipe it did not make and never polls one.
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
mod inherited;
mod pages;
pub mod passing;
mod pidfd;
mod relay;
mod scratch;
pub mod transfer;
mod trial;
mod writer;

pub use capacity::{Limits, Refused, capacity, grow, set_capacity};
pub use error::Error;
pub use fill::fill;
pub use foreign::{End, Handle, lend};
pub use identity::PipeId;
pub use inherited::{
    hand_on_closed_descriptors, inherited, let_go_of_inherited, sigpipe_was_ignored,
    stdin_was_closed, stdout_was_closed,
};
pub use pages::{PageSize, Wait};
pub use pidfd::Pidfd;
pub use relay::{OwnPipe, Reservoir, Widened, pipe_budget, widen};
pub use scratch::Scratch;
pub use trial::TrialPages;
pub use writer::{Block, Options, OutputError, PipeWriter, Probe, Strategy, is_pipe, probe};
