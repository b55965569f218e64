//! Latencies at every point: a histogram for each engine over one axis of time, and percentiles up to the longest.
//!
//! Both axes of the histogram are logarithmic, so that one slow round trip among millions is seen. The axis of percentiles
//! is that of HdrHistogram: as much room from 99 % to 99.9 % as from 90 % to 99 %.

use fullbore_lab::Latency;
use fullbore_lab::record::{CaseRun, EngineRun, PointRun};
use fullbore_lab::runner::point_text;
use maud::{Markup, html};

use super::drawing::{label, look};
use super::lines::sign;
use super::scale::Scale;
use crate::figures::count as count_text;
use crate::html::svg::number;
use crate::lab::distribution::{self, Range, height};
use crate::lab::figures;
use crate::visible;

/// Width of a drawing, in units of its own: two stand side by side on a desk, one fills a phone.
const WIDTH: f64 = 400.0;
/// The name of an engine above its histogram.
const NAME: f64 = 19.0;
/// The highest histogram.
const HILL: f64 = 24.0;
/// Room for the key above the first one.
const KEY: f64 = 18.0;
/// Room under the histograms, for times.
const HISTOGRAM_FEET: f64 = 20.0;
/// Room left of the percentiles, for times.
const LEFT: f64 = 58.0;
/// Room under the percentiles, for shares.
const FEET: f64 = 38.0;
/// Height of the percentiles: that of the histograms beside them, within these.
const HEIGHTS: (f64, f64) = (200.0, 400.0);
/// Percentiles with a mark on the axis.
const MARKED: [(f64, &str); 6] = [
    (0.5, "50 %"),
    (0.9, "90"),
    (0.99, "99"),
    (0.999, "99.9"),
    (0.9999, "99.99"),
    (0.99999, "99.999"),
];
/// Room that the last mark needs for its own word.
const LAST: f64 = 42.0;
/// Points up to which all are open from the start.
const OPEN: usize = 3;

/// What belongs to every drawing of a case.
struct Frame<'a> {
    case: &'a CaseRun,
    range: Range,
    /// Times, the same in all drawings, so that points can be compared.
    times: Scale,
}

/// The drawings of all points of a case; nothing when it has no latencies.
pub(super) fn charts(case: &CaseRun) -> Markup {
    let Some(range) = Range::of(case) else {
        return html! {};
    };
    let Some(times) = Scale::logarithmic([range.low_ns, range.high_ns].into_iter()) else {
        return html! {};
    };
    let frame = Frame { case, range, times };
    let points: Vec<&PointRun> =
        case.points.iter().filter(|point| distribution::at(point).next().is_some()).collect();
    let are_open = points.len() <= OPEN;
    html! {
        @for (place, point) in points.iter().enumerate() {
            details.latencies open[are_open || place == 0] {
                summary { (heading(case, point)) }
                figure.pair {
                    (histograms(&frame, point))
                    (percentiles(&frame, point))
                }
            }
        }
        p.caption {
            "Left: how many round trips took how long, both axes logarithmic, so that a single slow one is seen. "
            "Right: the share of round trips that took no longer; each step to the right is ten times rarer. "
            "Curves hold the round trips of all trials; p50, p99 and p99.9, here and in the table, are medians of the trials, the maximum is the longest of all."
        }
    }
}

fn heading(case: &CaseRun, point: &PointRun) -> String {
    let at = visible::line(&point_text(&case.sweep, &point.parameters));
    let counts = || distribution::at(point).map(|(_, latency)| latency.count);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let count = if least == most {
        format!("{} round trips of each engine", count_text(most))
    } else {
        format!("{} to {} round trips of each engine", count_text(least), count_text(most))
    };
    let begin = if at.is_empty() { "Latencies".to_owned() } else { format!("Latencies at {at}") };
    format!("{begin}: {count}")
}

/// A hill for each engine, one below the other.
fn histograms(frame: &Frame<'_>, point: &PointRun) -> Markup {
    let runs: Vec<_> = distribution::at(point).collect();
    let bottom = histogram_bottom(runs.len());
    html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (number(bottom + HISTOGRAM_FEET)) } role="img" aria-label=(describe(frame.case, "histogram")) {
            (key())
            @for tick in frame.times.ticks(6) {
                @let x = frame.times.place(tick) * WIDTH;
                path.grid d={ "M" (number(x)) " " (KEY) "V" (number(bottom)) } {}
                text.tick x=(number(x)) y=(number(bottom + 14.0)) text-anchor=(anchor(x)) { (figures::nanoseconds(rounded(tick))) }
            }
            @for (place, (run, latency)) in runs.iter().enumerate() {
                (hill(frame, run, latency, histogram_bottom(place + 1) - 3.0))
            }
        }
    }
}

