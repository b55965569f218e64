//! JSON as RFC 8259 defines it: checks a stream of documents and says where it stops being one.
//!
//! ```text
//! block ─Validator::push─┬─ whole batches ─kernel─▶ Between (where a token begins or ends) ─┐
//!                        └─ everything else, and batches that the kernel refuses ─Machine───┴─▶ JsonError {place, cause}
//! ```
//!
//! [`Validator`] lets a kernel run over as much as it can. A kernel accepts only what is valid; it stops between two tokens,
//! and gives no reasons. `machine` reads the rest byte by byte, and it alone decides what is wrong, and where. So every
//! tier reports the same error. `naive` says the same of a whole text; the tests compare.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod batches;
mod between;
mod check;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod classes;
mod error;
mod machine;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod marks;
pub mod naive;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod numbers;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod passes;
pub mod query;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod text;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tokens;

pub use check::Validator;
pub use error::{Cause, JsonError};

/// Most arrays and objects around a value.
pub const MOST_DEPTH: usize = 1024;
