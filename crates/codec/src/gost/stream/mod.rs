//! Sealed streams: data of any length, authenticated chunk by chunk.
//!
//! A stream is a [`Header`] and chunks of [`Header::CHUNK_BYTES`], the last of which may be shorter. Each chunk is
//! sealed with MGM under a key of its own; its nonce says which one it is and whether it is the last, so that chunks
//! cannot be changed, left out, repeated, moved or added without notice. Chunks are independent of each other:
//! [`Chunks`] seals and opens them in any order, on as many CPUs as there are. [`Seal`] and [`Open`] do it in a row.
//!
//! The format, byte by byte, is in docs/gost.md. It is the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár:
//! Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015).

mod chunks;
mod error;
mod header;
mod open;
mod seal;

pub use chunks::{Chunks, Place};
pub use error::StreamError;
pub use header::Header;
pub use open::Open;
pub use seal::Seal;
