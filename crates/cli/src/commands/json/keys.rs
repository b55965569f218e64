//! `fullbore json keys`.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use fullbore_codec::aggregate::{EXAMPLE_CHARACTERS, Outline, Outlined, TooManyPaths};
use fullbore_codec::json::query::{Kind, Table, Value, minify};
use fullbore_feed::json::{RecordError, Task};

use super::records::Records;
use super::sheet::{Column, Sheet, format_of, print, string};
use crate::args::json::{Format, JsonKeys};
use crate::commands::memory::seed;
use crate::commands::stage::output;
use crate::exit::Exit;
use crate::messages::{Failure, say};

const NAME: &str = "json keys";

/// Most different paths.
const MOST_PATHS: usize = 100_000;

/// Lists the paths of records.
pub(super) fn run(options: &JsonKeys) -> Result<Exit> {
    let listing = Listing {
        format: format_of(options.output),
        seed: seed(NAME),
        is_over: AtomicBool::new(false),
    };
    let records = Records::new(NAME, &options.files, &options.records);
    let mut writer = output(NAME)?;
    let mut outcome = match records.run_watched(&[], &listing, &mut writer) {
        Ok(outcome) => outcome,
        Err(failure) => return records.failed(failure, &mut writer),
    };
    let outlines = std::mem::take(&mut outcome.states);
    let Some(paths) = listing.joined(outlines.iter()) else { return Err(too_many().into()) };
    if let Err(error) = print(&paths, listing.format, |piece| writer.put(piece)) {
        return records.failed(error.into(), &mut writer);
    }
    records.ended(&outcome, &mut writer)
}

fn too_many() -> Failure {
    Failure {
        message: format!("{NAME}: there are more than {MOST_PATHS} different paths"),
        hint: "probably an object is used as a map; head -1000 shows which one".to_owned(),
        exit: Exit::NotDone,
    }
}

/// What is done with each record.
struct Listing {
    format: Format,
    seed: u64,
    is_over: AtomicBool,
}

impl Listing {
    /// Joins what the workers have; nothing if there are too many paths.
    fn joined<'a>(&self, outlines: impl Iterator<Item = &'a Outline>) -> Option<Paths> {
        let mut all = Outline::new(MOST_PATHS, self.seed);
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        for outline in outlines {
            all.absorb(outline).ok()?;
        }
        Some(Paths::new(all.paths()))
    }
}

impl Task for Listing {
    type State = Outline;

    fn state(&self) -> Outline {
        Outline::new(MOST_PATHS, self.seed)
    }

    fn begin(&self, outline: &mut Outline, number: u64) {
        outline.begin_block(number);
    }

    fn block(
        &self,
        outline: &mut Outline,
        text: &[u8],
        table: &Table,
        _: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        for document in &table.documents {
            if let Err(TooManyPaths) = outline.add(&text[document.clone()]) {
                self.is_over.store(true, Ordering::Relaxed);
                return Err(RecordError { at: document.start, what: "too many paths".to_owned() });
            }
        }
        Ok(())
    }

    fn so_far(&self, outlines: &[&Outline]) {
        let Some(paths) = self.joined(outlines.iter().copied()) else { return };
        let mut text = Vec::new();
        let printed = print(&paths, self.format, |piece| {
            text.extend_from_slice(piece);
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = printed;
        say(&String::from_utf8_lossy(&text));
    }
}

/// The answer as a sheet.
struct Paths {
    columns: Vec<Column>,
    paths: Vec<Outlined>,
}

impl Paths {
    fn new(paths: Vec<Outlined>) -> Self {
        let columns = ["path", "kinds", "records", "example"].map(|name| Column {
            name: name.to_owned(),
            member: name.to_owned(),
            is_number: name == "records",
        });
        Self { columns: columns.to_vec(), paths }
    }
}

impl Sheet for Paths {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn rows(&self) -> usize {
        self.paths.len()
    }

    fn shown(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        let Outlined { path, kinds, documents, example, is_whole } = &self.paths[row];
        let shown = match column {
            0 => path.to_string(),
            1 => {
                let kinds = kinds.iter().map(|(kind, count)| format!("{} {count}", name(*kind)));
                kinds.collect::<Vec<_>>().join(", ")
            }
            2 => documents.to_string(),
            _ => beginning(example, *is_whole).0,
        };
        text.extend_from_slice(shown.as_bytes());
    }

    fn json(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        let Outlined { path, kinds, documents, example, is_whole } = &self.paths[row];
        match column {
            0 => string(path.to_string().as_bytes(), text),
            1 => {
                let kinds =
                    kinds.iter().map(|(kind, count)| format!("\"{}\":{count}", name(*kind)));
                let members = kinds.collect::<Vec<_>>().join(",");
                text.extend_from_slice(format!("{{{members}}}").as_bytes());
            }
            2 => text.extend_from_slice(documents.to_string().as_bytes()),
            _ => match beginning(example, *is_whole) {
                (_, true) => minify(example, text),
                (shown, false) => string(shown.as_bytes(), text),
            },
        }
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::False => "false",
        Kind::True => "true",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

/// Returns an example as text, at most 40 characters of it, and whether that is all of the value.
fn beginning(text: &[u8], is_whole: bool) -> (String, bool) {
    let value = Value::new(text);
    let mut decoded = Vec::new();
    match value.kind() {
        Kind::Array | Kind::Object => minify(text, &mut decoded),
        // An escape that was cut is beyond what is shown.
        Kind::String if !is_whole => {
            decoded = Value::new(&[text, b"\""].concat()).decoded().into_owned();
        }
        _ => decoded = value.decoded().into_owned(),
    }
    // A character that was cut is not shown.
    let shown = decoded.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if is_whole && shown.chars().nth(EXAMPLE_CHARACTERS).is_none() {
        return (shown.to_owned(), true);
    }
    let kept: String = shown.chars().take(EXAMPLE_CHARACTERS - 1).collect();
    (format!("{kept}…"), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_at_most_40_characters() {
        let long = format!("\"{}\"", "é".repeat(41));
        let cut = format!("\"{}", "\\ud83d\\ude00".repeat(41));
        let quote = format!("\"{}\\\"", "a".repeat(41));
        for (text, is_cut, shown, is_whole) in [
            ("\"a\\tb\"", false, "a\tb".to_owned(), true),
            ("-1.50", false, "-1.50".to_owned(), true),
            ("[1, 2]", false, "[1,2]".to_owned(), true),
            (&long, false, format!("{}…", "é".repeat(39)), false),
            (&cut, true, format!("{}…", "😀".repeat(39)), false),
            (&quote, true, format!("{}…", "a".repeat(39)), false),
            ("[ 1,   ", true, "[1,…".to_owned(), false),
        ] {
            assert_eq!(beginning(text.as_bytes(), !is_cut), (shown, is_whole), "{text}");
        }
        assert_eq!(beginning(b"[\"\xC3", false), ("[\"…".to_owned(), false));
    }
}
