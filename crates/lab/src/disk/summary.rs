//! Passes → one number for each metric, with its interval.

use super::drift::{Shared, shared, spread};
use super::metric::{Metric, PERCENTILES, values};
use super::record::{DiskRun, Summary, WorkloadRun};
use crate::Estimate;
use crate::statistics::{Spread, hodges_lehmann};

/// Puts the summaries into a record.
pub fn summarise(run: &mut DiskRun) {
    let drifts: Vec<(Metric, Shared)> =
        Metric::all().map(|metric| (metric, shared(run, metric))).collect();
    let summaries: Vec<Vec<Summary>> = run
        .workloads
        .iter()
        .map(|workload| {
            let directions = workload.directions();
            directions.iter().filter_map(|name| summary(workload, name, &drifts)).collect()
        })
        .collect();
    for (workload, summaries) in run.workloads.iter_mut().zip(summaries) {
        workload.summaries = summaries;
    }
}

fn summary(
    workload: &WorkloadRun,
    direction: &str,
    drifts: &[(Metric, Shared)],
) -> Option<Summary> {
    let estimate = |metric: Metric| {
        let drift = drifts.iter().find(|(known, _)| *known == metric)?.1;
        let middle = middle(workload, direction, metric)?;
        let spread = spread(workload, direction, metric, middle, drift)?;
        // Of a single pass, the middle stays the number that fio wrote.
        Some(Estimate { middle, ..spread.estimate() })
    };
    let percentiles = PERCENTILES.map(|p| estimate(Metric::Percentile(p)).map(|found| (p, found)));
    Some(Summary {
        direction: direction.to_owned(),
        iops: estimate(Metric::Iops)?,
        bytes_per_s: estimate(Metric::BytesPerSecond)?,
        mean_latency_ns: estimate(Metric::MeanLatency),
        percentiles_ns: percentiles.into_iter().flatten().collect(),
        has_bins: !workload.bins(direction).is_empty(),
        max_ns: workload.runs(direction).map(|run| run.latency.max_ns).max().unwrap_or(0),
    })
}

/// The middle of the passes (Hodges and Lehmann: it uses all of them, and one that is far off moves it little), or of a percentile
/// that of all their bins together.
pub(super) fn middle(workload: &WorkloadRun, direction: &str, metric: Metric) -> Option<f64> {
    if let Metric::Percentile(percent) = metric
        && let Some(ns) = workload.bins(direction).percentile(percent)
    {
        return Some(ns as f64);
    }
    Some(hodges_lehmann(&values(workload, direction, metric))).filter(|value| *value > 0.0)
}

/// The spread of a metric as a comparison needs it.
pub(super) fn known(
    run: &DiskRun,
    workload: &WorkloadRun,
    direction: &str,
    metric: Metric,
) -> Option<(f64, Spread)> {
    let middle = middle(workload, direction, metric)?;
    Some((middle, spread(workload, direction, metric, middle, shared(run, metric))?))
}
