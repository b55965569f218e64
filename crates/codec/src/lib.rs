//! Fullbore's stages as pure functions from bytes to bytes, without file descriptors.
//!
//! Flow: block → [`Codec::push`] → bytes of the output, … → [`Codec::finish`]. Every codec has a folder with `naive`
//! (simple enough to verify by reading; the tests compare with it) and `portable`; `avx2`, `avx512` and `neon` where they pay (with GFNI,
//! Kuznyechik's `avx2` becomes the tier `avx2-gfni`).
//! Every binary contains all that its CPU may have, and the constructor's [`Tier`] chooses.

// Kernels share their loads and stores; a build with few features leaves some of them unused.
#![cfg_attr(not(feature = "default"), allow(dead_code))]

#[cfg(feature = "aggregate")]
pub mod aggregate;
#[cfg(all(target_arch = "x86_64", feature = "json"))]
mod avx2;
#[cfg(any(feature = "json", feature = "group"))]
mod few;
#[cfg(feature = "fizzbuzz")]
pub mod fizzbuzz;
pub mod generate;
#[cfg(feature = "gost")]
pub mod gost;
#[cfg(feature = "group")]
pub mod group;
#[cfg(feature = "json")]
pub mod json;
mod kernel;
pub mod lines;
#[cfg(target_arch = "x86_64")]
mod lines_avx512;
#[cfg(feature = "morse")]
pub mod morse;
#[cfg(target_arch = "aarch64")]
mod neon;
mod place;
mod stream;
mod tier;
#[cfg(test)]
#[path = "../tests/common/tiers.rs"]
mod tiers;
#[cfg(feature = "utf8")]
pub mod utf8;

#[cfg(test)]
extern crate self as fullbore_codec;

pub use place::Place;
pub use stream::{Codec, Divisible, Fault};
pub use tier::{Tier, TierError};

/// The examples of the README.
#[cfg(all(doctest, feature = "default"))]
#[doc = include_str!("../README.md")]
struct Readme;
