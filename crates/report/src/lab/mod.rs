//! The record of the lab as text, tables in Markdown, JSON and one HTML page.

mod figures;
pub mod html;
pub mod json;
pub mod markdown;
mod rows;
pub mod text;
