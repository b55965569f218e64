//! Fullbore's stages as pure functions from bytes to bytes, without file descriptors.
//!
//! Flow: block → [`Codec::push`] → bytes of the output, … → [`Codec::finish`]. Every codec has a folder with `naive`
//! (simple enough to verify by reading; the tests compare with it), `portable`, `avx2` and `avx512`. Every binary
//! contains all of them, and the constructor's [`Tier`] chooses.

pub mod aggregate;
pub mod fizzbuzz;
pub mod generate;
pub mod gost;
pub mod group;
pub mod json;
mod kernel;
pub mod lines;
#[cfg(target_arch = "x86_64")]
mod lines_avx512;
pub mod morse;
mod place;
mod stream;
mod tier;
#[cfg(test)]
#[path = "../tests/common/tiers.rs"]
mod tiers;
pub mod utf8;

#[cfg(test)]
extern crate self as fullbore_codec;

pub use place::Place;
pub use stream::{Codec, Divisible, Fault};
pub use tier::{Tier, TierError};
