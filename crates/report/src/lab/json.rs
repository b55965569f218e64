//! The record of the lab as JSON, read back with a check of its schema.

use fullbore_lab::record::{LabRun, SCHEMA};

use crate::Error;

/// Writes the record as indented JSON that ends with a newline; lists of numbers stay on one line.
///
/// # Errors
/// [`Error::Write`] when the record cannot be expressed in JSON.
pub fn to_string(run: &LabRun) -> Result<String, Error> {
    crate::json::indented(run)
}

/// Reads a record back.
///
/// # Errors
/// [`Error::Schema`] when the text is JSON of another schema; [`Error::Read`] when it is not JSON or lacks a field.
pub fn from_str(text: &str) -> Result<LabRun, Error> {
    crate::json::of_schema(text, SCHEMA)
}
