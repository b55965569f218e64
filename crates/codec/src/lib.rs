//! Fullbore's stages as pure functions from bytes to bytes, without file descriptors.
//!
//! Flow: block → [`Codec::push`] → bytes of the output, … → [`Codec::finish`]. Every codec has a folder with `naive`
//! (simple enough to verify by reading; the tests compare with it) and `portable`; `avx2`, `avx512` and `neon` where they pay.
//! Every binary contains all that its CPU may have, and the constructor's [`Tier`] chooses.

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
#[cfg(target_arch = "aarch64")]
mod neon;
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
