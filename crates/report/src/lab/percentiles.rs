//! Latencies of a point on a terminal: percentiles and a histogram of one line for each engine.

use fullbore_lab::Latency;
use fullbore_lab::record::{CaseRun, PointRun};

use super::columns::{Side, padded};
use super::distribution::{Range, at};
use super::figures;
use crate::text::Style;
use crate::visible;

/// Letters of a histogram above which it says no more.
const BLOCKS: usize = 40;

/// The width of a percentile: `99.9 µs`, `p99.9`.
const CELL: usize = 7;

/// The table under that of the values; empty when the point has no latencies.
pub(super) fn table(case: &CaseRun, point: &PointRun, engine: usize, style: Style) -> String {
    let Some(range) = Range::of(case).filter(|_| at(point).next().is_some()) else {
        return String::new();
    };
    let cells = 2 + engine + 4 * (CELL + 2);
    let room = style.columns().saturating_sub(cells + 2);
    let ends = range.told();
    let blocks = (room >= visible::width(&ends)).then(|| room.min(BLOCKS));
    let head = ["p50", "p99", "p99.9", "max"].map(str::to_owned);
    let mut text = style.dim(&line("", engine, &head, blocks.map(|_| ends.as_str())));
    text.push('\n');
    for (run, latency) in at(point) {
        let label = case.engine(&run.engine).map_or(run.engine.as_str(), |note| &note.label);
        let drawn = blocks.map(|columns| range.blocks(latency, columns));
        text.push_str(&line(&visible::line(label), engine, &told(latency), drawn.as_deref()));
        text.push('\n');
    }
    text
}

fn told(latency: &Latency) -> [String; 4] {
    [latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.max_ns].map(figures::nanoseconds)
}

fn line(name: &str, engine: usize, cells: &[String; 4], drawn: Option<&str>) -> String {
    let mut line = format!("  {}", padded(&visible::cut(name, engine), engine, Side::Left));
    for cell in cells {
        line.push_str("  ");
        line.push_str(&padded(cell, CELL, Side::Right));
    }
    line.push_str("  ");
    line.push_str(drawn.unwrap_or(""));
    line.trim_end().to_owned()
}
