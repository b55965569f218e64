//! A field for each pair of values, darker for better; a map for each engine, all on one scale.

use fullbore_lab::record::{CaseRun, PointRun};
use fullbore_lab::runner::value_text;
use fullbore_lab::suite::Axis;
use maud::{Markup, html};

use super::drawing::{label, measured};
use super::scale::Scale;
use crate::html::svg::number;
use crate::lab::figures;
use crate::visible;

/// From this strength on, text on a field is the colour of the page.
const DARK: f64 = 0.7;

/// One map an engine.
pub(super) fn chart(case: &CaseRun, x: &Axis, y: &Axis, points: &[&PointRun]) -> Markup {
    let values = points.iter().flat_map(|point| measured(point)).filter_map(|run| run.value);
    let Some(scale) = Scale::logarithmic(values.map(|value| value.middle)) else {
        return html! {};
    };
    let is_measured = |name: &str| {
        points.iter().filter_map(|point| point.engine(name)).any(|run| run.value.is_some())
    };
    html! {
        div.maps {
            @for note in case.engines.iter().filter(|note| is_measured(&note.name)) {
                div.map { p.mapname { (label(case, &note.name)) @if !note.marks.is_empty() { span.mark-word { " " (visible::line(&note.marks.join(", "))) } } }
                    (map(case, x, y, points, &note.name, &scale))
                }
            }
        }
    }
}

fn map(
    case: &CaseRun,
    x: &Axis,
    y: &Axis,
    points: &[&PointRun],
    engine: &str,
    scale: &Scale,
) -> Markup {
    const LEFT: f64 = 66.0;
    const ROW: f64 = 30.0;
    let columns = x.values.len().max(1);
    let width = (358.0 - LEFT) / columns as f64;
    let height = 20.0 + ROW * y.values.len() as f64;
    let places = |axis: &Axis, point: &PointRun| {
        let value = point.parameters.0.get(&axis.name)?;
        Some(axis.values.iter().position(|known| known == value)? as f64)
    };
    let field = |point: &&PointRun| {
        let value = point.engine(engine)?.value?;
        Some((places(x, point)?, places(y, point)?, value))
    };
    // Less is better: the strength turns round.
    let strength = |value: f64| {
        let place = scale.place(value);
        0.06 + 0.88 * if case.quantity.more_is_better() { place } else { 1.0 - place }
    };
    html! {
        svg.plot viewBox={ "0 0 358 " (number(height + 22.0)) } role="img"
            aria-label={ (visible::line(&case.title)) " for " (label(case, engine)) "; the numbers are in the table below" } {
            @for (place, value) in x.values.iter().enumerate() {
                text.tick x=(number(LEFT + (place as f64 + 0.5) * width)) y="13" text-anchor="middle" { (short(x, value)) }
            }
            @for (place, value) in y.values.iter().enumerate() {
                text.tick x=(number(LEFT - 6.0)) y=(number(20.0 + ROW * (place as f64 + 0.5) + 4.0)) text-anchor="end" { (short(y, value)) }
            }
            @for (column, row, value) in points.iter().filter_map(field) {
                @let strong = strength(value.middle);
                g {
                    title { (figures::value(&case.quantity, value.middle)) " " (figures::spread(&value)) }
                    rect.field x=(number(LEFT + column * width + 1.0)) y=(number(21.0 + ROW * row)) width=(number(width - 2.0)) height=(ROW - 2.0) rx="2" fill-opacity=(format!("{strong:.2}")) {}
                    text.fieldvalue.strong[strong > DARK] x=(number(LEFT + (column + 0.5) * width)) y=(number(20.0 + ROW * (row + 0.5) + 4.0)) text-anchor="middle" {
                        (figures::value(&case.quantity, value.middle))
                    }
                }
            }
            text.axisname x=(number(f64::midpoint(LEFT, 358.0))) y=(number(height + 16.0)) text-anchor="middle" { (x.name.replace('_', " ")) " across, " (y.name.replace('_', " ")) " down" }
        }
    }
}

/// `64 KiB` without its space, to fit a column.
fn short(axis: &Axis, value: &fullbore_lab::Parameter) -> String {
    visible::line(&value_text(axis, value)).replace("iB", "").replace(' ', "")
}
