//! A line for each engine over one parameter, with logarithmic axes where the values are numbers.

use fullbore_lab::record::{Cache, CaseRun, PointRun};
use fullbore_lab::runner::value_text;
use fullbore_lab::suite::Axis;
use fullbore_lab::{Estimate, Parameter};
use fullbore_measure::Bytes;
use maud::{Markup, html};

use super::drawing::{Width, label, look, measured, whisker};
use super::scale::Scale;
use crate::html::svg::number;
use crate::lab::figures;
use crate::visible;

const TOP: f64 = 20.0;
const HEIGHT: f64 = 300.0;
/// Room for marks that stand beside the first and the last place.
const MARGIN: f64 = 14.0;

/// Where things lie in one drawing.
struct Frame<'a> {
    case: &'a CaseRun,
    axis: &'a Axis,
    /// `None` when the swept values are names: they then stand side by side.
    across: Option<Scale>,
    up: Scale,
    left: f64,
    right: f64,
    /// Engines with a line, in order.
    drawn: Vec<&'a str>,
}

/// How far the marks of two engines at the same point stand apart, at most.
const APART: f64 = 7.0;

impl Frame<'_> {
    /// How far the marks of an engine stand beside their place, so that whiskers at the same point do not lie on one
    /// line.
    fn beside(&self, engine: &str) -> f64 {
        let Some(place) = self.drawn.iter().position(|name| *name == engine) else {
            return 0.0;
        };
        let mut places: Vec<f64> = self.axis.values.iter().filter_map(|v| self.x(v)).collect();
        places.sort_by(f64::total_cmp);
        let gap = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let count = self.drawn.len();
        let step = (0.6 * gap / count.max(1) as f64).min(APART);
        (place as f64 - (count.saturating_sub(1)) as f64 / 2.0) * step
    }

    fn x(&self, value: &Parameter) -> Option<f64> {
        let place = match (&self.across, value) {
            (Some(scale), Parameter::Number(number)) => scale.place(*number as f64),
            _ => {
                let position = self.axis.values.iter().position(|known| known == value)? as f64;
                (position + 0.5) / self.axis.values.len() as f64
            }
        };
        Some(self.left + place * (self.right - self.left))
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - self.up.place(value)) * HEIGHT
    }
}

/// The drawing in both widths.
pub(super) fn chart(case: &CaseRun, axis: &Axis, points: &[&PointRun], caches: &[Cache]) -> Markup {
    html! {
        (drawing(case, axis, points, caches, Width::Wide))
        (drawing(case, axis, points, caches, Width::Narrow))
    }
}

fn drawing(
    case: &CaseRun,
    axis: &Axis,
    points: &[&PointRun],
    caches: &[Cache],
    width: Width,
) -> Markup {
    let values = points.iter().flat_map(|point| measured(point)).filter_map(|run| run.value);
    let shown = Scale::worth_showing(&values.collect::<Vec<_>>());
    let Some(up) = Scale::logarithmic(shown.into_iter()) else {
        return html! {};
    };
    let numbers: Option<Vec<f64>> = axis.values.iter().map(as_number).collect();
    let across = numbers.and_then(|numbers| Scale::logarithmic(numbers.into_iter()));
    let left = if width == Width::Wide { 76.0 } else { 62.0 };
    let has_line =
        |name: &&str| points.iter().any(|p| p.engine(name).is_some_and(|run| run.value.is_some()));
    let drawn = case.engines.iter().map(|note| note.name.as_str()).filter(has_line).collect();
    // Marks that stand beside the first and the last place need room, too.
    let (first, last) = (left + MARGIN, width.units() - 16.0 - MARGIN);
    let frame = Frame { case, axis, across, up, left: first, right: last, drawn };
    let bottom = TOP + HEIGHT;
    html! {
        svg.plot.(width.class()) viewBox={ "0 0 " (width.units()) " " (number(bottom + 44.0)) } role="img" aria-label=(describe(case, axis)) {
            @for tick in frame.up.ticks(7) {
                path.grid d={ "M" (number(left)) " " (number(frame.y(tick))) "H" (number(frame.right + MARGIN)) } {}
                text.tick x=(number(left - 7.0)) y=(number(frame.y(tick) + 4.0)) text-anchor="end" { (figures::value(&case.quantity, tick)) }
            }
            (marks_of_caches(&frame, caches, width))
            (feet(&frame, width))
            text.axisname x=(number(f64::midpoint(left, frame.right))) y=(number(bottom + 38.0)) text-anchor="middle" { (axis.name.replace('_', " ")) }
            @for note in &case.engines { (line(&frame, &note.name, points)) }
        }
    }
}

fn as_number(value: &Parameter) -> Option<f64> {
    match value {
        Parameter::Number(number) if *number > 0 => Some(*number as f64),
        _ => None,
    }
}

fn describe(case: &CaseRun, axis: &Axis) -> String {
    format!(
        "{} over {}: {}. The numbers are in the table below.",
        visible::line(&case.title),
        axis.name,
        figures::quantity(&case.quantity)
    )
}

