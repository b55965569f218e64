//! The pipeline as a drawing: stages as boxes, pipes as arrows.

use fullbore_measure::Bytes;
use fullbore_pipeline::record::{FindingKind, PipeRecord, RunRecord, StageRecord};
use maud::{Markup, html};

use super::layout::{Arrow, Grid, Layout, Node, Place, Route};
use super::shares::{self, Share};
use crate::figures::{known_bytes, known_percent, known_rate, percent, rate};
use crate::prominence::verdict_stage;
use crate::{visible, wording};

/// Stages up to which boxes have room for their numbers.
const ROOMY: usize = 24;

const WIDE: Grid = Grid {
    columns: 4,
    width: 1000.0,
    box_width: 164.0,
    box_height: 86.0,
    gap: 108.0,
    row_gap: 66.0,
    is_compact: false,
};

const NARROW: Grid = Grid {
    columns: 1,
    width: 340.0,
    box_width: 296.0,
    box_height: 86.0,
    gap: 0.0,
    row_gap: 60.0,
    is_compact: false,
};

const WIDE_COMPACT: Grid = Grid {
    columns: 8,
    width: 1000.0,
    box_width: 102.0,
    box_height: 40.0,
    gap: 22.0,
    row_gap: 34.0,
    is_compact: true,
};

const NARROW_COMPACT: Grid = Grid {
    columns: 3,
    width: 340.0,
    box_width: 92.0,
    box_height: 40.0,
    gap: 22.0,
    row_gap: 34.0,
    is_compact: true,
};

/// The drawing in two versions, of which the page shows the one that suits its width.
pub(super) fn drawing(record: &RunRecord) -> Markup {
    let is_roomy = record.stages.len() <= ROOMY;
    let (wide, narrow) = if is_roomy {
        (&WIDE, &NARROW)
    } else {
        (&WIDE_COMPACT, &NARROW_COMPACT)
    };
    html! {
        (version(record, wide, "wide"))
        (version(record, narrow, "narrow"))
        (shares::legend())
        @if is_roomy && !record.pipes.is_empty() {
            p.caption {
                "On an arrow: the capacity of the pipe. Below it: how much of the time the writer (at the start) and the reader (at the tip) were blocked on it."
            }
        } @else if !is_roomy {
            p.caption { "The numbers of each pipe are in the table below." }
        }
    }
}

fn version(record: &RunRecord, grid: &Grid, name: &str) -> Markup {
    let layout = Layout::new(record, grid);
    let id = format!("drawing-{name}");
    html! {
        svg.drawing.(name) viewBox={ "0 0 " (grid.width) " " (number(layout.height)) } role="img" aria-labelledby=(id) {
            title id=(id) { (description(record)) }
            @if grid.is_compact {
                (draw_bare_arrows(&layout, grid))
            } @else {
                @for arrow in &layout.arrows { (draw_arrow(record, &layout, arrow, grid)) }
            }
            @for place in &layout.places {
                @match place.node {
                    Node::Stage(position) => (draw_stage(record, &record.stages[position], place, grid)),
                    Node::Outside => (draw_outside(place, grid)),
                }
            }
        }
    }
}

fn description(record: &RunRecord) -> String {
    let mut text = format!(
        "The pipeline: {} stages and {} pipes.",
        record.stages.len(),
        record.pipes.len()
    );
    if let Some(stage) =
        verdict_stage(record).and_then(|number| record.stages.iter().find(|s| s.stage == number))
    {
        text.push_str(&format!(
            " The verdict is about stage {}, {}.",
            stage.stage,
            wording::command(stage)
        ));
    }
    text
}

fn draw_stage(record: &RunRecord, stage: &StageRecord, place: &Place, grid: &Grid) -> Markup {
    let is_verdict = verdict_stage(record) == Some(stage.stage);
    let label = record
        .findings
        .first()
        .map_or("", |finding| wording::kind(finding.kind));
    let (w, h) = (grid.box_width, grid.box_height);
    let label_width = label.len() as f64 * 6.6 + 14.0;
    html! {
        g.hot[is_verdict] transform={ "translate(" (number(place.x)) " " (number(place.y)) ")" } {
            // Nothing hovers over a phone.
            @if grid.is_hovered() {
                title { (stage.stage) " " (wording::command(stage)) ": " (shares::sentence(&shares::of_stage(stage))) }
            }
            rect.box width=(w) height=(h) rx="5" {}
            @if is_verdict {
                rect.tab x="-1" y="-16" width=(number(label_width.min(w + 2.0))) height="17" rx="3" {}
                text.tabname x="6" y="-4" { (label) }
            }
            @if grid.is_compact { (compact_content(stage, w)) } @else { (content(stage, w)) }
        }
    }
}

