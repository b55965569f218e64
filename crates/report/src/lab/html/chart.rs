//! Which chart suits a case, and the legend.

use fullbore_lab::record::{CaseRun, PointRun};
use fullbore_lab::runner::point_text;
use fullbore_lab::suite::{Axis, Chart};
use maud::{Markup, html};

use super::drawing::look;
use super::{bars, heat, lines};
use crate::lab::figures;
use crate::visible;

/// All charts of a case: one for each combination of values that has no axis of its own.
pub(super) fn charts(case: &CaseRun, caches: &[fullbore_lab::record::Cache]) -> Markup {
    if !case.is_measured() {
        return html! {};
    }
    // A line needs two points.
    let is_short = |x: &str| axis(case, x).is_none_or(|axis| axis.values.len() < 2);
    let chart = match &case.chart {
        Chart::Lines { x, .. } if is_short(x) => &Chart::Bars,
        other => other,
    };
    let on_axes: &[&str] = match chart {
        Chart::Bars => &[],
        Chart::Lines { x, .. } => &[x],
        Chart::Heat { x, y } => &[x, y],
    };
    let told_of_caches = match chart {
        Chart::Lines { x, caches: true } => {
            axis(case, x).and_then(|axis| lines::caption_of_caches(axis, caches))
        }
        _ => None,
    };
    let groups = groups(case, on_axes);
    html! {
        @if matches!(chart, Chart::Lines { .. }) { (legend(case)) }
        @for (name, points) in groups {
            figure.chart {
                @if !name.is_empty() { figcaption { (name) } }
                @match chart {
                    Chart::Bars => (bars::chart(case, &points)),
                    Chart::Lines { x, caches: marks } => {
                        @if let Some(axis) = axis(case, x) {
                            (lines::chart(case, axis, &points, if *marks { caches } else { &[] }))
                        }
                    },
                    Chart::Heat { x, y } => {
                        @if let (Some(x), Some(y)) = (axis(case, x), axis(case, y)) { (heat::chart(case, x, y, &points)) }
                    },
                }
            }
        }
        p.caption {
            (upper(&figures::quantity(&case.quantity)))
            "; a thin line shows where a second run is expected, in 95 of 100 cases; one that ends in an arrow goes on beyond the drawing. Every value is in the table below."
            @if let Some(told) = told_of_caches { " " (told) }
        }
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn axis<'a>(case: &'a CaseRun, name: &str) -> Option<&'a Axis> {
    case.sweep.iter().find(|axis| axis.name == name)
}

/// Points that belong into one drawing, with what they share.
fn groups<'a>(case: &'a CaseRun, on_axes: &[&str]) -> Vec<(String, Vec<&'a PointRun>)> {
    // Bars of all points share a drawing: each point is a group of bars in it.
    let is_bars = on_axes.is_empty();
    let rest: Vec<Axis> = case
        .sweep
        .iter()
        .filter(|axis| !is_bars && !on_axes.contains(&axis.name.as_str()))
        .cloned()
        .collect();
    let mut groups: Vec<(String, Vec<&PointRun>)> = Vec::new();
    for point in &case.points {
        let name = visible::line(&point_text(&rest, &point.parameters));
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    groups
}

/// Every engine that has a line.
fn legend(case: &CaseRun) -> Markup {
    let has_line = |name: &str| {
        let runs = case.points.iter().filter_map(|point| point.engine(name));
        runs.into_iter().any(|run| run.value.is_some())
    };
    html! {
        ul.legend {
            @for note in case.engines.iter().filter(|note| has_line(&note.name)) {
                @let look = look(case, &note.name);
                li {
                    svg width="26" height="12" aria-hidden="true" {
                        path class={ "line k" (look) } d="M0 6H26" {}
                        (lines::sign(look, 13.0, 6.0))
                    }
                    (visible::line(&note.label))
                    @if note.name == case.baseline { span.soft { " (baseline)" } }
                    @if !note.marks.is_empty() { span.mark-word { " " (visible::line(&note.marks.join(", "))) } }
                }
            }
        }
    }
}
