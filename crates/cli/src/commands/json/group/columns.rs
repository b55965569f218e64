//! The columns of the answer, and what it is sorted by.

use anyhow::Result;
use fullbore_codec::aggregate::{Aggregate, Answer, KeyPart, Question, Rows, SortBy};

use super::words::NAME;
use crate::args::json::{Format, JsonGroup};
use crate::commands::json::sheet::{
    Column, Sheet, answer, format_of, item, json_answer, json_item,
};
use crate::exit::Exit;
use crate::messages::Failure;
use crate::nearest::nearest;

/// How rows are printed.
pub(super) struct Print {
    pub(super) format: Format,
    pub(super) sort: SortBy,
    columns: Vec<Column>,
    keys: usize,
    most: usize,
}

impl Print {
    /// # Errors
    /// If there is no column to sort by, or two columns have the same name.
    pub(super) fn new(
        options: &JsonGroup,
        keys: &[KeyPart],
        questions: &[Question],
    ) -> Result<Self, Failure> {
        let columns = columns(keys, questions);
        for (number, column) in columns.iter().enumerate() {
            if columns[..number].iter().any(|other| other.name == column.name) {
                return Err(wrong(&format!("there are two columns {}", column.name), ""));
            }
        }
        let sort = match &options.sort {
            Some(wanted) => sort_by(wanted, &columns, keys.len())?,
            None if options.top.is_some() => SortBy::Aggregate(0),
            None => SortBy::Keys,
        };
        Ok(Self {
            format: format_of(options.output),
            sort,
            columns,
            keys: keys.len(),
            most: options.top.unwrap_or(usize::MAX),
        })
    }
}

fn wrong(what: &str, hint: &str) -> Failure {
    Failure { message: format!("{NAME}: {what}"), hint: hint.to_owned(), exit: Exit::NotDone }
}

/// The columns of all keys and aggregates. A key whose name in JSON another column has, too, keeps its full name there.
fn columns(keys: &[KeyPart], questions: &[Question]) -> Vec<Column> {
    let mut columns: Vec<Column> =
        keys.iter().map(key).chain(questions.iter().map(aggregate)).collect();
    let members: Vec<String> = columns.iter().map(|column| column.member.clone()).collect();
    for column in &mut columns[..keys.len()] {
        if members.iter().filter(|member| **member == column.member).count() > 1 {
            column.member.clone_from(&column.name);
        }
    }
    columns
}

/// The column of a part of the key: `hour .time`, in JSON `hour_time`.
fn key(part: &KeyPart) -> Column {
    let name = part.to_string();
    Column { member: member(&name), name, is_number: false }
}

/// The column of an aggregate: `sum .bytes`, in JSON `sum_bytes`.
fn aggregate(question: &Question) -> Column {
    let name = question.to_string();
    let is_number = !matches!(
        question.aggregate,
        Aggregate::Least | Aggregate::Greatest | Aggregate::Top(_) | Aggregate::Histogram
    );
    Column { member: member(&name), name, is_number }
}

/// The name of a member: words with underscores between them, and the path without its first dot.
fn member(name: &str) -> String {
    let begin = if name.starts_with('.') { Some(0) } else { name.find(" .").map(|at| at + 1) };
    let (words, path) = name.split_at(begin.unwrap_or(name.len()));
    let path = path.strip_prefix('.').filter(|path| !path.is_empty()).unwrap_or(path);
    format!("{}{path}", words.replace(' ', "_"))
}

/// Finds the column with this number or name.
fn sort_by(wanted: &str, columns: &[Column], keys: usize) -> Result<SortBy, Failure> {
    let found = match wanted.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|number| *number < columns.len()),
        Err(_) => named(wanted, columns),
    };
    match found {
        Some(number) if number < keys => Ok(SortBy::Key(number)),
        Some(number) => Ok(SortBy::Aggregate(number - keys)),
        None => {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            let is_number = wanted.parse::<usize>().is_ok();
            let meant = nearest(wanted, names.iter().copied()).filter(|_| !is_number);
            let hint = match meant {
                Some(meant) => format!("did you mean {meant}?"),
                None => {
                    format!("columns: {}; or a number from 1 to {}", names.join(", "), names.len())
                }
            };
            Err(wrong(&format!("--sort {wanted}: there is no such column"), &hint))
        }
    }
}

