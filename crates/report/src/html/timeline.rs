//! What each stage did over time, and how fast its data moved.

use fullbore_measure::seconds;
use fullbore_record::{RunRecord, StageRecord, StageTimeline};
use maud::{Markup, html};

use super::axis::{Flags, MARKS, axis, place_of, time};
use super::shares::{self, Share};
use super::steps;
use super::svg::number;
use crate::figures::known_rate;
use crate::prominence::{prominent, verdict_stage};
use crate::wording;

/// About the width of a strip in its own units; the page stretches it.
const WIDTH: f64 = 800.0;

/// Stages from which heights are whole numbers and steps have no tooltips, which makes the page much smaller.
const MANY: usize = 40;

/// How wide a step is in the units of a strip, and how exact its height.
#[derive(Clone, Copy)]
struct Steps {
    count: usize,
    width: f64,
    is_coarse: bool,
}

impl Steps {
    fn of(record: &RunRecord) -> Self {
        let count = steps::count(&record.timeline).max(1);
        // Whole numbers are shorter to write, and a strip is stretched anyway.
        Self {
            count,
            width: (WIDTH / count as f64).round().max(1.0),
            is_coarse: record.stages.len() >= MANY,
        }
    }

    /// Width of the whole strip.
    fn whole(self) -> f64 {
        self.width * self.count as f64
    }
}

/// Height of a strip of shares.
const HEIGHT: f64 = 40.0;

/// Height of a strip of rates.
const RATE_HEIGHT: f64 = 30.0;

/// Strips that are shown at once; the others can be opened.
const STRIPS: usize = 12;

/// Tooltips on the whole page.
const TOOLTIPS: usize = 800;

/// Which chart a strip belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chart {
    Shares,
    Rates,
}

/// The time line of all stages; nothing when the record has none.
pub(super) fn shares_over_time(record: &RunRecord) -> Markup {
    chart(record, Chart::Shares)
}

/// The rates of all stages over time; nothing when no bytes were counted.
pub(super) fn rates_over_time(record: &RunRecord) -> Markup {
    let moves = |line: &StageTimeline| {
        line.read_bytes.iter().chain(&line.written_bytes).any(|bytes| *bytes > 0)
    };
    if !record.timeline.stages.iter().any(moves) {
        return html! {};
    }
    chart(record, Chart::Rates)
}

fn chart(record: &RunRecord, chart: Chart) -> Markup {
    if steps::count(&record.timeline) == 0 || record.timeline.step_ns == 0 {
        return html! {};
    }
    let shown = prominent(record, STRIPS);
    let hidden: Vec<usize> =
        (0..record.stages.len()).filter(|position| !shown.contains(position)).collect();
    let (title, flags) = match chart {
        Chart::Shares => ("Where the time went", Flags::Shown),
        Chart::Rates => ("Rates over time", Flags::Hidden),
    };
    html! {
        section {
            h2 { (title) }
            @if chart == Chart::Shares { (shares::legend()) } @else { (rate_legend()) }
            div.chart {
                (axis(record, flags))
                @for position in &shown { (row(record, *position, chart)) }
                @if !hidden.is_empty() {
                    details {
                        summary { "The other " (hidden.len()) " stages" }
                        @for position in &hidden { (row(record, *position, chart)) }
                    }
                }
            }
            @if chart == Chart::Rates {
                p.caption { "Each stage has its own scale; its highest rates are under its name." }
            }
        }
    }
}

fn rate_legend() -> Markup {
    html! {
        ul.legend {
            li { svg width="26" height="12" aria-hidden="true" { path.r-in d="M0 6H26" {} } "in" }
            li { svg width="26" height="12" aria-hidden="true" { path.r-out d="M0 6H26" {} } "out" }
        }
    }
}

/// One stage: its name and its strip.
fn row(record: &RunRecord, position: usize, chart: Chart) -> Markup {
    let stage = &record.stages[position];
    let Some(entry) = record.timeline.stages.iter().position(|line| line.stage == stage.stage)
    else {
        return html! {};
    };
    let line = &record.timeline.stages[entry];
    let is_verdict = verdict_stage(record) == Some(stage.stage);
    let kind = record.findings.first().map_or("", |finding| wording::kind(finding.kind));
    let name = wording::command(stage);
    html! {
        div.row.hot[is_verdict] {
            div.label {
                span.stage { (stage.stage) } " " code title=(name) { (name) }
                @if is_verdict { span.badge { (kind) } }
                @if chart == Chart::Rates { (highest(record, stage, line)) }
            }
            div.strip data-line=(entry) {
                @match chart {
                    Chart::Shares => (shares_strip(record, line, &name)),
                    Chart::Rates => (rates_strip(record, line, &name)),
                }
            }
        }
    }
}

fn shares_strip(record: &RunRecord, line: &StageTimeline, name: &str) -> Markup {
    let grid = Steps::of(record);
    html! {
        svg.shares viewBox={ "0 0 " (grid.whole()) " " (HEIGHT) } preserveAspectRatio="none" role="img" {
            title { "What " (name) " did over time" }
            @for (place, share) in Share::ALL.into_iter().enumerate().rev() {
                @let path = area(line, place, grid);
                @if !path.is_empty() { path.(share.class()) d=(path) {} }
            }
            (marks(record, grid, HEIGHT))
            @if !grid.is_coarse { (tooltips(record, line, grid)) }
        }
    }
}

