//! Rows of an answer in the formats for `-o`.

mod escape;
mod table;

use std::borrow::Cow;
use std::io::IsTerminal;

use fullbore_codec::aggregate::{Answer, Item, Range, shortest};
use fullbore_codec::json::query::Kind;

use self::escape::{csv, markdown, tsv};
use crate::args::json::Format;

/// A column of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The name that is printed.
    pub(super) name: String,
    /// The name of the member in JSON.
    pub(super) member: String,
    /// Whether its cells are numbers, which are aligned at the right.
    pub(super) is_number: bool,
}

/// Rows with the same columns.
pub(super) trait Sheet {
    fn columns(&self) -> &[Column];

    fn rows(&self) -> usize;

    /// Appends a cell as text.
    fn shown(&self, row: usize, column: usize, text: &mut Vec<u8>);

    /// Appends a cell as JSON. A cell for which nothing is appended is left out.
    fn json(&self, row: usize, column: usize, text: &mut Vec<u8>);
}

/// Output is handed on in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;

/// Prints a sheet, piece by piece.
///
/// # Errors
/// The first error of `put`.
pub(super) fn print<E>(
    sheet: &impl Sheet,
    format: Format,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut piece = Vec::with_capacity(2 * PIECE_BYTES);
    let mut line = Line::new(sheet, format);
    line.head(&mut piece);
    for row in 0..sheet.rows() {
        line.row(row, &mut piece);
        if piece.len() >= PIECE_BYTES {
            put(&piece)?;
            piece.clear();
        }
    }
    put(&piece)
}

/// The form of the output if the user says nothing.
pub(super) fn format_of(wanted: Option<Format>) -> Format {
    let usual = if std::io::stdout().is_terminal() { Format::Table } else { Format::Tsv };
    wanted.unwrap_or(usual)
}

/// Returns how wide the columns of a table are.
fn widths(sheet: &impl Sheet) -> Vec<usize> {
    let columns = sheet.columns().iter();
    let mut widths: Vec<usize> =
        columns.map(|column| table::width(column.name.as_bytes())).collect();
    let mut cell = Vec::new();
    for row in 0..sheet.rows() {
        for (number, width) in widths.iter_mut().enumerate() {
            cell.clear();
            sheet.shown(row, number, &mut cell);
            *width = table::width(&cell).max(*width);
        }
    }
    widths
}

/// Prints lines of a sheet.
struct Line<'a, S> {
    sheet: &'a S,
    format: Format,
    widths: Vec<usize>,
    cell: Vec<u8>,
}

impl<'a, S: Sheet> Line<'a, S> {
    fn new(sheet: &'a S, format: Format) -> Self {
        let widths = if format == Format::Table { widths(sheet) } else { Vec::new() };
        Self { sheet, format, widths, cell: Vec::new() }
    }

    fn head(&mut self, text: &mut Vec<u8>) {
        let names = self.sheet.columns().iter().map(|column| column.name.as_bytes());
        match self.format {
            Format::Tsv | Format::Json => {}
            Format::Csv => joined(names, b",", text, csv),
            Format::Md => {
                text.extend_from_slice(b"| ");
                joined(names, b" | ", text, markdown);
                text.truncate(text.len() - 1);
                text.extend_from_slice(b" |\n|");
                for column in self.sheet.columns() {
                    text.extend_from_slice(if column.is_number { b" ---: |" } else { b" --- |" });
                }
                text.push(b'\n');
            }
            Format::Table => {
                for (number, name) in names.enumerate() {
                    self.aligned(number, name, text);
                }
                table::end(text);
            }
        }
    }

    fn row(&mut self, row: usize, text: &mut Vec<u8>) {
        match self.format {
            Format::Json => return self.object(row, text),
            Format::Md => text.extend_from_slice(b"| "),
            Format::Table | Format::Tsv | Format::Csv => {}
        }
        for number in 0..self.sheet.columns().len() {
            let mut cell = std::mem::take(&mut self.cell);
            cell.clear();
            self.sheet.shown(row, number, &mut cell);
            let separator: &[u8] = match self.format {
                Format::Csv => b",",
                Format::Tsv => b"\t",
                _ => b" | ",
            };
            match self.format {
                Format::Table => self.aligned(number, &cell, text),
                _ if number > 0 => text.extend_from_slice(separator),
                _ => {}
            }
            match self.format {
                Format::Csv => csv(&cell, text),
                Format::Tsv => tsv(&cell, text),
                Format::Md => markdown(&cell, text),
                Format::Table | Format::Json => {}
            }
            self.cell = cell;
        }
        match self.format {
            Format::Md => text.extend_from_slice(b" |\n"),
            Format::Table => table::end(text),
            _ => text.push(b'\n'),
        }
    }

