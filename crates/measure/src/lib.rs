//! Numbers with units: what fullbore measures, formats and computes with.
//!
//! Flow: raw counts from Linux → [`Bytes`], [`Share`], [`BytesPerSecond`] → text a person can read.
//! This crate does no I/O, decides nothing and has no unsafe code.
//!
//! ```
//! use fullbore_measure::Bytes;
//! assert_eq!("64K".parse::<Bytes>().unwrap().to_string(), "64 KiB");
//! ```
#![forbid(unsafe_code)]

mod host;
mod stats;
mod units;
mod visible;

pub use host::Host;
pub use stats::{Summary, median};
pub use units::{Bytes, BytesPerSecond, ParseBytesError, Share, seconds};
pub use visible::visible;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
