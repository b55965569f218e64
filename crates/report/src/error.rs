//! What can go wrong when a record is written or read back.

use std::fmt;

/// A record that could not be written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The record could not be written as JSON.
    Write {
        /// What the JSON library or the writer said.
        source: serde_json::Error,
    },
    /// The text is not JSON, or lacks a field of the schema.
    Read {
        /// What the JSON library said, with line and column.
        source: serde_json::Error,
    },
    /// The text is JSON, but not the record that was wanted, in a version this program knows.
    Schema {
        /// What its `schema` field says; `None` when it has none.
        found: Option<String>,
        /// What it should say.
        wanted: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { source } => write!(f, "write the record as JSON: {source}"),
            Self::Read { source } => write!(f, "read the record: {source}"),
            Self::Schema { found: Some(found), wanted } => {
                let found = crate::visible::line(found);
                write!(f, "read the record: its schema is '{found}', not '{wanted}'")
            }
            Self::Schema { found: None, wanted } => {
                write!(f, "read the record: it has no schema, expected '{wanted}'")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { source } | Self::Read { source } => Some(source),
            Self::Schema { .. } => None,
        }
    }
}
