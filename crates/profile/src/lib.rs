//! Where the time of each stage of a pipeline went, down to functions.
//!
//! Flow: registers and a copy of the stack ─[`Callers`]─▶ [`Frame`]s ─[`Tally::add`]─▶ [`Tally`], for each process and what
//! it did ─[`Names::of`], [`Part`]s with their time from the record of the run─▶ [`Tower`]s ─▶ [`Profile`] ─▶ four formats
//! ([`Format`]), or the difference of two ([`Diff`]).
//!
//! A tower's time is wall-clock time and adds up to the life of its stage: the record says how long the stage was on a CPU
//! and how long it waited for what, and stacks say how each of these times divides. This crate reads the files of programs,
//! for their names, and nothing else of the system.
#![forbid(unsafe_code)]
// Elsewhere callers cannot be found, and nothing asks for what finds them.
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only `unwind` needs it")
)]

mod binary;
mod callers;
mod code;
mod diff;
mod formats;
mod frame;
mod guess;
mod kernel;
mod names;
mod perf_map;
mod space;
mod stack;
mod symbols;
mod tally;
mod tower;
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "unwind_none.rs")]
mod unwind;

pub use callers::Callers;
pub use diff::{Change, Diff};
pub use formats::{Format, parse_folded};
pub use frame::{BinaryId, Frame};
pub use kernel::KernelSymbols;
pub use names::Names;
pub use space::Mapped;
pub use stack::Stack;
pub use tally::{Stacks, Tally};
pub use tower::{Kind, Node, Part, Profile, Tower};
