//! What groups of JSON records have in common: counts, sums, extremes, quantiles, different and frequent values.
//!
//! Flow: values of a record ─[`Grouped::add`]─▶ groups, one table for each thread ─[`Grouped::absorb`]─▶ one table
//! ─[`Rows::new`]─▶ rows in an order ─[`Rows::answer`]─▶ [`Answer`]. What comes out does not depend on which thread saw which
//! record: sums are exact until the end, and what is estimated is estimated from counts that can be added.

mod column;
mod distinct;
mod extreme;
mod frequent;
mod grouped;
mod histogram;
mod item;
mod key;
mod outline;
mod parse;
mod plan;
mod quantile;
mod recent;
mod rows;
mod short;
mod sketch;
mod sum;
mod wide;

pub use distinct::{DISTINCT_ERROR, MOST_EXACT_DISTINCT};
pub use grouped::Grouped;
pub use histogram::Range;
pub use item::Item;
pub use outline::{EXAMPLE_CHARACTERS, Outline, Outlined, TooManyPaths};
pub use parse::{KeyPart, NAMES, Question};
pub use plan::{Aggregate, Plan, Wanted};
pub use quantile::{Level, MOST_EXACT_VALUES};
pub use rows::{Answer, Note, Rows, SortBy, shortest};
pub use sketch::SKETCH_ERROR;
