//! All jobs on one time axis, by host.

use fullbore_gather::{JobRow, Workflow};
use fullbore_measure::seconds;
use maud::{Markup, html};

use super::bars::{Running, bars, rows};
use super::notes::counted;
use crate::visible;

/// With more jobs or rows, the number of jobs is drawn instead of each.
const BARS: usize = 400;
const ROWS: usize = 60;

/// Hosts with a band of their own; the others share one.
const HOSTS: usize = 40;

/// Steps of a band.
const STEPS: usize = 200;

/// Height of a bar, in pixels.
const BAR: f64 = 12.0;

/// The hosts of a band and their jobs.
struct Band<'a> {
    host: Option<usize>,
    name: String,
    jobs: Vec<&'a JobRow>,
}

/// The section with the time axis; nothing when no job has a time.
pub(super) fn section(workflow: &Workflow) -> Markup {
    let bands = bands(workflow);
    let placed: usize = bands.iter().map(|band| band.jobs.len()).sum();
    if placed == 0 {
        return html! {};
    }
    let lanes: Vec<_> = bands.iter().map(|band| rows(&band.jobs)).collect();
    let has_bars = placed <= BARS && lanes.iter().map(Vec::len).sum::<usize>() <= ROWS;
    let running: Vec<Running> =
        bands.iter().map(|band| Running::of(workflow, &band.jobs, STEPS)).collect();
    let most = running.iter().map(Running::most).fold(0.0, f64::max);
    html! {
        section {
            h2 { "Jobs over time" }
            div.chart role="img" aria-label=(describe(workflow, placed)) {
                (axis(workflow))
                @for (place, band) in bands.iter().enumerate() {
                    div.row.hot[is_slow(workflow, band)] {
                        (label(workflow, band, lanes[place].len()))
                        div.lane {
                            @if has_bars { (bars(workflow, &lanes[place], BAR)) }
                            @else { (running[place].areas(most)) }
                        }
                    }
                }
            }
            p.caption {
                @if has_bars {
                    "A bar is a job; its colour is what took most of its time; a job that failed has a frame. "
                } @else {
                    "The height is how many jobs ran at once, of at most " (format!("{most:.0}")) " on one host, by what they did. "
                }
                "Each host has its own clock."
            }
        }
    }
}

fn bands(workflow: &Workflow) -> Vec<Band<'_>> {
    let mut bands: Vec<Band> = workflow
        .hosts
        .iter()
        .enumerate()
        .map(|(place, host)| Band { host: Some(place), name: host.name.clone(), jobs: Vec::new() })
        .collect();
    for job in workflow.jobs.iter().filter(|job| job.start_ns.is_some() && job.elapsed_ns.is_some())
    {
        if let Some(band) = bands.get_mut(job.host) {
            band.jobs.push(job);
        }
    }
    // A slow host is shown however little it did.
    bands.sort_by_key(|band| !is_slow(workflow, band));
    if bands.len() > HOSTS + 1 {
        let rest = bands.split_off(HOSTS);
        let name = counted(rest.len() as u64, "other host");
        let mut jobs: Vec<&JobRow> = rest.into_iter().flat_map(|band| band.jobs).collect();
        jobs.sort_by_key(|job| job.start_ns);
        bands.push(Band { host: None, name, jobs });
    }
    bands
}

fn is_slow(workflow: &Workflow, band: &Band<'_>) -> bool {
    band.host.and_then(|host| workflow.hosts.get(host)).is_some_and(|host| host.is_slow)
}

fn label(workflow: &Workflow, band: &Band<'_>, at_once: usize) -> Markup {
    let name = if band.name.is_empty() { "?".to_owned() } else { visible::line(&band.name) };
    let host = band.host.and_then(|host| workflow.hosts.get(host));
    html! {
        div.label {
            code title=(name) { (name) }
            @if let Some(times) = host.filter(|host| host.is_slow).and_then(|host| host.times_as_long) {
                span.badge.slow { (format!("{times:.1} × as long")) }
            }
            span.top {
                (counted(band.jobs.len() as u64, "job"))
                @if at_once > 0 { ", up to " (at_once) " at once" }
            }
        }
    }
}

fn describe(workflow: &Workflow, placed: usize) -> String {
    format!(
        "{} on {} over {}. The numbers are in the tables below.",
        counted(placed as u64, "job"),
        counted(workflow.hosts.len() as u64, "host"),
        seconds(workflow.totals.elapsed_ns)
    )
}

/// Seconds between marks on the axis.
const ROUND: [u64; 16] =
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200];

fn axis(workflow: &Workflow) -> Markup {
    let whole = workflow.totals.elapsed_ns.max(1);
    let style = |tick: u64| format!("left:{:.2}%", tick as f64 / whole as f64 * 100.0);
    html! {
        div.row.axis {
            div.label {}
            div.ticks {
                @for tick in ticks(whole) {
                    span.tick.end[tick as f64 > whole as f64 * 0.9] style=(style(tick)) { (text(tick)) }
                }
            }
        }
    }
}

/// Round times on the axis, at most six.
fn ticks(whole_ns: u64) -> Vec<u64> {
    let least = whole_ns / 5;
    let rounds = ROUND.iter().map(|seconds| seconds * 1_000_000_000);
    let days = (1..20).map(|days| (1 << days) * 43_200_000_000_000);
    let Some(step) = rounds.chain(days).find(|step| *step >= least) else { return vec![0] };
    let step = if whole_ns < 5_000_000_000 { (whole_ns / 4).max(1) } else { step };
    (0..=whole_ns / step).take(7).map(|place| place * step).collect()
}

/// A round time: `30 s`, `5 min`, `2 h`.
fn text(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    match s {
        _ if ns == 0 => "0".to_owned(),
        _ if !ns.is_multiple_of(1_000_000_000) => seconds(ns),
        s if s.is_multiple_of(3600) => format!("{} h", s / 3600),
        s if s.is_multiple_of(60) && s > 3600 => format!("{} h {} min", s / 3600, s / 60 % 60),
        s if s.is_multiple_of(60) => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_round_times() {
        let texts =
            |seconds: u64| ticks(seconds * 1_000_000_000).into_iter().map(text).collect::<Vec<_>>();
        assert_eq!(texts(50), ["0", "10 s", "20 s", "30 s", "40 s", "50 s"]);
        assert_eq!(texts(7000), ["0", "30 min", "1 h", "1 h 30 min"]);
        assert_eq!(texts(200_000), ["0", "12 h", "24 h", "36 h", "48 h"]);
        assert!(ticks(1).len() <= 7 && ticks(u64::MAX).len() <= 7);
    }
}
