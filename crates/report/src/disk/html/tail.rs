//! How many requests took longer than a time: both axes logarithmic, so that the tail is as visible as the middle.

use fullbore_lab::disk::bins::Bins;
use fullbore_lab::disk::metric::PERCENTILES;
use maud::{Markup, html};

use crate::html::svg::number;
use crate::lab::figures::nanoseconds;
use crate::lab::html::drawing::Width;
use crate::lab::html::scale::Scale;

const HEIGHT: f64 = 190.0;
const TOP: f64 = 12.0;
const LEFT: f64 = 64.0;

/// The smallest share that has a place: one request of a million.
const LEAST: f64 = 1e-6;

/// Marks of the axis of shares.
const SHARES: [(f64, &str); 7] = [
    (1.0, "100 %"),
    (0.1, "10 %"),
    (0.01, "1 %"),
    (0.001, "0.1 %"),
    (1e-4, "0.01 %"),
    (1e-5, "0.001 %"),
    (1e-6, "0.0001 %"),
];

/// One line of the drawing.
pub(super) struct Series<'a> {
    /// Its name in the legend.
    pub(super) name: &'a str,
    /// Its requests.
    pub(super) bins: Bins,
}

/// The drawing in both widths; nothing without bins.
pub(super) fn chart(title: &str, series: &[Series<'_>]) -> Markup {
    let values =
        series.iter().flat_map(|series| series.bins.iter().map(|(value, _)| value.max(1) as f64));
    let Some(scale) = Scale::logarithmic(values) else {
        return html! {};
    };
    let least = series
        .iter()
        .map(|series| 1.0 / series.bins.requests().max(1) as f64)
        .fold(1.0, f64::min)
        .max(LEAST);
    html! {
        (drawing(title, series, &scale, least, Width::Wide))
        (drawing(title, series, &scale, least, Width::Narrow))
        p.caption { "Requests that took longer than a time (completion latency). Less is better: a line further to the left and lower." }
    }
}

/// Where a share of the requests lies: 100 % at the top.
fn height(share: f64, least: f64) -> f64 {
    TOP + HEIGHT * (share.max(least).ln() / least.ln()).clamp(0.0, 1.0)
}

fn drawing(title: &str, series: &[Series<'_>], scale: &Scale, least: f64, width: Width) -> Markup {
    let room = width.units() - LEFT - 24.0;
    let x = |value: f64| LEFT + scale.place(value) * room;
    let bottom = TOP + HEIGHT;
    html! {
        svg.plot.(width.class()) viewBox={ "0 0 " (number(width.units())) " " (number(bottom + 34.0)) } role="img"
            aria-label={ (title) ": latencies. The numbers are in the table." } {
            @for (share, name) in SHARES.iter().filter(|(share, _)| *share >= least * 0.999) {
                @let y = height(*share, least);
                path.grid d={ "M" (number(LEFT)) " " (number(y)) "H" (number(LEFT + room)) } {}
                text.tick x=(number(LEFT - 8.0)) y=(number(y + 4.0)) text-anchor="end" { (name) }
            }
            @for tick in scale.ticks(width.ticks()) {
                path.grid d={ "M" (number(x(tick))) " " (number(TOP)) "V" (number(bottom)) } {}
                text.tick x=(number(x(tick))) y=(number(bottom + 15.0)) text-anchor="middle" { (time(tick)) }
            }
            @for (look, one) in series.iter().enumerate() {
                path class={ "line k" (look) } d=(steps(&one.bins, &x, least)) { title { (one.name) } }
                @for percent in PERCENTILES {
                    @if let Some(value) = one.bins.percentile(percent) {
                        @let (x, y) = (x(value as f64), height(1.0 - percent / 100.0, least));
                        circle class={ "sign c" (look) } cx=(number(x)) cy=(number(y)) r="4" {
                            title { (one.name) ": p" (percent) " " (nanoseconds(value)) }
                        }
                        @if series.len() == 1 && percent < 99.99 {
                            text.tick x=(number(x + 7.0)) y=(number(y - 5.0)) { "p" (percent) " " (nanoseconds(value)) }
                        }
                    }
                }
            }
        }
    }
}

/// A mark of the axis: round values lose nothing.
fn time(value: f64) -> String {
    nanoseconds(crate::disk::cells::rounded(value))
}

/// The line: at each latency, the share of requests that took longer.
fn steps(bins: &Bins, x: &dyn Fn(f64) -> f64, least: f64) -> String {
    let all = bins.requests().max(1) as f64;
    let mut path = String::new();
    let (mut slower, mut last) = (all, f64::NEG_INFINITY);
    for (value, requests) in bins.iter() {
        let at = x(value.max(1) as f64);
        slower -= requests as f64;
        // More points than pixels make the page large and no clearer.
        if at - last < 0.8 && slower > 0.0 {
            continue;
        }
        last = at;
        let letter = if path.is_empty() { 'M' } else { 'L' };
        path.push_str(&format!("{letter}{} {}", number(at), number(height(slower / all, least))));
    }
    path
}
