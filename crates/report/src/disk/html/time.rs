//! Rates, latencies and load over time, pass after pass on one axis: a strip for each.

use fullbore_lab::disk::record::{DirectionRun, PassRun, WorkloadRun};
use maud::{Markup, html};

use crate::disk::cells::{megabytes, rounded};
use crate::html::svg::number;
use crate::lab::figures::{digits, nanoseconds};
use crate::lab::html::drawing::Width;
use crate::lab::html::scale::Scale;
use crate::visible;

const HEIGHT: f64 = 62.0;
const LEFT: f64 = 64.0;
const GAP: f64 = 6.0;

/// Room for the name above the lines.
const TOP: f64 = 16.0;

/// One strip.
struct Strip {
    name: &'static str,
    /// The values of each pass.
    passes: Vec<Vec<f64>>,
    told: fn(f64) -> String,
}

/// The strips of a workload; nothing where nothing was logged.
pub(super) fn charts(workload: &WorkloadRun) -> Markup {
    let directions = workload.directions();
    html! {
        @for name in &directions {
            @let of = |values: fn(&DirectionRun) -> Vec<f64>| workload.runs(name).map(values).collect::<Vec<_>>();
            @let strips = [
                Strip { name: "IOPS", passes: of(|run| run.timeline.iops.clone()), told: count },
                Strip { name: "MB/s", passes: of(|run| run.timeline.bytes_per_s.clone()), told: megabytes },
                Strip { name: "latency", passes: of(|run| run.timeline.latency_ns.clone()), told: |ns| nanoseconds(rounded(ns)) },
            ];
            @if strips.iter().any(Strip::has_values) {
                @if directions.len() > 1 { p.mapname { (visible::line(name)) } }
                @for strip in strips.iter().filter(|strip| strip.has_values()) { (drawn(strip)) }
            }
        }
        @let load = |values: fn(&PassRun) -> Vec<f64>| workload.passes.iter().map(values).collect::<Vec<_>>();
        @let strips = [
            Strip { name: "CPU busy", passes: load(|pass| pass.load.busy_percent.clone()), told: |percent| format!("{percent:.0} %") },
            Strip { name: "memory", passes: load(|pass| pass.load.memory_bytes.iter().map(|bytes| *bytes as f64 / 1e6).collect()), told: |mb| format!("{} MB", digits(mb)) },
        ];
        @for strip in strips.iter().filter(|strip| strip.has_values()) { (drawn(strip)) }
        p.caption { "Over time, the passes one after the other; the load of the machine and the memory of the tester include the warm-up." }
    }
}

fn count(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", digits(value / 1e6)),
        value if value >= 1e3 => format!("{} k", digits(value / 1e3)),
        value => digits(value),
    }
}

impl Strip {
    fn has_values(&self) -> bool {
        self.passes.iter().flatten().any(|value| *value > 0.0)
    }
}

fn drawn(strip: &Strip) -> Markup {
    html! { (drawing(strip, Width::Wide)) (drawing(strip, Width::Narrow)) }
}

fn drawing(strip: &Strip, width: Width) -> Markup {
    let values = || strip.passes.iter().flatten().copied();
    let highest = values().fold(0.0, f64::max);
    // From zero, whatever the range: a strip shows whether something is steady.
    let Some(scale) = Scale::suiting([highest].into_iter()) else {
        return html! {};
    };
    let room = width.units() - LEFT - 24.0;
    let filled = strip.passes.iter().filter(|pass| !pass.is_empty());
    let steps: usize = filled.clone().map(Vec::len).sum();
    let gaps = GAP * filled.clone().count().saturating_sub(1) as f64;
    let step = (room - gaps) / steps.max(1) as f64;
    let y = |value: f64| TOP + HEIGHT * (1.0 - scale.place(value));
    let mut at = LEFT;
    let mut paths = Vec::new();
    for pass in filled {
        let mut path = String::new();
        for value in pass {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            path.push_str(&format!(
                "{letter}{} {}H{}",
                number(at),
                number(y(*value)),
                number(at + step)
            ));
            at += step;
        }
        paths.push(path);
        at += GAP;
    }
    html! {
        svg.plot.strip-of-time.(width.class()) viewBox={ "0 0 " (number(width.units())) " " (number(TOP + HEIGHT + 6.0)) } role="img"
            aria-label={ (strip.name) " over time, at most " ((strip.told)(highest)) } {
            @for tick in scale.ticks(2) {
                path.grid d={ "M" (number(LEFT)) " " (number(y(tick))) "H" (number(LEFT + room)) } {}
                text.tick x=(number(LEFT - 8.0)) y=(number(y(tick) + 4.0)) text-anchor="end" { (if tick > 0.0 { (strip.told)(tick) } else { "0".to_owned() }) }
            }
            @for path in &paths { path.line.k0 d=(path) {} }
            text.stripname x=(number(LEFT + 4.0)) y="10" { (strip.name) }
        }
    }
}