/// Finds a column by its name, else by its name in JSON, else by its first word if no other begins with the same.
fn named(wanted: &str, columns: &[Column]) -> Option<usize> {
    let by_name = columns.iter().position(|column| column.name == wanted);
    let by_member = || columns.iter().position(|column| column.member == wanted);
    let mut by_word = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.name.split_once(" .").is_some_and(|(word, _)| word == wanted));
    by_name.or_else(by_member).or_else(|| {
        let (number, _) = by_word.next()?;
        by_word.next().is_none().then_some(number)
    })
}

/// The answer as a sheet.
pub(super) struct Answers<'a> {
    rows: Rows,
    print: &'a Print,
}

impl<'a> Answers<'a> {
    pub(super) fn new(rows: Rows, print: &'a Print) -> Self {
        Self { rows, print }
    }

    fn answer(&self, row: usize, column: usize) -> Option<Answer<'_>> {
        column.checked_sub(self.print.keys).map(|number| self.rows.answer(row, number))
    }
}

impl Sheet for Answers<'_> {
    fn columns(&self) -> &[Column] {
        &self.print.columns
    }

    fn rows(&self) -> usize {
        self.rows.len().min(self.print.most)
    }

    fn shown(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        match self.answer(row, column) {
            Some(found) => answer(&found, text),
            None => item(self.rows.key(row, column), text),
        }
    }

    fn json(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        match self.answer(row, column) {
            Some(found) => json_answer(&found, text),
            None => json_item(self.rows.key(row, column), text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of these keys and aggregates, and how many are keys.
    fn columns_of(keys: &str, questions: &[&str]) -> (Vec<Column>, usize) {
        let keys = KeyPart::parse_list(keys).unwrap();
        let questions = questions.iter().flat_map(|text| Question::parse(text).unwrap());
        (columns(&keys, &questions.collect::<Vec<_>>()), keys.len())
    }

    fn some_columns() -> (Vec<Column>, usize) {
        let questions =
            ["count", "sum .a.b", "p50,p99.9 .ms", "top 3 .x", "count .", "avg .\"a b\""];
        columns_of(".host,hour .t", &questions)
    }

    #[test]
    fn members_are_named_without_spaces_and_the_first_dot() {
        let (columns, _) = some_columns();
        let members: Vec<&str> = columns.iter().map(|column| &*column.member).collect();
        let expected = [
            "host",
            "hour_t",
            "count",
            "sum_a.b",
            "p50_ms",
            "p99.9_ms",
            "top_3_x",
            "count_.",
            "avg_\"a b\"",
        ];
        assert_eq!(members, expected);
    }

    #[test]
    fn two_columns_never_have_the_same_member() {
        let (columns, keys) = columns_of(".count,hour .t,.hour_t,.sum_a,.b", &["count", "sum .a"]);
        let members: Vec<&str> = columns.iter().map(|column| &*column.member).collect();
        assert_eq!(members, [".count", "hour .t", ".hour_t", ".sum_a", "b", "count", "sum_a"]);
        assert_eq!(sort_by("count", &columns, keys).unwrap(), SortBy::Aggregate(0));
        assert_eq!(sort_by(".count", &columns, keys).unwrap(), SortBy::Key(0));
    }

    #[test]
    fn columns_are_found_by_number_and_name() {
        let (columns, keys) = some_columns();
        for (wanted, found) in [
            ("1", SortBy::Key(0)),
            ("hour .t", SortBy::Key(1)),
            ("hour", SortBy::Key(1)),
            ("3", SortBy::Aggregate(0)),
            ("sum", SortBy::Aggregate(1)),
            ("sum_a.b", SortBy::Aggregate(1)),
            ("p99.9", SortBy::Aggregate(3)),
            ("count", SortBy::Aggregate(0)),
        ] {
            assert_eq!(sort_by(wanted, &columns, keys).unwrap(), found, "{wanted}");
        }
        for (wanted, hint) in
            [("0", "columns: .host"), ("11", "columns"), ("sum .a.c", "did you mean sum .a.b?")]
        {
            let failure = sort_by(wanted, &columns, keys).unwrap_err();
            assert!(failure.hint.starts_with(hint), "{wanted}: {}", failure.hint);
        }
    }
}
