//! The record as JSON: written for people as well as programs, read back with a check of its schema.

use std::io::Write;

use fullbore_record::{ReadError, RunRecord, SCHEMA, read};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Writes the record as indented JSON that ends with a newline; lists of numbers stay on one line.
/// # Errors
/// [`Error::Write`] when the record cannot be expressed in JSON.
pub fn to_string(record: &RunRecord) -> Result<String, Error> {
    indented(record)
}

/// Any record as indented JSON with lists of numbers on one line.
pub(crate) fn indented(record: &impl Serialize) -> Result<String, Error> {
    let indented =
        serde_json::to_string_pretty(record).map_err(|source| Error::Write { source })?;
    let mut text = join_number_lists(&indented);
    text.push('\n');
    Ok(text)
}

/// Writes what [`to_string`] returns to `writer`.
/// # Errors
/// [`Error::Write`] when the record cannot be expressed in JSON or the writer fails.
pub fn to_writer(mut writer: impl Write, record: &RunRecord) -> Result<(), Error> {
    let text = to_string(record)?;
    writer
        .write_all(text.as_bytes())
        .map_err(|error| Error::Write { source: serde_json::Error::io(error) })
}

/// Reads a record back; one of the schema before is converted.
/// # Errors
/// [`Error::Schema`] when the text is JSON of another schema; [`Error::Read`] when it is not JSON or lacks a field.
pub fn from_str(text: &str) -> Result<RunRecord, Error> {
    read(text).map_err(|error| match error {
        ReadError::Json(source) => Error::Read { source },
        ReadError::Schema(found) => Error::Schema { found, wanted: SCHEMA },
        _ => Error::Schema { found: None, wanted: SCHEMA },
    })
}

/// Reads a record that must say it is of this schema.
pub(crate) fn of_schema<T: DeserializeOwned>(text: &str, wanted: &'static str) -> Result<T, Error> {
    /// The one field every version of the record has.
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        schema: Option<String>,
    }
    let read = |source| Error::Read { source };
    let named: Named = serde_json::from_str(text).map_err(read)?;
    if named.schema.as_deref() != Some(wanted) {
        return Err(Error::Schema { found: named.schema, wanted });
    }
    serde_json::from_str(text).map_err(read)
}

/// Puts each list that holds only numbers on one line: a timeline would otherwise be a screen for each second.
fn join_number_lists(indented: &str) -> String {
    let mut joined = String::with_capacity(indented.len());
    let mut lines = indented.lines().peekable();
    while let Some(line) = lines.next() {
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(line);
        if !line.ends_with('[') || !lines.peek().is_some_and(|next| is_number(next)) {
            continue;
        }
        while let Some(item) = lines.next_if(|next| is_number(next)) {
            joined.push_str(item.trim_start());
            if item.ends_with(',') {
                joined.push(' ');
            }
        }
        if let Some(end) = lines.next() {
            joined.push_str(end.trim_start());
        }
    }
    joined
}

fn is_number(line: &str) -> bool {
    let item = line.trim_start();
    item.starts_with(|c: char| c.is_ascii_digit() || c == '-') || item == "null" || item == "null,"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_stay_on_one_line_and_lists_of_text_do_not() {
        let mut line = fullbore_record::StageTimeline::default();
        line.running = vec![0.5, 100.0];
        let mut record = RunRecord::default();
        record.gaps = vec!["a [".into(), "b".into()];
        record.timeline.stages.push(line);
        let text = to_string(&record).unwrap();
        assert!(text.contains("\"running\": [0.5, 100.0],\n"), "{text}");
        assert!(text.contains("    \"a [\",\n    \"b\"\n"), "{text}");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn another_schema_is_named_in_the_error() {
        let error = from_str("{\"schema\": \"fullbore.lab/1\"}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "read the record: its schema is 'fullbore.lab/1', not 'fullbore.run/2'"
        );
        assert!(matches!(from_str("no JSON"), Err(Error::Read { .. })));
        assert!(matches!(from_str("{}"), Err(Error::Schema { found: None, .. })));
    }
}
