//! A bar for each engine at each point; a dot where the values are too far apart for bars from zero.

use fullbore_lab::Estimate;
use fullbore_lab::record::{CaseRun, EngineRun, PointRun};
use fullbore_lab::runner::point_text;
use maud::{Markup, html};

use super::drawing::{Width, label, look, measured, whisker};
use super::scale::Scale;
use crate::html::svg::number;
use crate::lab::figures;
use crate::visible;

/// Height of a bar with its space.
const BAR: f64 = 24.0;

/// Height of the name of a point, and of a label that stands over its bar.
const NAME: f64 = 20.0;

/// Room for a value beside its bar.
const VALUE: f64 = 84.0;

/// One line of the drawing.
enum Line<'a> {
    Point(String),
    Bar(&'a EngineRun),
}

/// The drawing in both widths.
pub(super) fn chart(case: &CaseRun, points: &[&PointRun]) -> Markup {
    let values = points.iter().flat_map(|point| measured(point)).filter_map(|run| run.value);
    let all: Vec<Estimate> = values.map(|value| Estimate { low: None, ..value }).collect();
    let Some(scale) = Scale::suiting(Scale::worth_showing(&all).into_iter()) else {
        return html! {};
    };
    html! { (drawing(case, points, &scale, Width::Wide)) (drawing(case, points, &scale, Width::Narrow)) }
}

fn lines<'a>(case: &CaseRun, points: &[&'a PointRun]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for point in points {
        let name = visible::line(&point_text(&case.sweep, &point.parameters));
        if !name.is_empty() {
            lines.push(Line::Point(name));
        }
        lines.extend(measured(point).map(Line::Bar));
    }
    lines
}

fn drawing(case: &CaseRun, points: &[&PointRun], scale: &Scale, width: Width) -> Markup {
    let lines = lines(case, points);
    let is_narrow = width == Width::Narrow;
    // On a phone the label stands over its bar.
    let (left, bar_height) = if is_narrow { (0.0, BAR + NAME - 4.0) } else { (230.0, BAR) };
    let room = width.units() - left - VALUE;
    let mut y = 4.0;
    let mut placed = Vec::new();
    for line in lines {
        let height = if matches!(line, Line::Point(_)) { NAME + 4.0 } else { bar_height };
        placed.push((y, line));
        y += height;
    }
    let bottom = y + 2.0;
    let ticks = scale.ticks(if is_narrow { 3 } else { 7 });
    html! {
        svg.plot.(width.class()) viewBox={ "0 0 " (width.units()) " " (number(bottom + 22.0)) } role="img" aria-label=(describe(case)) {
            @for tick in ticks {
                @let x = left + scale.place(tick) * room;
                path.grid d={ "M" (number(x)) " 2V" (number(bottom)) } {}
                text.tick x=(number(x)) y=(number(bottom + 14.0)) text-anchor=(if scale.place(tick) < 0.02 { "start" } else { "middle" }) {
                    (figures::value(&case.quantity, tick))
                }
            }
            @for (y, line) in placed {
                @match line {
                    Line::Point(name) => text.pointname x="0" y=(number(y + 16.0)) { (name) },
                    Line::Bar(run) => (bar(case, run, scale, Placed { y, left, room, is_narrow })),
                }
            }
        }
    }
}

fn describe(case: &CaseRun) -> String {
    format!(
        "{}: {}. The numbers are in the table below.",
        visible::line(&case.title),
        figures::quantity(&case.quantity)
    )
}

struct Placed {
    y: f64,
    left: f64,
    room: f64,
    is_narrow: bool,
}

fn bar(case: &CaseRun, run: &EngineRun, scale: &Scale, at: Placed) -> Markup {
    let Some(value) = run.value else {
        return html! {};
    };
    let name = label(case, &run.engine);
    let y = if at.is_narrow { at.y + NAME - 4.0 } else { at.y };
    let x = |value: f64| at.left + scale.place(value) * at.room;
    let end = x(value.middle);
    let text_at = value.high.map_or(end, |high| x(high).max(end)) + 8.0;
    let look = look(case, &run.engine);
    html! {
        @if at.is_narrow {
            text.enginename x="0" y=(number(at.y + 13.0)) { (visible::cut(&name, 52)) }
        } @else {
            text.enginename x=(number(at.left - 10.0)) y=(number(y + 15.5)) text-anchor="end" { (visible::cut(&name, 34)) }
        }
        g {
            title { (name) ": " (figures::value(&case.quantity, value.middle)) " " (figures::spread(&value)) }
            @if scale.is_logarithmic() {
                path.stem d={ "M" (number(at.left)) " " (number(y + 11.0)) "H" (number(end)) } {}
                circle class={ "dot c" (look) } cx=(number(end)) cy=(number(y + 11.0)) r="5" {}
            } @else {
                rect class={ "bar c" (look) } x=(number(at.left)) y=(number(y + 3.0)) width=(number((end - at.left).max(1.0))) height="16" rx="1.5" {}
            }
            @if let (Some(low), Some(high)) = (value.low, value.high) {
                @let ends = [low, high].map(|end| (x(end), scale.cuts(end)));
                path.whisker d=(whisker(ends, |along, across| (along, y + 11.0 + across))) {}
            }
        }
        text.barvalue x=(number(text_at)) y=(number(y + 15.5)) { (figures::value(&case.quantity, value.middle)) }
    }
}
