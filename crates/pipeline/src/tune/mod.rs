//! Widening pipes while the pipeline runs, only where it helps.
//!
//! A wider pipe helps when both its sides starve in turn: the writer blocked on it at one moment, its
//! reader at another. When only one side waits, the other is the bottleneck and no size helps.
//!
//! The tuner is pure: it asks for a [`Change`], the session makes it with [`apply()`], and the tuner learns
//! the [`Answer`].

mod apply;
mod by_hand;
mod change;
mod line;
mod together;
mod trial;
mod tuner;

pub(crate) use apply::{apply, restore_all};
pub(crate) use by_hand::adjust;
pub use by_hand::{AdjustError, Adjusted};
pub use change::Tuning;
pub(crate) use change::{Answer, Change};
pub(crate) use tuner::Tuner;
