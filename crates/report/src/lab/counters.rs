//! Faults, switches and counters of the processor as a table: the same in every kind of report.

use std::collections::BTreeMap;

use fullbore_lab::record::{CaseRun, EngineRun};
use fullbore_lab::runner::point_text;

use super::figures;
use crate::visible;

/// Counters that every case may have, and the heads of their columns.
const KNOWN: [(&str, &str); 10] = [
    ("minor_faults", "page faults"),
    ("major_faults", "faults from disk"),
    ("voluntary_switches", "switches to wait"),
    ("involuntary_switches", "switches forced"),
    ("migrations", "CPU migrations"),
    ("dtlb_load_misses", "dTLB load misses"),
    ("dtlb_store_misses", "dTLB store misses"),
    ("cache_misses", "cache misses"),
    ("instructions", "instructions"),
    ("cycles", "cycles"),
];

/// What is said of all of them.
pub(super) const NOTE: &str = "All processes of one trial together, median of the timed trials. Counters of the processor would slow the work down: they are of the trial that was checked.";

/// The counters of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// One for each counter that is known of any engine.
    pub(super) heads: Vec<&'static str>,
    /// Measured engines of each point, with the words for the point.
    pub(super) points: Vec<(String, Vec<Line>)>,
    /// `Not available: dTLB load misses (why)`, one for each reason.
    pub(super) missing: Vec<String>,
}

/// The counters of one engine at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its label.
    pub(super) engine: String,
    /// In the order of [`Table::heads`].
    pub(super) cells: Vec<String>,
}

/// `None` when nothing was counted.
pub(super) fn table(case: &CaseRun) -> Option<Table> {
    let runs = || case.points.iter().flat_map(|point| &point.engines);
    let is_known = |name: &str| runs().any(|run| known(run, name).is_some());
    let shown: Vec<_> = KNOWN.into_iter().filter(|(name, _)| is_known(name)).collect();
    if shown.is_empty() {
        return None;
    }
    let line = |run: &EngineRun| {
        let label = case.engine(&run.engine).map_or(run.engine.as_str(), |note| &note.label);
        let cells = shown.iter().map(|(name, _)| cell(run, name)).collect();
        Line { engine: visible::line(label), cells }
    };
    let points = case.points.iter().map(|point| {
        let measured = point.engines.iter().filter(|run| run.value.is_some());
        let at = visible::line(&point_text(&case.sweep, &point.parameters));
        (at, measured.map(line).collect())
    });
    Some(Table {
        heads: shown.iter().map(|(_, head)| *head).collect(),
        points: points.collect(),
        missing: missing(case),
    })
}

fn known(run: &EngineRun, name: &str) -> Option<f64> {
    run.counters.get(name).copied().flatten().filter(|count| count.is_finite())
}

fn cell(run: &EngineRun, name: &str) -> String {
    match known(run, name) {
        Some(count) => figures::count(count),
        None if run.missing_counters.contains_key(name) => "not available".to_owned(),
        None => "?".to_owned(),
    }
}

/// Counters that no engine has, by the reason why.
fn missing(case: &CaseRun) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let runs = || case.points.iter().flat_map(|point| &point.engines);
    for (name, head) in KNOWN {
        if runs().any(|run| known(run, name).is_some()) {
            continue;
        }
        if let Some(why) = runs().find_map(|run| run.missing_counters.get(name)) {
            by_reason.entry(why).or_default().push(head);
        }
    }
    let told = |(why, heads): (&str, Vec<&str>)| {
        format!("Not available: {} ({})", heads.join(", "), visible::line(why))
    };
    by_reason.into_iter().map(told).collect()
}

/// Whether counters of the processor were asked for: then they are what the case is about, among other things.
pub(super) fn are_wanted(case: &CaseRun) -> bool {
    let mut runs = case.points.iter().flat_map(|point| &point.engines);
    runs.any(|run| run.counters.contains_key("dtlb_load_misses"))
}
