//! Shows the record of a run: it reads numbers and writes text, and never measures.
//!
//! What [`fullbore_doctor`] found is shown in the same way ([`text::machine`]), and what many records say together
//! ([`workflow`]), and where the time went within each stage ([`flame`]).
//!
//! Flow: [`RunRecord`](fullbore_record::RunRecord) → [`text::summary`] (terminal), [`json`] (other programs),
//! [`html::page`] (one page that needs nothing else). Nothing here prints, opens a file or judges a pipeline.
//!
//! ```
//! use fullbore_record::RunRecord;
//! use fullbore_report::text::{Style, summary};
//! let mut record = RunRecord::default();
//! record.elapsed_ns = 2_000_000;
//! assert_eq!(summary(&record, Style::plain(80)), "  too short to judge (2 ms)\n");
//! ```
#![forbid(unsafe_code)]

pub mod disk;
mod error;
mod figures;
pub mod flame;
pub mod html;
pub mod json;
pub mod lab;
mod markdown;
mod moved;
mod outlook;
mod prominence;
pub mod text;
mod visible;
mod wording;
pub mod workflow;

pub use error::Error;