    fn aligned(&self, number: usize, cell: &[u8], text: &mut Vec<u8>) {
        let column = &self.sheet.columns()[number];
        table::aligned(cell, self.widths[number], column.is_number, number > 0, text);
    }

    fn object(&mut self, row: usize, text: &mut Vec<u8>) {
        let mut before = b'{';
        for (number, column) in self.sheet.columns().iter().enumerate() {
            self.cell.clear();
            self.sheet.json(row, number, &mut self.cell);
            if self.cell.is_empty() {
                continue;
            }
            text.push(before);
            before = b',';
            string(column.member.as_bytes(), text);
            text.push(b':');
            text.extend_from_slice(&self.cell);
        }
        text.extend_from_slice(if before == b'{' { b"{}\n" } else { b"}\n" });
    }
}

fn joined<'a>(
    cells: impl Iterator<Item = &'a [u8]>,
    separator: &[u8],
    text: &mut Vec<u8>,
    write: impl Fn(&[u8], &mut Vec<u8>),
) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            text.extend_from_slice(separator);
        }
        write(cell, text);
    }
    text.push(b'\n');
}

/// Appends a text as a string of JSON.
pub(super) fn string(bytes: &[u8], text: &mut Vec<u8>) {
    let decoded = String::from_utf8_lossy(bytes);
    // A vector takes everything.
    let _ = serde_json::to_writer(text, &decoded);
}

/// Appends an item as text: nothing if it is missing.
pub(super) fn item(item: Item<'_>, text: &mut Vec<u8>) {
    text.extend_from_slice(match item.kind {
        None => b"",
        Some(Kind::Null) => b"null",
        Some(Kind::False) => b"false",
        Some(Kind::True) => b"true",
        Some(Kind::Number | Kind::String | Kind::Array | Kind::Object) => item.text,
    });
}

/// Appends an item as JSON: nothing if it is missing.
pub(super) fn json_item(value: Item<'_>, text: &mut Vec<u8>) {
    if value.kind == Some(Kind::String) { string(value.text, text) } else { item(value, text) }
}

/// Appends an answer as text; lists as `GET 12, POST 3` and `4..8 12, 8..16 3`.
pub(super) fn answer(answer: &Answer<'_>, text: &mut Vec<u8>) {
    match answer {
        Answer::Nothing => {}
        Answer::Count(count) => text.extend_from_slice(count.to_string().as_bytes()),
        Answer::Number(number) => text.extend_from_slice(number.as_bytes()),
        Answer::Value(kind, value) => item(Item { kind: Some(*kind), text: value }, text),
        Answer::Top(list) => list.iter().enumerate().for_each(|(number, (value, count))| {
            text.extend_from_slice(if number > 0 { b", " } else { b"" });
            item(*value, text);
            text.extend_from_slice(format!(" {count}").as_bytes());
        }),
        Answer::Ranges(list) => list.iter().enumerate().for_each(|(number, (range, count))| {
            let before = if number > 0 { ", " } else { "" };
            text.extend_from_slice(format!("{before}{} {count}", shown_range(*range)).as_bytes());
        }),
    }
}

fn shown_range(range: Range) -> Cow<'static, str> {
    let Range { from, to } = range;
    match to {
        0.0 => "0".into(),
        f64::INFINITY => format!("{}..2^1024", shortest(from)).into(),
        f64::NEG_INFINITY => format!("{}..-2^1024", shortest(from)).into(),
        to => format!("{}..{}", shortest(from), shortest(to)).into(),
    }
}

/// Appends an answer as JSON; lists as arrays of objects.
pub(super) fn json_answer(answer: &Answer<'_>, text: &mut Vec<u8>) {
    match answer {
        Answer::Nothing => text.extend_from_slice(b"null"),
        Answer::Value(kind, value) => json_item(Item { kind: Some(*kind), text: value }, text),
        Answer::Count(_) | Answer::Number(_) => self::answer(answer, text),
        Answer::Top(list) => array(list, text, |(value, count), text| {
            text.extend_from_slice(b"\"value\":");
            json_item(*value, text);
            text.extend_from_slice(format!(",\"count\":{count}").as_bytes());
        }),
        Answer::Ranges(list) => array(list, text, |(range, count), text| {
            // Many readers refuse a number that is as large as 2^1024.
            let to = if range.to.is_finite() { shortest(range.to) } else { "null".to_owned() };
            let from = shortest(range.from);
            let members = format!("\"from\":{from},\"to\":{to},\"count\":{count}");
            text.extend_from_slice(members.as_bytes());
        }),
    }
}

fn array<T>(list: &[T], text: &mut Vec<u8>, members: impl Fn(&T, &mut Vec<u8>)) {
    for (number, element) in list.iter().enumerate() {
        text.extend_from_slice(if number == 0 { b"[{" } else { b",{" });
        members(element, text);
        text.push(b'}');
    }
    text.push(b']');
}

#[cfg(test)]
mod tests;
