//! Groups equal keys: a hash table from keys to values, and its rows in an order.
//!
//! Flow: block of lines ─[`Groups::add_lines`]─▶ [`Groups`] (one for each worker) ─[`Groups::into_parts`]─▶ [`Part`]s
//! ─[`Part::merged`]─▶ ─[`Rows::new`]─▶ rows.
//!
//! A key of up to 15 bytes lies in its slot, four slots to a cache line; a longer one in an arena. A table has
//! [`SEGMENTS`] parts by the first bits of the hash. So it grows part by part, several threads can merge it, and one
//! part of a table that is larger than memory can be handled at a time.
//!
//! [`Groups`] knows no lines: [`Groups::entry`] gives a key of any kind a value of any kind ([`Value`]).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bucket;
mod by_line;
mod error;
mod groups;
mod growth;
mod key;
mod lines_of;
pub mod naive;
mod room;
mod rows;
mod segment;
mod value;

pub use error::NoMemory;
pub use groups::{Groups, Part};
pub use key::SEGMENTS;
pub use rows::{Order, Rows};
pub use value::{Placed, Tally, Value};