fn content(stage: &StageRecord, width: f64) -> Markup {
    // 6.9 units is the width of a character in the 11.5-unit monospace face.
    let room = ((width - 20.0) / 6.9) as usize;
    let name = visible::cut(
        &format!("{} {}", stage.stage, wording::command(stage)),
        room,
    );
    let (read, written) = (
        known_rate(rate(stage.read_bytes, stage)),
        known_rate(rate(stage.written_bytes, stage)),
    );
    html! {
        text.name x="10" y="20" { (name) }
        text.big x="10" y="42" { (percent(stage.running_percent)) tspan.soft { " running" } }
        (bar(stage, width, 52.0, 11.0))
        text.soft x="10" y="78" { "in " (read) }
        text.soft x=(width - 10.0) y="78" text-anchor="end" { "out " (written) }
    }
}

fn compact_content(stage: &StageRecord, width: f64) -> Markup {
    let figure = percent(stage.running_percent);
    let room = ((width - 16.0) / 5.7) as usize;
    let name = format!("{} {}", stage.stage, wording::command(stage));
    html! {
        text.small.name x="6" y="15" { (visible::cut(&name, room.saturating_sub(figure.chars().count() + 1))) }
        text.small.soft x=(width - 6.0) y="15" text-anchor="end" { (figure) }
        (bar(stage, width, 23.0, 9.0))
    }
}

/// The shares of a stage as one bar.
fn bar(stage: &StageRecord, width: f64, y: f64, height: f64) -> Markup {
    let margin = if width < 120.0 { 6.0 } else { 10.0 };
    let whole = width - 2.0 * margin;
    let mut x = margin;
    let mut parts: Vec<(f64, f64, Share)> = Vec::new();
    for (share, value) in shares::of_stage(stage) {
        let length = (value.unwrap_or(0.0) / 100.0 * whole).min(margin + whole - x);
        if length > 0.3 {
            parts.push((x, length, share));
        }
        x += length.max(0.0);
    }
    html! {
        rect.track x=(margin) y=(y) width=(whole) height=(height) {}
        @for (x, length, share) in parts {
            rect.(share.class()) x=(number(x)) y=(y) width=(number(length)) height=(height) {}
        }
    }
}

fn draw_outside(place: &Place, grid: &Grid) -> Markup {
    let height = if grid.is_compact { 24.0 } else { 34.0 };
    let y = place.y + (grid.box_height - height) / 2.0;
    html! {
        g.outside transform={ "translate(" (number(place.x)) " " (number(y)) ")" } {
            title { "Outside the pipeline" }
            rect.box width=(grid.box_width) height=(height) rx=(height / 2.0) {}
            text.soft x=(number(grid.box_width / 2.0)) y=(number(height / 2.0 + 4.0)) text-anchor="middle" { "outside" }
        }
    }
}

/// All arrows as one shape.
fn draw_bare_arrows(layout: &Layout, grid: &Grid) -> Markup {
    let lines: Vec<Line> = layout
        .arrows
        .iter()
        .map(|arrow| Line::new(layout, arrow, grid))
        .collect();
    html! {
        g.pipe {
            path.line d=(lines.iter().map(|line| line.path.as_str()).collect::<String>()) {}
            path.tip d=(lines.iter().map(|line| line.tip.as_str()).collect::<String>()) {}
        }
    }
}

fn draw_arrow(record: &RunRecord, layout: &Layout, arrow: &Arrow, grid: &Grid) -> Markup {
    let pipe = &record.pipes[arrow.pipe];
    let is_hot = record
        .findings
        .first()
        .is_some_and(|finding| finding.pipe == Some(pipe.pipe));
    let line = Line::new(layout, arrow, grid);
    html! {
        g.pipe.hot[is_hot] {
            @if grid.is_hovered() { title { (pipe_sentence(pipe)) } }
            path.line d=(line.path) {}
            path.tip d=(line.tip) {}
            @if arrow.has_label { (arrow_label(record, pipe, &line, is_hot)) }
        }
    }
}

