//! How much a number of one workload may be off: the spread within its passes, and what passes differ by.
//!
//! Within a pass, the windows of the time log are resampled in blocks. What changes more slowly shows between passes; five passes
//! of one workload say little about it, all workloads of a record together say much, so they share one variance.

use super::metric::{Metric, values};
use super::record::{DirectionRun, DiskRun, WorkloadRun};

use crate::passes::Drift;
use crate::statistics::{Spread, of_windows, spread_of_values};

/// Blocks of fio's own samples that count as independent, where there is no time log: neighbouring samples resemble each other.
const SAMPLES_OF_A_BLOCK: f64 = 4.0;

/// The spread of a metric of one workload in one direction; `None` where nothing was measured.
pub(super) fn spread(
    workload: &WorkloadRun,
    direction: &str,
    metric: Metric,
    middle: f64,
    shared: Drift,
) -> Option<Spread> {
    let values = values(workload, direction, metric);
    let middle = (middle > 0.0).then(|| middle.ln())?;
    let by_passes = spread_of_values(&values)?;
    let within = match metric {
        Metric::Iops | Metric::BytesPerSecond | Metric::MeanLatency => {
            let windows = windows(workload, direction, metric);
            of_windows(&windows).or_else(|| of_samples(workload, direction))
        }
        Metric::Percentile(_) => None,
    };
    let rounds = match (within, by_passes.error) {
        (Some(within), _) => Spread { middle, ..within },
        (None, _) => Spread { middle, ..by_passes },
    };
    let own = own(&values).unwrap_or_default();
    let variance = shared.variance.max(own.variance);
    Some(rounds.with(variance, shared.degrees.max(own.degrees)))
}

/// What the passes of one workload differ by; `None` for a single pass.
fn own(values: &[f64]) -> Option<Drift> {
    let logarithms: Vec<f64> =
        values.iter().map(|value| value.ln()).filter(|l| l.is_finite()).collect();
    if logarithms.len() < 2 {
        return None;
    }
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    let degrees = (logarithms.len() - 1) as f64;
    let variance = logarithms.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / degrees;
    Some(Drift { variance, degrees })
}

/// What the passes of most workloads differ by in this metric: the median, so that one that jumps does not widen all.
pub(super) fn shared(run: &DiskRun, metric: Metric) -> Drift {
    let all = run.workloads.iter().flat_map(|workload| {
        workload.directions().into_iter().filter_map(|name| own(&values(workload, &name, metric)))
    });
    let all: Vec<Drift> = all.collect();
    let mut variances: Vec<f64> = all.iter().map(|drift| drift.variance).collect();
    variances.sort_by(f64::total_cmp);
    let variance =
        variances.get(variances.len().saturating_sub(1) / 2).copied().unwrap_or_default();
    Drift { variance, degrees: all.iter().map(|drift| drift.degrees).sum() }
}

/// The windows of all passes, each pass as a part of its own mean, so that only what happens within passes is left.
fn windows(workload: &WorkloadRun, direction: &str, metric: Metric) -> Vec<f64> {
    let of_pass = |run: &DirectionRun| -> Vec<f64> {
        let values = match metric {
            Metric::MeanLatency => &run.timeline.latency_ns,
            _ => &run.timeline.iops,
        };
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        if mean > 0.0 { values.iter().map(|value| value / mean).collect() } else { Vec::new() }
    };
    workload.runs(direction).flat_map(of_pass).collect()
}

/// From the spread of fio's own samples, when there is no log of them.
fn of_samples(workload: &WorkloadRun, direction: &str) -> Option<Spread> {
    let runs: Vec<&DirectionRun> = workload.runs(direction).collect();
    let all: Option<Vec<(f64, f64)>> = runs
        .iter()
        .map(|run| {
            let (deviation, samples) = run.iops_samples?;
            Some(((deviation / run.iops).powi(2), samples as f64))
        })
        .collect();
    let all = all?;
    let samples: f64 = all.iter().map(|(_, samples)| samples).sum();
    let blocks = samples / SAMPLES_OF_A_BLOCK;
    if blocks < 2.0 {
        return None;
    }
    let variance = all.iter().map(|(variance, samples)| variance * samples).sum::<f64>() / samples;
    let error = (variance / blocks).sqrt();
    error.is_finite().then_some(Spread { middle: 0.0, error: Some(error), degrees: blocks - 1.0 })
}
