//! The record of the lab as text, tables in Markdown, JSON and one HTML page.

pub(crate) mod columns;
mod counters;
mod distribution;
pub(crate) mod figures;
pub mod html;
pub mod json;
pub mod markdown;
mod percentiles;
mod rows;
mod standing;
pub mod text;