fn arrow_label(record: &RunRecord, pipe: &PipeRecord, line: &Line, is_hot: bool) -> Markup {
    let (writer, reader) = (
        known_percent(pipe.writer_blocked_percent),
        known_percent(pipe.reader_blocked_percent),
    );
    let capacity = capacity(pipe);
    let kind = record
        .findings
        .first()
        .map(|finding| finding.kind)
        .filter(|_| is_hot);
    let note = kind.map_or(String::new(), |kind: FindingKind| {
        wording::kind(kind).to_owned()
    });
    let (x, y) = line.label;
    match line.route {
        Route::Beside => html! {
            text x=(number(x + line.room / 2.0)) y=(number(y - 6.0)) text-anchor="middle" { (capacity) }
            @if !note.is_empty() {
                text.note x=(number(x + line.room / 2.0)) y=(number(y - 20.0)) text-anchor="middle" { (note) }
            }
            text.blocked x=(number(x + 5.0)) y=(number(y + 15.0)) { (writer) }
            text.blocked x=(number(x + line.room - 7.0)) y=(number(y + 15.0)) text-anchor="end" { (reader) }
        },
        Route::Below | Route::Around => html! {
            text x=(number(x)) y=(number(y)) {
                (capacity) tspan.soft { " · writer blocked " (writer) ", reader " (reader) }
                @if !note.is_empty() { tspan.note x=(number(x)) dy="15" { (note) } }
            }
        },
    }
}

fn capacity(pipe: &PipeRecord) -> String {
    match (pipe.initial_capacity_bytes, pipe.capacity_bytes) {
        (Some(before), Some(now)) if before != now => format!("{}→{}", Bytes(before), Bytes(now)),
        (_, now) => known_bytes(now),
    }
}

fn pipe_sentence(pipe: &PipeRecord) -> String {
    let path = pipe
        .path
        .as_deref()
        .map_or(String::new(), |path| format!(" ({})", visible::line(path)));
    format!(
        "Pipe {}{path}: {}; writer blocked {}, reader blocked {} of the time",
        wording::pipe_ends(pipe),
        capacity(pipe),
        known_percent(pipe.writer_blocked_percent),
        known_percent(pipe.reader_blocked_percent)
    )
}

/// The line of an arrow, its tip, and where its label goes.
struct Line {
    path: String,
    tip: String,
    route: Route,
    label: (f64, f64),
    room: f64,
}

impl Line {
    fn new(layout: &Layout, arrow: &Arrow, grid: &Grid) -> Self {
        let (from, to) = (&layout.places[arrow.from], &layout.places[arrow.to]);
        let middle = grid.box_height / 2.0;
        let (x1, y1) = (from.x + grid.box_width, from.y + middle);
        let (x2, y2) = (to.x, to.y + middle);
        let route = layout.route(arrow);
        let n = number;
        let (path, label) = match route {
            Route::Beside => {
                let fans_out = layout
                    .arrows
                    .iter()
                    .filter(|other| other.from == arrow.from)
                    .count()
                    > 1;
                let (bend, level) = if fans_out {
                    (x1 + 9.0, y2)
                } else {
                    (x2 - 12.0, y1)
                };
                let path = if (y1 - y2).abs() < 0.5 {
                    format!("M{} {}H{}", n(x1), n(y1), n(x2 - 3.0))
                } else {
                    format!("M{} {}H{}V{}H{}", n(x1), n(y1), n(bend), n(y2), n(x2 - 3.0))
                };
                (path, (if fans_out { bend } else { x1 }, level))
            }
            Route::Below => {
                let (x, top, bottom) = (from.x + 24.0, end_of(from, grid), start_of(to, grid));
                (
                    format!("M{} {}V{}", n(x), n(top), n(bottom - 3.0)),
                    (x + 10.0, f64::midpoint(top, bottom) - 4.0),
                )
            }
            Route::Around => {
                let channel = to.y - if grid.is_compact { 10.0 } else { 30.0 };
                let (right, left) = (x1 + 9.0, x2 - 11.0);
                let path = format!(
                    "M{} {}H{}V{}H{}V{}H{}",
                    n(x1),
                    n(y1),
                    n(right),
                    n(channel),
                    n(left),
                    n(y2),
                    n(x2 - 3.0)
                );
                (path, (x2 - 4.0, channel - 5.0))
            }
        };
        let tip = if route == Route::Below {
            let (x, y) = (from.x + 24.0, start_of(to, grid));
            format!("M{} {}l-4 -8h8z", n(x), n(y - 1.0))
        } else {
            format!("M{} {}l-8 -4v8z", n(x2 - 1.0), n(y2))
        };
        Self {
            path,
            tip,
            route,
            label,
            room: x2 - x1,
        }
    }
}

/// Upper edge of what is drawn at a place.
fn start_of(place: &Place, grid: &Grid) -> f64 {
    match place.node {
        Node::Stage(_) => place.y,
        Node::Outside => place.y + (grid.box_height - 34.0) / 2.0,
    }
}

/// Lower edge of what is drawn at a place.
fn end_of(place: &Place, grid: &Grid) -> f64 {
    match place.node {
        Node::Stage(_) => place.y + grid.box_height,
        Node::Outside => place.y + (grid.box_height + 34.0) / 2.0,
    }
}

/// A coordinate with one digit after the point, and none when that is zero.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
