//! Two records → what got better, what got worse, what stayed the same, what cannot be told; and what was not the same question.

mod question;

pub use question::{Difference, Weight};

use serde::{Deserialize, Serialize};

use super::metric::{Metric, PERCENTILES};
use super::record::{DiskRun, WorkloadRun};
use super::summary::{known, middle};
use crate::Estimate;
use crate::statistics::difference;

/// How far from 1 an interval may reach to be called the same.
pub const SAME: f64 = 0.05;

/// Two records side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskComparison {
    /// What the first is called.
    pub before: String,
    /// What the second is called.
    pub after: String,
    /// What differs between the two beside their numbers, the most important first.
    pub differences: Vec<Difference>,
    /// The workloads that both have.
    pub workloads: Vec<Pair>,
    /// Workloads that only one of them has.
    pub unmatched: Vec<String>,
    /// What must be known about the intervals.
    pub notes: Vec<String>,
}

/// A workload in both records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Why its rows are not comparable; empty when they are.
    pub obstacles: Vec<Difference>,
    /// Differences of its options that do not change the question.
    pub remarks: Vec<Difference>,
    /// Its numbers.
    pub rows: Vec<Row>,
}

/// One number in both records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `read`, `write` and so on.
    pub direction: String,
    /// What is compared.
    pub metric: Metric,
    /// In the first record.
    pub before: f64,
    /// In the second.
    pub after: f64,
    /// After ÷ before; the interval is that of the comparison.
    pub ratio: Estimate,
    /// What that means.
    pub verdict: Verdict,
}

/// What a ratio means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies on the good side of 1.
    Better,
    /// The whole interval lies on the bad side of 1.
    Worse,
    /// The whole interval lies within [`SAME`] of 1.
    Same,
    /// The interval holds 1 and more, or there is none.
    CannotTell,
    /// The two did not answer the same question.
    NotComparable,
}

/// Compares the second record with the first.
#[must_use]
pub fn compare(first: &DiskRun, second: &DiskRun) -> DiskComparison {
    let pairs = question::pairs(first, second);
    // Intervals hold for all workloads of one metric at once: a table is read column by column.
    let comparisons = pairs.len();
    let workloads =
        pairs.iter().map(|(old, new)| pair((first, old), (second, new), comparisons)).collect();
    DiskComparison {
        before: name(first, "before"),
        after: name(second, "after"),
        differences: question::of_runs(first, second),
        workloads,
        unmatched: question::unmatched(first, second, &pairs),
        notes: notes(first, second),
    }
}

impl DiskComparison {
    /// Rows with a verdict.
    pub fn rows(&self) -> impl Iterator<Item = (&Pair, &Row)> {
        self.workloads.iter().flat_map(|pair| pair.rows.iter().map(move |row| (pair, row)))
    }

    /// How many rows have a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows().filter(|(_, row)| row.verdict == verdict).count()
    }

    /// Rows that are worse, and by more than to `limit` times as good.
    pub fn regressions(&self, limit: f64) -> impl Iterator<Item = (&Pair, &Row)> {
        self.rows().filter(move |(_, row)| {
            let goodness = if row.metric.more_is_better() {
                row.ratio.middle
            } else {
                row.ratio.middle.recip()
            };
            row.verdict == Verdict::Worse && goodness < limit
        })
    }
}

fn name(run: &DiskRun, otherwise: &str) -> String {
    run.label.clone().unwrap_or_else(|| otherwise.to_owned())
}

fn pair(old: (&DiskRun, &WorkloadRun), new: (&DiskRun, &WorkloadRun), comparisons: usize) -> Pair {
    let (obstacles, remarks) = question::of_workloads(old, new);
    let mut rows = Vec::new();
    for direction in old.1.directions() {
        let metrics = Metric::all();
        rows.extend(metrics.filter_map(|metric| row(old, new, &direction, metric, comparisons)));
    }
    for row in rows.iter_mut().filter(|_| !obstacles.is_empty()) {
        row.verdict = Verdict::NotComparable;
        row.ratio = Estimate { low: None, high: None, ..row.ratio };
    }
    Pair { name: old.1.name.clone(), title: old.1.title.clone(), obstacles, remarks, rows }
}

fn row(
    old: (&DiskRun, &WorkloadRun),
    new: (&DiskRun, &WorkloadRun),
    direction: &str,
    metric: Metric,
    comparisons: usize,
) -> Option<Row> {
    let before = middle(old.1, direction, metric)?;
    let after = middle(new.1, direction, metric)?;
    let spreads =
        known(old.0, old.1, direction, metric).zip(known(new.0, new.1, direction, metric));
    let change = spreads.map(|((_, old), (_, new))| difference(old, new, comparisons));
    let ratio = after / before;
    let ratio = Estimate {
        middle: ratio,
        low: change.and_then(|change| change.low),
        high: change.and_then(|change| change.high),
    };
    let direction = direction.to_owned();
    Some(Row { direction, metric, before, after, ratio, verdict: verdict(metric, &ratio) })
}

fn verdict(metric: Metric, ratio: &Estimate) -> Verdict {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return Verdict::CannotTell };
    let is_up = low > 1.0;
    if is_up || high < 1.0 {
        return if is_up == metric.more_is_better() { Verdict::Better } else { Verdict::Worse };
    }
    if low >= 1.0 - SAME && high <= 1.0 + SAME { Verdict::Same } else { Verdict::CannotTell }
}

/// What makes the intervals wider or narrower than they should be.
fn notes(first: &DiskRun, second: &DiskRun) -> Vec<String> {
    let mut notes = Vec::new();
    for (run, otherwise) in [(first, "before"), (second, "after")] {
        let name = name(run, otherwise);
        let passes = run.workloads.iter().map(|workload| workload.passes.len());
        if passes.max().unwrap_or(0) < 2 {
            notes.push(format!(
                "{name} has one pass of each workload: what changes from run to run is unknown, so its intervals are too narrow, and its percentiles have none"
            ));
        }
        let lacks_bins = |workload: &WorkloadRun| {
            workload.passes.len() > 1
                && workload.directions().iter().any(|d| workload.bins(d).is_empty())
        };
        if run.workloads.iter().any(lacks_bins) {
            notes.push(format!(
                "{name} has no latency bins (fio --output-format=json+ writes them): percentiles are the middle of those of the passes"
            ));
        }
        if !run.is_complete {
            notes.push(format!("{name} was ended early"));
        }
    }
    notes
}

/// The percentiles that are compared, as words: `p99.9`.
#[must_use]
pub fn percentile_name(percent: f64) -> String {
    debug_assert!(PERCENTILES.iter().any(|known| (known - percent).abs() < 1e-6));
    format!("p{percent}")
}

#[cfg(test)]
mod tests;
