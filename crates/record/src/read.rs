//! Reads a record of this schema or of the one before.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::{RunRecord, SCHEMA, one};

/// Why a record could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is no JSON, or lacks a field that every record has.
    Json(serde_json::Error),
    /// It is JSON of another schema, or of none.
    Schema(Option<String>),
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(formatter, "{error}"),
            Self::Schema(Some(found)) => {
                write!(formatter, "its schema is '{found}', not '{SCHEMA}'")
            }
            Self::Schema(None) => write!(formatter, "it names no schema; wanted '{SCHEMA}'"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Schema(_) => None,
        }
    }
}

/// Reads a record of [`SCHEMA`], or one of `fullbore.run/1`, which it converts.
///
/// # Errors
/// [`ReadError::Schema`] when the text is JSON of another schema; [`ReadError::Json`] when it is no JSON or lacks a field.
pub fn read(text: &str) -> Result<RunRecord, ReadError> {
    /// The one field every version of the record has.
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        schema: Option<String>,
    }
    let named: Named = serde_json::from_str(text).map_err(ReadError::Json)?;
    match named.schema.as_deref() {
        Some(SCHEMA) => serde_json::from_str(text).map_err(ReadError::Json),
        Some(one::SCHEMA) => {
            let mut value: Value = serde_json::from_str(text).map_err(ReadError::Json)?;
            one::convert(&mut value);
            serde_json::from_value(value).map_err(ReadError::Json)
        }
        _ => Err(ReadError::Schema(named.schema)),
    }
}
