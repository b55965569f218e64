//! The pipes of the drawing: lines, tips and the numbers beside them.

use fullbore_measure::Bytes;
use fullbore_record::{FindingKind, PipeRecord, RunRecord};
use maud::{Markup, html};

use super::layout::{Arrow, Grid, Layout, Node, OUTSIDE_HEIGHT, Rect, Route};
use super::svg::number;
use crate::figures::{known_bytes, known_percent};
use crate::{visible, wording};

/// All arrows as one shape.
pub(super) fn bare(layout: &Layout, grid: &Grid) -> Markup {
    let lines: Vec<Line> =
        layout.arrows.iter().map(|arrow| Line::new(layout, arrow, grid)).collect();
    html! {
        g.pipe {
            path.line d=(lines.iter().map(|line| line.path.as_str()).collect::<String>()) {}
            path.tip d=(lines.iter().map(|line| line.tip.as_str()).collect::<String>()) {}
        }
    }
}

/// One arrow with the numbers of its pipe.
pub(super) fn arrow(record: &RunRecord, layout: &Layout, arrow: &Arrow, grid: &Grid) -> Markup {
    let pipe = &record.pipes[arrow.pipe];
    let is_hot = record.findings.first().is_some_and(|finding| finding.pipe == Some(pipe.pipe));
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
    let (writer, reader) =
        (known_percent(pipe.writer_blocked_percent), known_percent(pipe.reader_blocked_percent));
    let capacity = capacity(pipe);
    let kind = record.findings.first().map(|finding| finding.kind).filter(|_| is_hot);
    let note = kind.map_or(String::new(), |kind: FindingKind| wording::kind(kind).to_owned());
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
    let path =
        pipe.path.as_deref().map_or(String::new(), |path| format!(" ({})", visible::line(path)));
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
        let (path, label) = match route {
            Route::Beside => {
                let fans_out =
                    layout.arrows.iter().filter(|other| other.from == arrow.from).count() > 1;
                beside((x1, y1), (x2, y2), fans_out)
            }
            Route::Below => {
                let (x, top, bottom) = (from.x + 24.0, end_of(from, grid), start_of(to, grid));
                let path = format!("M{} {}V{}", number(x), number(top), number(bottom - 3.0));
                (path, (x + 10.0, f64::midpoint(top, bottom) - 4.0))
            }
            Route::Around => {
                let channel = to.y - if grid.is_compact { 10.0 } else { 30.0 };
                around((x1, y1), (x2, y2), channel)
            }
        };
        let tip = if route == Route::Below {
            let (x, y) = (from.x + 24.0, start_of(to, grid));
            format!("M{} {}l-4 -8h8z", number(x), number(y - 1.0))
        } else {
            format!("M{} {}l-8 -4v8z", number(x2 - 1.0), number(y2))
        };
        Self { path, tip, route, label, room: x2 - label.0 }
    }
}

/// A line to the next box; it bends at the writer when that feeds several readers, at the reader otherwise.
/// Returns it with the place of its label.
fn beside((x1, y1): (f64, f64), (x2, y2): (f64, f64), fans_out: bool) -> (String, (f64, f64)) {
    let (bend, label) = if fans_out { (x1 + 9.0, (x1 + 9.0, y2)) } else { (x2 - 12.0, (x1, y1)) };
    let bends = if (y1 - y2).abs() < 0.5 {
        String::new()
    } else {
        format!("H{}V{}", number(bend), number(y2))
    };
    (format!("M{} {}{bends}H{}", number(x1), number(y1), number(x2 - 3.0)), label)
}

/// A line that leaves to the right, runs along at the height `channel` and arrives from the left.
/// Returns it with the place of its label.
fn around((x1, y1): (f64, f64), (x2, y2): (f64, f64), channel: f64) -> (String, (f64, f64)) {
    let (right, left) = (number(x1 + 9.0), number(x2 - 11.0));
    let (start, end) = (format!("M{} {}", number(x1), number(y1)), number(x2 - 3.0));
    let path = format!("{start}H{right}V{}H{left}V{}H{end}", number(channel), number(y2));
    (path, (x2 - 4.0, channel - 5.0))
}

/// Upper edge of what is drawn at a place.
fn start_of(place: &Rect, grid: &Grid) -> f64 {
    match place.node {
        Node::Stage(_) => place.y,
        Node::Outside => place.y + (grid.box_height - OUTSIDE_HEIGHT) / 2.0,
    }
}

/// Lower edge of what is drawn at a place.
fn end_of(place: &Rect, grid: &Grid) -> f64 {
    match place.node {
        Node::Stage(_) => place.y + grid.box_height,
        Node::Outside => place.y + (grid.box_height + OUTSIDE_HEIGHT) / 2.0,
    }
}
