//! What a record says at a glance: for each case, what is surely faster or slower than its baseline, and what is not known.

use fullbore_lab::Estimate;
use fullbore_lab::record::{CaseRun, EngineRun, Outcome, PointRun, SuiteRun};
use fullbore_lab::runner::point_text;

use super::figures;
use crate::visible;

/// Heads of the columns of [`Standing::cells`].
pub(super) const HEADS: [&str; 5] =
    ["case", "compared with", "surely fastest", "surely slowest", "told apart"];

/// Where the engines of a case stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// `suite/case`
    pub(super) case: String,
    /// The engine that the others are compared with; empty where there is nothing to compare.
    pub(super) baseline: String,
    /// The largest ratio whose whole interval is above 1, with its engine and point.
    pub(super) fastest: String,
    /// The smallest ratio whose whole interval is below 1.
    pub(super) slowest: String,
    /// How many comparisons have an interval on one side of 1, of how many there are.
    pub(super) told: String,
    /// What went wrong or is missing; empty when nothing is.
    pub(super) trouble: String,
}

impl Standing {
    /// The cells of its row.
    pub(super) fn cells(&self) -> [&str; 5] {
        [&self.case, &self.baseline, &self.fastest, &self.slowest, &self.told]
    }
}

/// The standings of the cases of a suite.
pub(super) fn cases(suite: &SuiteRun) -> impl Iterator<Item = (&CaseRun, Standing)> {
    suite.cases.iter().map(|case| (case, standing(suite, case)))
}

/// A ratio that a case has, and where.
struct Told<'a> {
    point: &'a PointRun,
    run: &'a EngineRun,
    speed: Estimate,
}

fn standing(suite: &SuiteRun, case: &CaseRun) -> Standing {
    let told: Vec<Told<'_>> = case
        .points
        .iter()
        .flat_map(|point| point.engines.iter().map(move |run| (point, run)))
        .filter_map(|(point, run)| Some(Told { point, run, speed: run.speed? }))
        .collect();
    let surely_faster = told.iter().filter(|told| told.speed.low.is_some_and(|low| low > 1.0));
    let surely_slower = told.iter().filter(|told| told.speed.high.is_some_and(|high| high < 1.0));
    let count = surely_faster.clone().count() + surely_slower.clone().count();
    let by_middle = |a: &&Told<'_>, b: &&Told<'_>| a.speed.middle.total_cmp(&b.speed.middle);
    let name = |told: Option<&Told<'_>>| told.map_or("–".to_owned(), |told| named(case, told));
    let label = case.engine(&case.baseline).map_or(case.baseline.as_str(), |note| &note.label);
    Standing {
        case: visible::line(&format!("{}/{}", suite.name, case.name)),
        baseline: if told.is_empty() { String::new() } else { visible::line(label) },
        fastest: name(surely_faster.max_by(by_middle)),
        slowest: name(surely_slower.min_by(by_middle)),
        told: if told.is_empty() { "–".to_owned() } else { format!("{count} of {}", told.len()) },
        trouble: trouble(case),
    }
}

/// `vmsplice, a ring: 3.06 (2.10–4.40) × as fast, chunk 64 KiB`
fn named(case: &CaseRun, told: &Told<'_>) -> String {
    let note = case.engine(&told.run.engine);
    let label = note.map_or(told.run.engine.as_str(), |note| note.label.as_str());
    let marks = note.map_or(String::new(), |note| note.marks.join(", "));
    let marks = if marks.is_empty() { marks } else { format!(" ({marks})") };
    let at = point_text(&case.sweep, &told.point.parameters);
    let at = if at.is_empty() { at } else { format!(", {at}") };
    let ratio = figures::ratio(case, &told.speed);
    visible::line(&format!("{label}{marks}: {ratio} {}{at}", figures::ratio_head(case)))
}

/// `1 wrong answer: two buffers in turn`, or nothing.
fn trouble(case: &CaseRun) -> String {
    let mut parts = Vec::new();
    for (kind, of) in [
        ("wrong answer", (|o| matches!(o, Outcome::WrongAnswer { .. })) as fn(&Outcome) -> bool),
        ("in dispute", |o| matches!(o, Outcome::Disputed { .. })),
        ("failed", |o| matches!(o, Outcome::Failed { .. })),
        ("not available", |o| matches!(o, Outcome::NotAvailable { .. })),
        ("left out for time", |o| *o == Outcome::NoTime),
    ] {
        let has = |name: &str| {
            let runs = case.points.iter().filter_map(|point| point.engine(name));
            runs.into_iter().any(|run| of(&run.outcome))
        };
        let these = case.engines.iter().filter(|note| has(&note.name));
        let labels: Vec<&str> = these.map(|note| note.label.as_str()).collect();
        if !labels.is_empty() {
            parts.push(format!("{kind}: {}", labels.join(", ")));
        }
    }
    visible::line(&parts.join("; "))
}