/// The outline of one share with all those below it, which are painted over it; empty where the share is never seen.
fn area(line: &StageTimeline, place: usize, grid: Steps) -> String {
    let count = grid.count;
    if !(0..count).any(|step| steps::value(line, Share::ALL[place], step) > 0.0) {
        return String::new();
    }
    let level = |step: usize| -> f64 {
        let sum: f64 =
            Share::ALL.iter().take(place + 1).map(|share| steps::value(line, *share, step)).sum();
        let y = HEIGHT * (1.0 - sum.min(100.0) / 100.0);
        if grid.is_coarse { y.round() } else { y }
    };
    let mut path = format!("M0 {HEIGHT}");
    edge(&mut path, (0..count).map(|at| ((at + 1) as f64 * grid.width, level(at))));
    path.push_str(&format!("V{HEIGHT}Z"));
    path
}

/// Adds a line that goes to the height of each point and then along to its `x`; points of equal height become one.
fn edge(path: &mut String, points: impl Iterator<Item = (f64, f64)>) {
    let mut points = points.map(|(x, y)| (number(x), number(y))).peekable();
    while let Some((mut x, y)) = points.next() {
        while let Some((next, _)) = points.next_if(|(_, next)| *next == y) {
            x = next;
        }
        path.push_str(&format!("V{y}H{x}"));
    }
}

/// Invisible bars whose tooltips tell the values.
fn tooltips(record: &RunRecord, line: &StageTimeline, grid: Steps) -> Markup {
    let count = grid.count;
    let bars = (TOOLTIPS / record.timeline.stages.len().max(1)).clamp(4, 60).min(count);
    let group = count.div_ceil(bars);
    let mean = |share: Share, from: usize, to: usize| {
        let sum: f64 = (from..to).map(|step| steps::value(line, share, step)).sum();
        sum / (to - from).max(1) as f64
    };
    let bar = |from: usize| {
        let to = (from + group).min(count);
        let values: Vec<_> =
            Share::ALL.iter().map(|share| (*share, Some(mean(*share, from, to)))).collect();
        let text = format!(
            "{} to {}: {}",
            seconds(time(record, from)),
            seconds(time(record, to)),
            shares::sentence(&values)
        );
        (WIDTH * from as f64 / count as f64, WIDTH * (to - from) as f64 / count as f64, text)
    };
    html! {
        @for (x, width, text) in (0..count).step_by(group.max(1)).map(bar) {
            rect.tip x=(number(x)) width=(number(width)) height=(HEIGHT) { title { (text) } }
        }
    }
}

fn rates_strip(record: &RunRecord, line: &StageTimeline, name: &str) -> Markup {
    let grid = Steps::of(record);
    let largest =
        line.read_bytes.iter().chain(&line.written_bytes).copied().max().unwrap_or(0).max(1);
    html! {
        svg.rates viewBox={ "0 0 " (grid.whole()) " " (RATE_HEIGHT) } preserveAspectRatio="none" role="img" {
            title { "How fast " (name) " read and wrote" }
            (marks(record, grid, RATE_HEIGHT))
            @for (class, series) in [("r-in", &line.read_bytes), ("r-out", &line.written_bytes)] {
                @if series.iter().any(|bytes| *bytes > 0) { path.(class) d=(curve(series, largest, grid)) {} }
            }
        }
    }
}

fn curve(series: &[u64], largest: u64, grid: Steps) -> String {
    let height = |bytes: u64| {
        let y = (RATE_HEIGHT - 1.5) - (RATE_HEIGHT - 3.0) * (bytes as f64 / largest as f64);
        if grid.is_coarse { y.round() } else { y }
    };
    let mut path = format!("M0 {}", number(height(series.first().copied().unwrap_or(0))));
    edge(
        &mut path,
        series.iter().enumerate().map(|(at, bytes)| ((at + 1) as f64 * grid.width, height(*bytes))),
    );
    path
}

/// The highest rates of a stage; what Linux did not count is unknown.
fn highest(record: &RunRecord, stage: &StageRecord, line: &StageTimeline) -> Markup {
    let step_seconds = record.timeline.step_ns as f64 / 1e9;
    let top = |known: Option<u64>, series: &[u64]| {
        let bytes = series.iter().copied().max().unwrap_or(0);
        known_rate((known.is_some() || bytes > 0).then_some(bytes as f64 / step_seconds))
    };
    html! {
        span.top { "highest: in " (top(stage.read_bytes, &line.read_bytes)) ", out " (top(stage.written_bytes, &line.written_bytes)) }
    }
}

/// The changes to pipes as lines across a strip.
fn marks(record: &RunRecord, grid: Steps, height: f64) -> Markup {
    html! {
        @for place in record.tuning.iter().take(MARKS).filter_map(|change| place_of(record, change.at_ns)) {
            @let x = number(place * grid.whole());
            line.mark x1=(x) x2=(x) y2=(height) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_share_one_piece_of_the_outline() {
        let mut line = StageTimeline::default();
        line.running = vec![50.0, 50.0, 0.0, 100.0];
        let grid = Steps { count: 4, width: 200.0, is_coarse: false };
        assert_eq!(area(&line, 0, grid), "M0 40V20H400V40H600V0H800V40Z");
        assert_eq!(area(&line, 1, grid), "");
    }
}
