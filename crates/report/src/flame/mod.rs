//! Where the time of each stage went, down to functions: one page of towers, and one about the difference of two.
//!
//! A tower is a flame graph of wall-clock time: as wide as its stage lived, on one scale for all stages. The pages draw
//! themselves from the numbers that they contain; the tables need no script.

mod diff;
mod parts;
mod tower;

pub use diff::page as diff_page;
pub use tower::page;