/// The swept values under the axis, as many as fit.
fn feet(frame: &Frame<'_>, width: Width) -> Markup {
    let count = frame.axis.values.len();
    let step = count.div_ceil(width.ticks() + 1).max(1);
    let bottom = TOP + HEIGHT;
    html! {
        path.axisline d={ "M" (number(frame.left - MARGIN)) " " (number(bottom)) "H" (number(frame.right + MARGIN)) } {}
        @for (place, value) in frame.axis.values.iter().enumerate() {
            @if let Some(x) = frame.x(value) {
                path.axisline d={ "M" (number(x)) " " (number(bottom)) "v5" } {}
                @if place % step == 0 {
                    text.tick x=(number(x)) y=(number(bottom + 19.0)) text-anchor="middle" { (visible::line(&value_text(frame.axis, value))) }
                }
            }
        }
    }
}

/// Where a cache is full.
fn marks_of_caches(frame: &Frame<'_>, caches: &[Cache], width: Width) -> Markup {
    let Some(across) = &frame.across else {
        return html! {};
    };
    html! {
        @for cache in caches.iter().filter(|cache| across.holds(cache.size_bytes as f64)) {
            @let x = frame.left + across.place(cache.size_bytes as f64) * (frame.right - frame.left);
            path.cache d={ "M" (number(x)) " " (number(TOP - 4.0)) "V" (number(TOP + HEIGHT)) } {}
            text.cachename x=(number(x)) y=(number(TOP - 8.0)) text-anchor=(if x > frame.right - 40.0 { "end" } else { "middle" }) {
                (visible::line(&cache.name))
                // On a phone only the words below have room for it.
                @if width == Width::Wide { " " (Bytes(cache.size_bytes)) }
            }
        }
    }
}

/// What the marks of caches are, and which caches lie beyond the axis.
pub(super) fn caption_of_caches(axis: &Axis, caches: &[Cache]) -> Option<String> {
    let numbers: Option<Vec<f64>> = axis.values.iter().map(as_number).collect();
    let across = Scale::logarithmic(numbers?.into_iter())?;
    let told = |is_marked: bool| {
        let these = caches.iter().filter(|c| across.holds(c.size_bytes as f64) == is_marked);
        let these = these.map(|c| format!("{} {}", visible::line(&c.name), Bytes(c.size_bytes)));
        these.collect::<Vec<_>>().join(", ")
    };
    let (marked, beyond) = (told(true), told(false));
    let mut text = String::new();
    if !marked.is_empty() {
        text.push_str(&format!(
            "Dotted: {} as large as a cache ({marked}); what uses two buffers leaves the cache at half of that.",
            axis.name.replace('_', " ")
        ));
    }
    if !beyond.is_empty() {
        text.push_str(&format!(" Not on the axis: {beyond}."));
    }
    (!text.is_empty()).then(|| text.trim_start().to_owned())
}

fn line(frame: &Frame<'_>, engine: &str, points: &[&PointRun]) -> Markup {
    let beside = frame.beside(engine);
    let at = |point: &&PointRun| -> Option<(f64, Estimate, String)> {
        let value = point.parameters.0.get(&frame.axis.name)?;
        let x = frame.x(value)? + beside;
        Some((x, point.engine(engine)?.value?, value_text(frame.axis, value)))
    };
    let mut placed: Vec<_> = points.iter().filter_map(at).collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let look = look(frame.case, engine);
    let path: Vec<String> = placed
        .iter()
        .map(|(x, v, _)| format!("{} {}", number(*x), number(frame.y(v.middle))))
        .collect();
    let name = label(frame.case, engine);
    html! {
        @if !path.is_empty() {
            g {
                path class={ "line k" (look) } d={ "M" (path.join("L")) } {}
                @for (x, value, at) in &placed {
                    @if let (Some(low), Some(high)) = (value.low, value.high) {
                        @let ends = [low, high].map(|end| (frame.y(end), frame.up.cuts(end)));
                        path class={ "span k" (look) } d=(whisker(ends, |along, across| (x + across, along))) {}
                    }
                    g {
                        title { (name) ", " (visible::line(at)) ": " (figures::value(&frame.case.quantity, value.middle)) " " (figures::spread(value)) }
                        (sign(look, *x, frame.y(value.middle)))
                    }
                }
            }
        }
    }
}

/// A sign for an engine: its shape tells it apart where its colour does not.
pub(super) fn sign(look: usize, x: f64, y: f64) -> Markup {
    let at = |dx: f64, dy: f64| format!("{} {}", number(x + dx), number(y + dy));
    let d = match look % 5 {
        0 => {
            return html! { circle class={ "sign c" (look) } cx=(number(x)) cy=(number(y)) r="4" {} };
        }
        1 => format!("M{}h7v7h-7z", at(-3.5, -3.5)),
        2 => format!("M{}L{}L{}z", at(0.0, -4.8), at(4.4, 3.4), at(-4.4, 3.4)),
        3 => format!("M{}L{}L{}L{}z", at(0.0, -5.0), at(5.0, 0.0), at(0.0, 5.0), at(-5.0, 0.0)),
        _ => format!("M{}L{}L{}z", at(0.0, 4.8), at(4.4, -3.4), at(-4.4, -3.4)),
    };
    html! { path class={ "sign c" (look) } d=(d) {} }
}
