//! The table of stages: one row each, as many columns as fit.

use fullbore_record::{RunRecord, StageRecord};

use super::style::Style;
use super::wrap::wrap;
use crate::figures::{self, RateUnit};
use crate::moved::moved;
use crate::prominence::{has_failed, prominent, verdict_stage};
use crate::{visible, wording};

/// Rows that are shown at most.
const ROWS: usize = 12;

/// Share from which a column that is not always there is worth its room, in percent.
const NOTABLE_PERCENT: f64 = 5.0;

/// Columns that a label of normal length gets before columns of numbers are given up.
const USUAL_LABEL: usize = 18;

/// Columns of a label below which it says nothing.
const LEAST_LABEL: usize = 8;

/// One column of numbers.
struct Column {
    /// Its name, in two parts that are set side by side or one over the other.
    name: (String, String),
    /// One text a row.
    cells: Vec<String>,
    /// The column with the lowest rank is the first to go.
    rank: u8,
}

impl Column {
    fn width(&self, is_stacked: bool) -> usize {
        let (top, bottom) = (visible::width(&self.name.0), visible::width(&self.name.1));
        let name = if is_stacked || bottom == 0 { top.max(bottom) } else { top + 1 + bottom };
        self.cells.iter().map(|cell| visible::width(cell)).max().unwrap_or(0).max(name)
    }
}

/// Adds the header and one row for each stage that is shown.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    let shown: Vec<&StageRecord> = prominent(record, ROWS)
        .into_iter()
        .filter_map(|position| record.stages.get(position))
        .collect();
    if shown.is_empty() {
        return;
    }
    let digits = shown.iter().map(|stage| stage.stage.to_string().len()).max().unwrap_or(1);
    let labels: Vec<String> = shown
        .iter()
        .map(|stage| format!("{:>digits$} {}", stage.stage, wording::command(stage)))
        .collect();
    let mut columns = columns(record, &shown);
    // Two columns for the marker of the verdict's stage.
    let room = style.columns() - 2;
    let longest = labels.iter().map(|label| visible::width(label)).max().unwrap_or(0);
    let (label_width, is_stacked) = fit(&mut columns, room, longest);
    header(&columns, label_width, is_stacked, style, lines);
    let verdict = verdict_stage(record);
    for (row, (stage, label)) in shown.iter().zip(&labels).enumerate() {
        let is_verdict = verdict == Some(stage.stage);
        let mut line = format!("{} ", if is_verdict { ">" } else { " " });
        line.push_str(&left(&visible::cut(label, label_width), label_width));
        for column in &columns {
            line.push_str("  ");
            line.push_str(&right(&column.cells[row], column.width(is_stacked)));
        }
        let line = line.trim_end();
        lines.push(if is_verdict { style.bold(line) } else { line.to_owned() });
    }
    let hidden = record.stages.len() - shown.len();
    if hidden > 0 {
        let rest = format!("… {hidden} of {} stages are not shown", record.stages.len());
        lines.extend(wrap(&rest, style.columns(), "  ", "    ").iter().map(|line| style.dim(line)));
    }
    if let Some(rest) = wording::cpu_of_no_stage(record) {
        lines.extend(wrap(&rest, style.columns(), "  ", "    ").iter().map(|line| style.dim(line)));
    }
}

/// Gives up columns until the rest leaves room for the labels; returns their width and whether headers are stacked.
fn fit(columns: &mut Vec<Column>, room: usize, longest: usize) -> (usize, bool) {
    loop {
        for is_stacked in [false, true] {
            let numbers: usize = columns.iter().map(|column| column.width(is_stacked) + 2).sum();
            let left = room.saturating_sub(numbers);
            let wanted = if is_stacked { LEAST_LABEL } else { USUAL_LABEL };
            if left >= wanted.min(longest) || columns.is_empty() {
                return (left.min(longest), is_stacked);
            }
        }
        if let Some(least) = (0..columns.len()).min_by_key(|place| columns[*place].rank) {
            columns.remove(least);
        }
    }
}

fn header(
    columns: &[Column],
    label_width: usize,
    is_stacked: bool,
    style: Style,
    lines: &mut Vec<String>,
) {
    if columns.is_empty() {
        return;
    }
    let mut rows = vec![" ".repeat(label_width + 2)];
    if is_stacked && columns.iter().any(|column| !column.name.1.is_empty()) {
        rows.push(rows[0].clone());
    }
    let is_stacked = rows.len() > 1;
    for column in columns {
        let width = column.width(is_stacked);
        let (top, bottom) = (column.name.0.as_str(), column.name.1.as_str());
        let names = match (is_stacked, bottom) {
            (false, "") => vec![top.to_owned()],
            (false, _) => vec![format!("{top} {bottom}")],
            (true, "") => vec![String::new(), top.to_owned()],
            (true, _) => vec![top.to_owned(), bottom.to_owned()],
        };
        for (row, name) in rows.iter_mut().zip(names) {
            row.push_str("  ");
            row.push_str(&right(&name, width));
        }
    }
    lines.extend(rows.iter().map(|row| style.dim(row.trim_end())));
}

/// All columns that have something to say about these stages.
fn columns(record: &RunRecord, stages: &[&StageRecord]) -> Vec<Column> {
    let column =
        |top: &str, bottom: &str, rank: u8, cell: &dyn Fn(&StageRecord) -> String| Column {
            name: (top.to_owned(), bottom.to_owned()),
            cells: stages.iter().map(|stage| cell(stage)).collect(),
            rank,
        };
    let mut columns = vec![
        column("running", "", 8, &|stage| figures::percent(stage.running_percent)),
        column("waits", "in", 7, &|stage| figures::known_percent(stage.blocked_reading_percent)),
        column("waits", "out", 6, &|stage| figures::known_percent(stage.blocked_writing_percent)),
    ];
    if stages.iter().any(|stage| stage.runnable_percent >= NOTABLE_PERCENT) {
        columns.push(column("waits", "cpu", 2, &|stage| figures::percent(stage.runnable_percent)));
    }
    if stages.iter().any(|stage| stage.blocked_other_percent >= NOTABLE_PERCENT) {
        columns
            .push(column("other", "", 1, &|stage| figures::percent(stage.blocked_other_percent)));
    }
    let read = |stage: &StageRecord| {
        figures::rate(moved(record, stage).read.map(without_libraries), stage)
    };
    let written = |stage: &StageRecord| figures::rate(moved(record, stage).written, stage);
    let unit = RateUnit::for_rates(
        stages.iter().flat_map(|stage| [read(stage), written(stage)]).flatten(),
    );
    columns.push(column("in", unit.name, 4, &|stage| unit.text(read(stage))));
    columns.push(column("out", unit.name, 3, &|stage| unit.text(written(stage))));
    if stages.iter().any(|stage| has_failed(stage)) {
        columns.push(column("exit", "", 5, &|stage| match stage.exit_status {
            Some(0) => String::new(),
            Some(status) => wording::exit_status(status),
            None => figures::UNKNOWN.to_owned(),
        }));
    }
    columns
}

/// A program that reads no input reads the heads of its libraries all the same: that is no rate.
fn without_libraries(bytes: u64) -> u64 {
    const LIBRARIES_BYTES: u64 = 16 << 10;
    if bytes < LIBRARIES_BYTES { 0 } else { bytes }
}

pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(visible::width(text))))
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(visible::width(text))))
}
