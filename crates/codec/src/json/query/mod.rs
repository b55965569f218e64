//! Questions to JSON: documents and values in a text, given by paths.
//!
//! ```text
//! text of whole documents ─Scanner::scan─▶ Table (where documents and members are) ─Rows::visit─▶ cells at the ends of paths
//!   ─┬─ Predicate::holds ─▶ bool
//!    ├─ write_cell ─▶ a cell of TSV, CSV, …
//!    └─ Value, Number, Instant, order ─▶ kinds, decoded strings, exact numbers, times
//! stream of documents of any size ─Each::push─▶ the elements of an array, one a line
//! ```

mod cells;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod collect;
mod each;
mod minify;
mod names;
mod number;
mod order;
mod path;
mod predicate;
mod rows;
mod scan;
mod skip;
mod syntax;
mod table;
mod time;
mod value;

pub use cells::{CellFormat, write_cell, write_on_one_line, write_text};
pub use each::{Each, EachError, FromEnd};
pub use minify::minify;
pub use number::{Decimal, Number};
pub use order::order;
pub use path::{Path, Step};
pub use predicate::Predicate;
pub use rows::{Rows, TwoArrays};
pub use scan::{ScanError, Scanner};
pub use skip::{skip_space, skip_value};
pub use syntax::SyntaxError;
pub use table::Table;
pub use time::{Cut, Instant};
pub use value::{Duplicates, Kind, Repeated, Value};
