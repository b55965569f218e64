//! Records of `lab disk` and comparisons of two, as text, tables in Markdown, JSON and one HTML page.

mod cells;
pub mod html;
pub mod json;
pub mod markdown;
pub mod text;