/// Where so many histograms end.
fn histogram_bottom(count: usize) -> f64 {
    KEY + (NAME + HILL + 3.0) * count as f64
}

/// Words at the ends of an axis stay within the drawing.
fn anchor(x: f64) -> &'static str {
    match x {
        x if x < 20.0 => "start",
        x if x > WIDTH - 20.0 => "end",
        _ => "middle",
    }
}

/// What the marks on a hill are.
fn key() -> Markup {
    let mark = |x: f64, height: f64, word: &str| {
        html! {
            path.quantile d={ "M" (number(x)) " 12v" (number(-height)) } {}
            text.tick x=(number(x + 4.0)) y="12" { (word) }
        }
    };
    html! {
        g {
            (mark(2.0, 11.0, "p50"))
            (mark(44.0, 8.0, "p99"))
            (mark(86.0, 5.0, "p99.9"))
            circle.longest cx="138" cy="9" r="2.6" {}
            text.tick x="144" y="12" { "longest" }
        }
    }
}

/// The histogram of one engine over the line at `base`.
fn hill(frame: &Frame<'_>, run: &EngineRun, latency: &Latency, base: f64) -> Markup {
    let x = |ns: f64| frame.times.place(ns) * WIDTH;
    let buckets = frame.range.buckets(latency);
    let all = buckets.iter().fold(0_u64, |sum, bucket| sum.saturating_add(bucket.count));
    let bars = buckets.iter().map(|bucket| {
        let (left, right) = (x(bucket.low_ns), x(bucket.high_ns));
        let up = height(bucket.count, all) * HILL;
        let width = (right - left).max(1.2);
        format!(
            "M{} {}v{}h{}v{}z",
            number(left),
            number(base),
            number(-up),
            number(width),
            number(up)
        )
    });
    let bars: String = bars.collect();
    let quantiles = [(latency.p50_ns, 1.0), (latency.p99_ns, 0.72), (latency.p999_ns, 0.45)];
    let name = label(frame.case, &run.engine);
    let look = look(frame.case, &run.engine);
    html! {
        g {
            title { (name) ": " (told(latency)) }
            (sign(look, 6.0, base - HILL - 9.0))
            text.enginename x="15" y=(number(base - HILL - 5.0)) { (visible::cut(&name, 48)) }
            path.axisline d={ "M0 " (number(base)) "H" (WIDTH) } {}
            path class={ "hill c" (look) } d=(bars) {}
            @for (ns, share) in quantiles {
                path.quantile d={ "M" (number(x(ns as f64))) " " (number(base)) "v" (number(-share * HILL)) } {}
            }
            circle.longest cx=(number(x(latency.max_ns as f64))) cy=(number(base)) r="2.6" {}
        }
    }
}

fn told(latency: &Latency) -> String {
    let [p50, p99, p999, max] =
        [latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.max_ns].map(figures::nanoseconds);
    format!("p50 {p50}, p99 {p99}, p99.9 {p999}, max {max}")
}

