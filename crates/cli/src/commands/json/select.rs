//! `fullbore json select`.

use std::ops::{ControlFlow, Range};

use anyhow::Result;
use fullbore_codec::json::query::{
    CellFormat, Path, Rows, Step, Table, Value, write_cell, write_text,
};
use fullbore_feed::json::{RecordError, Task};

use super::paths::{divided, rows};
use super::records::{Records, repeated};
use super::seen::Seen;
use crate::args::json::JsonSelect;
use crate::commands::stage::{output, output_failed};
use crate::exit::Exit;
use crate::messages::Failure;

const NAME: &str = "json select";

/// Prints members of each record.
pub(crate) fn run(options: &JsonSelect) -> Result<Exit> {
    let (paths, files) = divided(NAME, &options.words)?;
    if paths.is_empty() {
        let first = options.words[0].to_string_lossy();
        let message = format!("{NAME}: no path: {first} is taken for a file");
        let hint = format!("a path begins with a dot: .{first}");
        return Err(Failure { message, hint, exit: Exit::NotDone }.into());
    }
    let rows = rows(NAME, &paths, options.records.duplicates.into())?;
    let mut writer = output(NAME)?;
    let records = Records::new(NAME, &files, &options.records);
    let select = Select::new(&paths, &rows, options);
    if options.header
        && let Err(error) = writer.put(&select.header())
    {
        return output_failed(NAME, &error);
    }
    let mut outcome = match records.run(rows.members(), &select, &mut writer) {
        Ok(outcome) => outcome,
        Err(failure) => return records.failed(failure, &mut writer),
    };
    let ended = records.ended(&outcome, &mut writer)?;
    if outcome.records > 0 {
        let mut seen = Seen::new(paths.len());
        seen.has_records = true;
        outcome.states.drain(..).for_each(|state| seen.add(state.seen));
        seen.warnings(&paths).iter().for_each(|warning| records.warn(warning));
    }
    Ok(ended)
}

/// What is printed of each record.
struct Select<'a> {
    paths: &'a [Path],
    rows: &'a Rows,
    format: CellFormat,
    /// What comes before each value that is not missing: for JSON its name and a colon.
    names: Vec<Vec<u8>>,
    is_strict: bool,
}

/// What a worker keeps.
struct Worker {
    cells: Vec<Range<usize>>,
    seen: Seen,
}

impl Task for Select<'_> {
    type State = Worker;

    fn state(&self) -> Worker {
        Worker { cells: Vec::new(), seen: Seen::new(self.paths.len()) }
    }

    fn block(
        &self,
        state: &mut Worker,
        text: &[u8],
        table: &Table,
        output: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let Worker { cells, seen } = state;
        for (document, values) in table.records(self.rows.members().len()) {
            let done =
                self.rows.visit(text, values, cells, |cells| self.line(text, cells, seen, output));
            match done {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(column)) => {
                    let what = format!("no {}", self.paths[column]);
                    return Err(RecordError { at: document.start, what });
                }
                Err(twice) => return Err(repeated(twice)),
            }
        }
        seen.sample(self.paths, text, &table.documents);
        Ok(())
    }
}

impl<'a> Select<'a> {
    fn new(paths: &'a [Path], rows: &'a Rows, options: &JsonSelect) -> Self {
        let format = if options.json {
            CellFormat::Json
        } else if options.csv {
            CellFormat::Csv
        } else if options.raw {
            CellFormat::Raw
        } else {
            CellFormat::Tsv
        };
        let names = paths.iter().map(|path| member(path, format)).collect();
        Self { paths, rows, format, names, is_strict: options.strict }
    }

    fn separator(&self) -> u8 {
        if matches!(self.format, CellFormat::Csv | CellFormat::Json) { b',' } else { b'\t' }
    }

    /// The line with the paths.
    fn header(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for (column, path) in self.paths.iter().enumerate() {
            if column > 0 {
                line.push(self.separator());
            }
            write_text(&path.to_string(), self.format, &mut line);
        }
        line.push(b'\n');
        line
    }

    /// Prints a line; breaks with the number of a cell that must not be missing.
    fn line(
        &self,
        text: &[u8],
        cells: &[Range<usize>],
        seen: &mut Seen,
        output: &mut Vec<u8>,
    ) -> ControlFlow<usize> {
        let before = output.len();
        let is_json = self.format == CellFormat::Json;
        let separator = self.separator();
        if is_json {
            output.push(b'{');
        }
        let mut is_first = true;
        for (column, cell) in cells.iter().enumerate() {
            if cell.is_empty() && self.is_strict {
                output.truncate(before);
                return ControlFlow::Break(column);
            }
            if cell.is_empty() && is_json {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                output.push(separator);
            }
            if cell.is_empty() {
                continue;
            }
            seen.has[column] = true;
            if is_json {
                output.extend_from_slice(&self.names[column]);
            }
            write_cell(Value::new(&text[cell.clone()]), self.format, output);
        }
        if is_json {
            output.push(b'}');
        }
        output.push(b'\n');
        ControlFlow::Continue(())
    }
}

/// The name of a path in an object of JSON, and a colon: the path without its first dot, or its only name.
fn member(path: &Path, format: CellFormat) -> Vec<u8> {
    let mut member = Vec::new();
    let text = path.to_string();
    let name = match path.steps.as_slice() {
        [Step::Name(name)] => name,
        [] => ".",
        _ => text.trim_start_matches('.'),
    };
    write_text(name, format, &mut member);
    member.push(b':');
    member
}
