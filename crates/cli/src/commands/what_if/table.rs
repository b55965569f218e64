//! The predictions as a table.

use fullbore_measure::seconds;
use fullbore_record::{LimitRecord, PredictionRecord, RunRecord, WhatIfRecord};
use unicode_width::UnicodeWidthStr;

/// A change that gains less than this part of the time is only counted.
const WORTH_A_ROW: f64 = 0.01;

/// Names of the columns.
const HEADER: [&str; 3] = ["change", "time", "then the limit is"];

/// The recorded time and what would change it, the best change first: all changes, or those that gain enough.
pub(super) fn table(record: &RunRecord, what_if: &WhatIfRecord, all: bool) -> String {
    let gains = |one: &&PredictionRecord| {
        let most_ns = record.elapsed_ns as f64 * (1.0 - WORTH_A_ROW);
        all || one.elapsed_ns as f64 <= most_ns
    };
    let shown: Vec<&PredictionRecord> = what_if.predictions.iter().filter(gains).collect();
    let row = |what: &str, ns: u64, limit: &LimitRecord| {
        [what.to_owned(), seconds(ns), limit.text.clone()]
    };
    let mut rows =
        vec![HEADER.map(str::to_owned), row("as recorded", record.elapsed_ns, &what_if.limit)];
    rows.extend(shown.iter().map(|one| row(&one.text, one.elapsed_ns, &one.limit)));
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = String::new();
    for [what, time, limit] in &rows {
        let (gap, before) = (first - what.width(), second - time.width());
        text.push_str(&format!("  {what}{:gap$}  {:before$}{time}  {limit}\n", "", ""));
    }
    let hidden = what_if.predictions.len() - shown.len();
    match hidden {
        0 => {}
        1 => text.push_str("  one other change would gain less than 1 %\n"),
        count => text.push_str(&format!("  {count} other changes would gain less than 1 %\n")),
    }
    text
}
