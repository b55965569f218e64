//! Bytes in, bytes out: the stages of fullbore as pure functions, without a file descriptor in sight.
//!
//! Flow: block → [`Codec::push`] → bytes of the output, … → [`Codec::finish`]. Every codec has a folder with
//! `naive` (the oracle, beyond doubt by reading), `portable`, `avx2` and `avx512`; all are in every binary, and
//! [`Tier::current`] chooses once. [`memory`] is no stage: ways to move bytes, to be compared.

pub mod fizzbuzz;
pub mod generate;
pub mod gost;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lines_avx512;
pub mod memory;
pub mod morse;
mod place;
mod stream;
mod tier;
pub mod utf8;

pub use place::Place;
pub use stream::{Codec, Divisible, Fault};
pub use tier::{Tier, TierError};
