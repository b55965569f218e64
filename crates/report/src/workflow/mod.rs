//! A workflow, as [`fullbore_gather`] found it in many records → text, JSON, one HTML page.

mod axis;
mod bars;
mod grid;
mod html;
mod notes;
mod palette;
mod tables;
mod text;
mod versus;

use fullbore_gather::Workflow;

use crate::Error;

pub use html::page;
pub use text::summary;

/// Writes the workflow as indented JSON (schema `fullbore.workflow/1`) that ends with a newline.
/// # Errors
/// [`Error::Write`] when it cannot be expressed in JSON.
pub fn to_json(workflow: &Workflow) -> Result<String, Error> {
    crate::json::indented(workflow)
}

/// Reads a workflow back.
/// # Errors
/// [`Error::Schema`] when the text is JSON of another schema; [`Error::Read`] when it is not JSON or lacks a field.
pub fn from_json(text: &str) -> Result<Workflow, Error> {
    crate::json::of_schema(text, fullbore_gather::SCHEMA)
}
