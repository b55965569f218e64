//! Scans a text, and goes on after errors where that is wanted.

use fullbore_codec::json::query::{ScanError, Scanner, Table};
use fullbore_measure::Bytes;

use super::options::Options;
use super::outcome::Kind;

/// A part of a text between two errors.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Where it begins in the text, in bytes.
    pub(super) begin: usize,
    /// The records in it, counted from there.
    pub(super) table: Table,
    /// The error behind the records.
    pub(super) wrong: Option<Wrong>,
}

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Bytes of the text before it.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) what: String,
    pub(super) kind: Kind,
}

/// How a scan ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// A record ends where the text ends, or nothing but white space is left.
    #[default]
    None,
    /// A record begins at this byte that does not end within the text.
    Begins(usize),
    /// There was an error; the rest of its line is to be skipped, and the line does not end within the text.
    Skips,
    /// There was an error, and nothing comes after it.
    Wrong,
}

impl Rest {
    /// Returns where a record begins that does not end within the text.
    pub(super) fn begin(self) -> Option<usize> {
        if let Self::Begins(at) = self { Some(at) } else { None }
    }
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Found {
    parts: Vec<Part>,
    /// How many of the parts count; the others are memory to use again.
    count: usize,
    pub(super) rest: Rest,
}

impl Found {
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.count]
    }

    pub(super) fn clear(&mut self) {
        // Each of many parts would keep as much memory as it ever needed.
        self.parts.truncate(1);
        (self.count, self.rest) = (0, Rest::None);
    }

    /// Adds an error behind everything.
    pub(super) fn add_wrong(&mut self, wrong: Wrong, rest: Rest) {
        let begin = wrong.at;
        self.next(begin).wrong = Some(wrong);
        self.rest = rest;
    }

    fn next(&mut self, begin: usize) -> &mut Part {
        if self.parts.len() == self.count {
            self.parts.push(Part::default());
        }
        self.count += 1;
        let part = &mut self.parts[self.count - 1];
        part.begin = begin;
        part.table.documents.clear();
        part.table.values.clear();
        part.wrong = None;
        part
    }

    /// Scans a text that begins between two records; nothing comes after it if `is_end`.
    pub(super) fn scan(
        &mut self,
        text: &[u8],
        mut at: usize,
        is_end: bool,
        scanner: &mut Scanner,
        options: &Options,
    ) {
        self.clear();
        loop {
            let part = self.next(at);
            let error = match scanner.scan(&text[at..], is_end, &mut part.table) {
                Err(error) => error,
                Ok(length) => {
                    let end = at + length;
                    self.rest = if end < text.len() { Rest::Begins(end) } else { Rest::None };
                    return;
                }
            };
            let (wrong, behind) = described(error, options);
            let behind = at + behind;
            part.wrong = Some(Wrong { at: at + wrong.at, ..wrong });
            if !options.skips_invalid {
                self.rest = Rest::Wrong;
                return;
            }
            match memchr::memchr(b'\n', &text[behind..]) {
                Some(end) => at = behind + end + 1,
                None => {
                    self.rest = if is_end { Rest::None } else { Rest::Skips };
                    return;
                }
            }
        }
    }
}

/// Returns the error, and from where to look for the line end after which it goes on.
fn described(error: ScanError, options: &Options) -> (Wrong, usize) {
    let (place, what, kind) = match error {
        ScanError::Json(error) => (error.place, error.cause.to_string(), Kind::of(error.cause)),
        ScanError::Repeated(place) => {
            (place, "a name occurs twice in an object".to_owned(), Kind::Json)
        }
        ScanError::TooLong { begin, end } => {
            return (too_long_at(begin, options.max_record), end);
        }
    };
    let at = usize::try_from(place.offset).unwrap_or(usize::MAX);
    (Wrong { at, what, kind }, at)
}

/// The error for a record that is too long.
pub(super) fn too_long_at(at: usize, most: Bytes) -> Wrong {
    let what = format!("a record is larger than {most} (--max-record)");
    Wrong { at, what, kind: Kind::TooLong }
}
