//! Sealed streams: data of any length, authenticated chunk by chunk.
//!
//! A stream is a [`Header`] and chunks of [`Header::CHUNK_BYTES`], the last of which may be shorter. MGM seals each
//! chunk under a key of its own. The nonce encodes the chunk's number and whether it is the last, so nobody can change,
//! drop, repeat, move or add chunks unnoticed. Chunks are independent of each other: [`Chunks`] seals and opens them in
//! any order, on any number of CPUs. [`Seal`] and [`Open`] process them in order.
//!
//! docs/gost.md describes the format byte by byte. It is the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár:
//! Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015).

mod chunks;
mod error;
mod header;
mod open;
mod seal;

pub use chunks::{ChunkKind, Chunks};
pub use error::StreamError;
pub use header::Header;
pub use open::Open;
pub use seal::Seal;
