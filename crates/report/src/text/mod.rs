//! The summary that a terminal shows after a run.

mod auto;
mod counters;
pub(crate) mod findings;
mod machine;
mod overview;
mod style;
mod table;
mod wakes;
pub(crate) mod wrap;

use fullbore_measure::{Bytes, seconds};
use fullbore_record::{Outcome, RunRecord};

pub use machine::machine;
pub use overview::overview;
pub use style::Style;

use crate::{visible, wording};

/// A run of less time is over before enough samples are taken to say what held it back.
const SHORT_NS: u64 = 100_000_000;

/// Changes to pipes that are listed before the rest is only counted.
const TUNING_LINES: usize = 4;

/// Gaps that are listed before the rest is only counted.
const GAP_LINES: usize = 4;

/// Summarises a run for a terminal: a table of its stages, the verdict, what to do about it, and what could not be seen.
///
/// Every line ends with a newline and is at most `style.width` columns wide (at least 20), except for commands to
/// paste, which are never broken.
/// Text that comes from other programs is shown without its control characters.
#[must_use]
pub fn summary(record: &RunRecord, style: Style) -> String {
    let mut text = String::new();
    let mut lines = Vec::new();
    if record.findings.is_empty() && (record.elapsed_ns < SHORT_NS || record.stages.is_empty()) {
        let is_short = record.elapsed_ns < SHORT_NS || record.gaps.is_empty();
        let verdict = if is_short { "too short to judge" } else { "no stage was seen" };
        let verdict = format!("{verdict} ({})", seconds(record.elapsed_ns));
        lines.extend(wrap::wrap(&verdict, style.columns(), "  ", "  "));
        if !is_short {
            gaps(record, style, &mut lines);
        }
    } else {
        table::write(record, style, &mut lines);
        tuning(record, style, &mut lines);
        counters::write(record, style, &mut lines);
        auto::write(record, style, &mut lines);
        wakes::write(record, style, &mut lines);
        findings::write(record, style, &mut lines);
        gaps(record, style, &mut lines);
    }
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What fullbore changed.
fn tuning(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    for change in record.tuning.iter().take(TUNING_LINES) {
        let mut sentence = format!(
            "{}: {} → {}, {}",
            wording::pipe(record, change.pipe),
            Bytes(change.from_bytes),
            Bytes(change.to_bytes),
            wording::outcome(change.outcome)
        );
        if change.outcome == Outcome::Refused && !change.reason.is_empty() {
            sentence.push_str(": ");
            sentence.push_str(&visible::line(&change.reason));
        }
        lines.extend(wrap::wrap(&sentence, style.columns(), "  ", "    "));
    }
    if record.tuning.len() > TUNING_LINES {
        let rest = match record.tuning.len() - TUNING_LINES {
            1 => "… and 1 more change to pipes".to_owned(),
            more => format!("… and {more} more changes to pipes"),
        };
        lines.extend(wrap::wrap(&rest, style.columns(), "  ", "    "));
    }
}

/// What could not be observed, and what makes numbers doubtful.
fn gaps(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    let mut notes: Vec<String> = record
        .gaps
        .iter()
        .take(GAP_LINES)
        .map(|gap| format!("note: {}", visible::line(gap)))
        .collect();
    if record.gaps.len() > GAP_LINES {
        notes.push(format!(
            "note: {} more things to know about the numbers are in the report",
            record.gaps.len() - GAP_LINES
        ));
    }
    for note in notes {
        for line in wrap::wrap(&note, style.columns(), "  ", "    ") {
            lines.push(style.dim(&line));
        }
    }
}
