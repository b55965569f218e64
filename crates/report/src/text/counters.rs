//! What `run --counters` counted, as a table.

use fullbore_record::{RunRecord, StageRecord};

use super::{Style, table};
use crate::figures::NONE;
use crate::visible;

type Column = (&'static str, fn(&StageRecord) -> Option<String>);

const COLUMNS: [Column; 10] = [
    ("IPC", |stage| stage.counters?.instructions_per_cycle().map(|value| format!("{value:.2}"))),
    ("GHz", |stage| stage.counters?.gigahertz(stage.cpu_ns).map(|value| format!("{value:.2}"))),
    ("cycles", |stage| stage.counters?.cycles.map(short)),
    ("instr.", |stage| stage.counters?.instructions.map(short)),
    ("cache miss", |stage| stage.counters?.cache_misses.map(short)),
    ("branch miss", |stage| stage.counters?.branch_misses.map(short)),
    ("dTLB miss", |stage| stage.counters?.dtlb_misses.map(short)),
    ("faults", |stage| stage.counters?.page_faults.map(short)),
    ("switches", |stage| stage.counters?.context_switches.map(short)),
    ("moves", |stage| stage.counters?.migrations.map(short)),
];

/// Appends the table, if something was counted. Columns of which nobody knows anything are left out.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    let counted: Vec<&StageRecord> =
        record.stages.iter().filter(|stage| stage.counters.is_some()).collect();
    if counted.is_empty() {
        return;
    }
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(_, value)| counted.iter().any(|stage| value(stage).is_some()))
        .collect();
    if columns.is_empty() {
        return;
    }
    let cells = |stage: &StageRecord| -> Vec<String> {
        columns.iter().map(|(_, value)| value(stage).unwrap_or_else(|| NONE.to_owned())).collect()
    };
    let rows: Vec<(&StageRecord, Vec<String>)> =
        counted.iter().map(|stage| (*stage, cells(stage))).collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(place, (title, _))| {
            let widest = rows.iter().map(|(_, cells)| cells[place].chars().count()).max();
            title.chars().count().max(widest.unwrap_or(0))
        })
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let name = style.columns().saturating_sub(used + 2).clamp(8, 24);
    let line = |first: &str, cells: &mut dyn Iterator<Item = &str>| {
        let mut text =
            format!("  {}", table::left(&visible::cut(&visible::line(first), name), name));
        for (cell, width) in cells.zip(&widths) {
            text += &format!("  {cell:>width$}");
        }
        text
    };
    let mut titles = columns.iter().map(|(title, _)| *title);
    lines.push(style.dim(&line("counters", &mut titles)));
    for (stage, cells) in &rows {
        let first = format!("{} {}", stage.stage, stage.command);
        lines.push(line(&first, &mut cells.iter().map(String::as_str)));
    }
}

/// A count with three digits at least.
fn short(value: u64) -> String {
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")];
    match units.into_iter().find(|(from, _)| value >= *from) {
        None => value.to_string(),
        Some((10_000, unit)) => format!("{}{unit}", value / 1_000),
        Some((from, unit)) => format!("{:.2}{unit}", value as f64 / from as f64),
    }
}
