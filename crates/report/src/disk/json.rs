//! The record as JSON, read back with a check of its schema.

use fullbore_lab::disk::record::{DiskRun, SCHEMA};

use crate::Error;

/// Writes the record as indented JSON that ends with a newline.
///
/// # Errors
/// [`Error::Write`] when the record cannot be expressed in JSON.
pub fn to_string(run: &DiskRun) -> Result<String, Error> {
    crate::json::indented(run)
}

/// Reads a record back.
///
/// # Errors
/// [`Error::Schema`] when the text is JSON of another schema; [`Error::Read`] when it is not JSON or lacks a field.
pub fn from_str(text: &str) -> Result<DiskRun, Error> {
    crate::json::of_schema(text, SCHEMA)
}
