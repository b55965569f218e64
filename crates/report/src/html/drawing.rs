//! The pipeline as a drawing: stages as boxes, pipes as arrows.

use fullbore_record::{RunRecord, StageRecord};
use maud::{Markup, html};

use super::arrows;
use super::layout::{Grid, Layout, Node, OUTSIDE_HEIGHT, Rect};
use super::shares::{self, Share};
use super::svg::number;
use crate::figures::{known_rate, percent, rate};
use crate::moved::moved;
use crate::prominence::verdict_stage;
use crate::{visible, wording};

/// Stages up to which boxes have room for their numbers.
const ROOMY: usize = 24;

const WIDE: Grid = Grid {
    columns: 4,
    width: 1010.0,
    box_width: 164.0,
    box_height: 86.0,
    gap: 108.0,
    row_gap: 66.0,
    letters: 20,
    is_compact: false,
};

const NARROW: Grid = Grid {
    columns: 1,
    width: 340.0,
    box_width: 296.0,
    box_height: 86.0,
    gap: 0.0,
    row_gap: 60.0,
    letters: 40,
    is_compact: false,
};

const WIDE_COMPACT: Grid = Grid {
    columns: 8,
    width: 1000.0,
    box_width: 102.0,
    box_height: 40.0,
    gap: 22.0,
    row_gap: 34.0,
    letters: 15,
    is_compact: true,
};

const NARROW_COMPACT: Grid = Grid {
    columns: 3,
    width: 348.0,
    box_width: 92.0,
    box_height: 40.0,
    gap: 22.0,
    row_gap: 34.0,
    letters: 13,
    is_compact: true,
};

/// The drawing in two versions, of which the page shows the one that suits its width.
pub(super) fn drawing(record: &RunRecord) -> Markup {
    let is_roomy = record.stages.len() <= ROOMY;
    let (wide, narrow) = if is_roomy { (&WIDE, &NARROW) } else { (&WIDE_COMPACT, &NARROW_COMPACT) };
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
                (arrows::bare(&layout, grid))
            } @else {
                @for arrow in &layout.arrows { (arrows::arrow(record, &layout, arrow, grid)) }
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
    let mut text =
        format!("The pipeline: {} stages and {} pipes.", record.stages.len(), record.pipes.len());
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

fn draw_stage(record: &RunRecord, stage: &StageRecord, place: &Rect, grid: &Grid) -> Markup {
    let is_verdict = verdict_stage(record) == Some(stage.stage);
    let label = record.findings.first().map_or("", |finding| wording::kind(finding.kind));
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
            @if grid.is_compact { (compact_content(stage, grid)) } @else { (content(record, stage, grid)) }
        }
    }
}

fn content(record: &RunRecord, stage: &StageRecord, grid: &Grid) -> Markup {
    let (width, room) = (grid.box_width, grid.letters);
    let name = visible::cut(&format!("{} {}", stage.stage, wording::command(stage)), room);
    let moved = moved(record, stage);
    let (read, written) =
        (known_rate(rate(moved.read, stage)), known_rate(rate(moved.written, stage)));
    html! {
        text.name x="10" y="20" { (name) }
        text.big x="10" y="42" { (percent(stage.running_percent)) tspan.soft { " running" } }
        @if let Some(status) = stage.exit_status.filter(|status| *status != 0) {
            text.exit x=(width - 10.0) y="42" text-anchor="end" { @if status < 128 { "exit " } (wording::exit_status(status)) }
        }
        (bar(stage, width, 52.0, 11.0))
        text.soft x="10" y="78" { "in " (read) }
        text.soft x=(width - 10.0) y="78" text-anchor="end" { "out " (written) }
    }
}

fn compact_content(stage: &StageRecord, grid: &Grid) -> Markup {
    let (width, room) = (grid.box_width, grid.letters);
    let figure = percent(stage.running_percent);
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

fn draw_outside(place: &Rect, grid: &Grid) -> Markup {
    let height = if grid.is_compact { 24.0 } else { OUTSIDE_HEIGHT };
    let y = place.y + (grid.box_height - height) / 2.0;
    html! {
        g.outside transform={ "translate(" (number(place.x)) " " (number(y)) ")" } {
            title { "Outside the pipeline" }
            rect.box width=(grid.box_width) height=(height) rx=(height / 2.0) {}
            text.soft x=(number(grid.box_width / 2.0)) y=(number(height / 2.0 + 4.0)) text-anchor="middle" { "outside" }
        }
    }
}