/// A line for each engine: which time so many round trips do not exceed.
fn percentiles(frame: &Frame<'_>, point: &PointRun) -> Markup {
    let runs: Vec<_> = distribution::at(point).collect();
    let most = runs.iter().map(|(_, latency)| latency.count).max().unwrap_or(1);
    // The longest of all stands where half a round trip would be left.
    let end = nines(1.0, most);
    let height = histogram_bottom(runs.len()) + HISTOGRAM_FEET - KEY - FEET;
    let height = height.clamp(HEIGHTS.0, HEIGHTS.1);
    let x = |share: f64, count: u64| LEFT + nines(share, count) / end * (WIDTH - LEFT - 12.0);
    let y = |ns: f64| KEY + (1.0 - frame.times.place(ns)) * height;
    let bottom = KEY + height;
    let marked = MARKED.iter().filter(|(share, _)| x(*share, most) < x(1.0, most) - LAST);
    html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (number(bottom + FEET)) } role="img" aria-label=(describe(frame.case, "percentiles")) {
            @for tick in frame.times.ticks(7) {
                path.grid d={ "M" (LEFT) " " (number(y(tick))) "H" (WIDTH) } {}
                text.tick x=(LEFT - 6.0) y=(number(y(tick) + 4.0)) text-anchor="end" { (figures::nanoseconds(rounded(tick))) }
            }
            @for (share, word) in marked {
                path.grid d={ "M" (number(x(*share, most))) " " (KEY) "V" (number(bottom)) } {}
                text.tick x=(number(x(*share, most))) y=(number(bottom + 15.0)) text-anchor="middle" { (word) }
            }
            text.tick x=(number(x(1.0, most))) y=(number(bottom + 15.0)) text-anchor="end" dx="12" { "max" }
            path.axisline d={ "M" (LEFT) " " (number(bottom)) "H" (WIDTH) } {}
            text.axisname x=(number(f64::midpoint(LEFT, WIDTH))) y=(number(bottom + 32.0)) text-anchor="middle" { "share of round trips that took no longer" }
            @for (run, latency) in &runs {
                (curve(frame, run, latency, &x, &y))
            }
        }
    }
}

/// How many nines a share has: 0.9 has one, 0.99 two. The longest of `count` values stands half a value before the end.
fn nines(share: f64, count: u64) -> f64 {
    let half = 0.5 / count.max(1) as f64;
    -(1.0 - share).max(half).log10()
}

fn curve(
    frame: &Frame<'_>,
    run: &EngineRun,
    latency: &Latency,
    x: &dyn Fn(f64, u64) -> f64,
    y: &dyn Fn(f64) -> f64,
) -> Markup {
    let buckets = frame.range.buckets(latency);
    let all = buckets.iter().fold(0_u64, |sum, bucket| sum.saturating_add(bucket.count)).max(1);
    let mut below = 0_u64;
    let mut corners = Vec::new();
    for bucket in &buckets {
        corners.push((x(below as f64 / all as f64, all), y(bucket.low_ns)));
        below = below.saturating_add(bucket.count);
        corners.push((x(below as f64 / all as f64, all), y(bucket.high_ns)));
    }
    corners.dedup();
    let path: Vec<String> =
        corners.iter().map(|(x, y)| format!("{} {}", number(*x), number(*y))).collect();
    let look = look(frame.case, &run.engine);
    let end = corners.last().copied().unwrap_or_default();
    let signs = MARKED.iter().map(|(share, _)| x(*share, all)).filter(|x| *x < end.0 - 9.0);
    html! {
        g {
            title { (label(frame.case, &run.engine)) ": " (told(latency)) }
            path class={ "line k" (look) } d={ "M" (path.join("L")) } {}
            @for x in signs { @if let Some(y) = on(&corners, x) { (sign(look, x, y)) } }
            (sign(look, end.0, end.1))
        }
    }
}

/// Where a line of corners from left to right is at `x`.
fn on(corners: &[(f64, f64)], x: f64) -> Option<f64> {
    let (left, right) =
        corners.windows(2).map(|pair| (pair[0], pair[1])).find(|(_, right)| right.0 >= x)?;
    if left.0 > x {
        return None;
    }
    let share = if right.0 > left.0 { (x - left.0) / (right.0 - left.0) } else { 1.0 };
    Some(left.1 + share * (right.1 - left.1))
}

fn describe(case: &CaseRun, what: &str) -> String {
    format!(
        "{}: {what} of the latencies of each engine. The percentiles are in the table below.",
        visible::line(&case.title)
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mark of the axis is a whole number of nanoseconds below an hour"
)]
fn rounded(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nine_of_a_percentile_has_the_same_room() {
        let all = 1_000_000;
        let steps = [0.9, 0.99, 0.999, 0.9999].map(|share| nines(share, all));
        assert!(steps.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-6), "{steps:?}");
        assert!((nines(1.0, 50) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_sign_lies_on_its_line() {
        let corners = [(0.0, 10.0), (4.0, 10.0), (8.0, 20.0)];
        assert_eq!([2.0, 6.0, 8.0].map(|x| on(&corners, x)), [Some(10.0), Some(15.0), Some(20.0)]);
        assert_eq!(on(&corners, 9.0), None);
    }
}
