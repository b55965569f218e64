//! The time axis that the charts share.

use fullbore_record::RunRecord;
use maud::{Markup, html};

use super::steps;
use crate::wording;

/// Changes to pipes that are marked on the time axis.
pub(super) const MARKS: usize = 40;

/// Whether the changes to pipes have their numbers on the axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    /// They have.
    Shown,
    /// Only the lines across the strips are there.
    Hidden,
}

/// Start of a step, from the start of the run.
pub(super) fn time(record: &RunRecord, step: usize) -> u64 {
    record.timeline.start_ns.saturating_add(record.timeline.step_ns.saturating_mul(step as u64))
}

/// Where a time lies on the axis, 0 to 1; `None` when it lies outside.
pub(super) fn place_of(record: &RunRecord, at_ns: u64) -> Option<f64> {
    let whole = record.timeline.step_ns as f64 * steps::count(&record.timeline) as f64;
    let place = (at_ns as f64 - record.timeline.start_ns as f64) / whole;
    (0.0..=1.0).contains(&place).then_some(place)
}

/// The time axis, with the changes to pipes on it.
pub(super) fn axis(record: &RunRecord, flags: Flags) -> Markup {
    let percent = |place: f64| format!("left:{:.2}%", place * 100.0);
    let changes = record.tuning.iter().take(MARKS).enumerate();
    let placed: Vec<_> = changes
        .filter_map(|(n, c)| place_of(record, c.at_ns).map(|place| (n + 1, c, place)))
        .collect();
    html! {
        div.row.axis {
            div.label {}
            div.ticks {
                @for tick in ticks(record) {
                    @if let Some(place) = place_of(record, tick) {
                        span.tick.end[place > 0.9] style=(percent(place)) { (tick_text(tick)) }
                    }
                }
                @if flags == Flags::Shown {
                    @for (n, change, place) in &placed {
                        a.flag href={ "#change-" (n) } style=(percent(*place))
                            title={ (wording::pipe(record, change.pipe)) ": " (wording::outcome(change.outcome)) } { "▾" (n) }
                    }
                }
            }
        }
    }
}

/// Round times on the axis, at most six.
fn ticks(record: &RunRecord) -> Vec<u64> {
    let start = record.timeline.start_ns;
    let end = time(record, steps::count(&record.timeline));
    let least = (end.saturating_sub(start) / 5).max(1);
    let mut step: u64 = 1;
    'search: loop {
        for factor in [1, 2, 5] {
            let Some(candidate) = step.checked_mul(factor) else {
                return vec![start];
            };
            if candidate >= least {
                step = candidate;
                break 'search;
            }
        }
        let Some(next) = step.checked_mul(10) else {
            return vec![start];
        };
        step = next;
    }
    let first = start.div_ceil(step);
    (first..=end / step).take(7).map(|place| place * step).collect()
}

/// A round time, without zeros after the point.
fn tick_text(ns: u64) -> String {
    let (value, unit) = match ns {
        0 => return "0".to_owned(),
        ns if ns < 1_000_000 => (ns as f64 / 1e3, "µs"),
        ns if ns < 1_000_000_000 => (ns as f64 / 1e6, "ms"),
        ns => (ns as f64 / 1e9, "s"),
    };
    let text = format!("{value:.3}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::StageTimeline;

    #[test]
    fn the_axis_has_round_times() {
        let mut line = StageTimeline::default();
        line.running = vec![1.0; 48];
        let mut record = RunRecord::default();
        record.timeline.step_ns = 241_000_000;
        record.timeline.stages.push(line);
        assert_eq!(
            ticks(&record).into_iter().map(tick_text).collect::<Vec<_>>(),
            ["0", "5 s", "10 s"]
        );
        assert_eq!(tick_text(1_500_000_000), "1.5 s");
    }
}
