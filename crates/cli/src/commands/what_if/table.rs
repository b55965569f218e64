//! The predictions as a table.

use fullbore_measure::seconds;
use fullbore_record::RunRecord;
use fullbore_what_if::{Forecast, Prediction};
use unicode_width::UnicodeWidthStr;

use super::names;

/// A change that gains less than this part of the time is only counted.
const WORTH_A_ROW: f64 = 0.01;

/// Names of the columns.
const HEADER: [&str; 3] = ["change", "time", "then the limit is"];

/// The recorded time and what would change it, the best change first.
pub(super) fn table(record: &RunRecord, forecast: &Forecast) -> String {
    let gains = |one: &&Prediction| {
        let most_ns = forecast.elapsed_ns as f64 * (1.0 - WORTH_A_ROW);
        one.elapsed_ns as f64 <= most_ns
    };
    let shown: Vec<&Prediction> = forecast.predictions.iter().filter(gains).collect();
    let row = |what: String, ns: u64, limit| [what, seconds(ns), names::limit(record, limit)];
    let mut rows = vec![
        HEADER.map(str::to_owned),
        row("as recorded".to_owned(), forecast.elapsed_ns, forecast.limit),
    ];
    rows.extend(
        shown.iter().map(|one| row(names::change(record, one.change), one.elapsed_ns, one.limit)),
    );
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = String::new();
    for [what, time, limit] in &rows {
        let (gap, before) = (first - what.width(), second - time.width());
        text.push_str(&format!("  {what}{:gap$}  {:before$}{time}  {limit}\n", "", ""));
    }
    let hidden = forecast.predictions.len() - shown.len();
    match hidden {
        0 => {}
        1 => text.push_str("  one other change would gain less than 1 %\n"),
        count => text.push_str(&format!("  {count} other changes would gain less than 1 %\n")),
    }
    text
}
