//! `fullbore json each`.

use anyhow::Result;
use fullbore_codec::json::query::{Each, FromEnd, SyntaxError};
use fullbore_feed::json::each;

use super::paths::{mistake, path};
use super::records::Records;
use crate::args::json::JsonEach;
use crate::commands::stage::{inputs, output};
use crate::exit::Exit;

const NAME: &str = "json each";

/// Prints the elements of an array.
pub(crate) fn run(options: &JsonEach) -> Result<Exit> {
    let text = &options.path;
    let path = path(NAME, text)?;
    let records = Records::new(NAME, &options.files, &options.records);
    let settings = records.options(&[])?;
    let most_bytes = usize::try_from(settings.max_record.0).unwrap_or(usize::MAX);
    let elements = Each::new(settings.tier, &path, settings.duplicates, most_bytes);
    let elements = elements.map_err(|FromEnd { .. }| {
        let message =
            "an index from the end needs all of the array; expected one from 0".to_owned();
        let at = text.find("[-").map_or(0, |at| at + 1);
        mistake(NAME, text, &SyntaxError { at, message }, "fullbore json select can do that")
    })?;
    let mut writer = output(NAME)?;
    let inputs = inputs(NAME, &options.files);
    match each(inputs, &settings, &elements, &records.control, &mut writer) {
        Err(failure) => records.failed(failure, &mut writer),
        Ok(outcome) => {
            let ended = records.ended(&outcome, &mut writer)?;
            if outcome.records > 0 && outcome.states == [false] {
                records.warn(&format!("no document has an array or object at {path}"));
            }
            Ok(ended)
        }
    }
}
