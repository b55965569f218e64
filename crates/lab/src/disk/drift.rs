//! How much a number of one workload may be off: the spread within its passes, and what passes differ by.
//!
//! Within a pass, the windows of the time log are resampled in blocks. What changes more slowly shows between passes; five passes
//! of one workload say little about it, all workloads of a record together say much, so they share one variance.
//!
//! Does what passes differ by average out over them? It does when they differ at random, and it does not when each resembles the
//! one before it, as on a disk that slows down: then the next record differs from this one by more than a mean of passes shows.
//! Differences of successive passes tell the two apart.

use super::metric::{Metric, values};
use super::record::{DirectionRun, DiskRun, WorkloadRun};

use crate::passes::Drift;
use crate::statistics::{Spread, of_windows, spread_of_values};

/// Blocks of fio's own samples that count as independent, where there is no time log: neighbouring samples resemble each other.
const SAMPLES_OF_A_BLOCK: f64 = 4.0;

/// Passes of one workload differ by more than those of the others do if their variance is so many times as large.
///
/// Source: the F distribution with 4 and 24 degrees of freedom leaves 5 % above 2.8.
const UNLIKE: f64 = 3.0;

/// The variance of the middle of many normal values over that of their mean: π/3.
///
/// Source: Hodges and Lehmann (1963).
const OF_MIDDLE: f64 = 1.05;

/// What the passes of a record differ by in one metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shared {
    /// From pass to pass.
    drift: Drift,
    /// How far passes resemble the one before them: 0 where they differ at random, 1 in a random walk.
    lasting: f64,
}

/// The spread of a metric of one workload in one direction; `None` where nothing was measured.
///
/// Let *v* be the variance of *n* passes. Where they differ at random, that of their mean is *v / n*. Where each begins where the one
/// before it ended (a random walk), the means of two records made one after the other differ by 2 *n* / (*n* + 1) of *v* on each
/// side, which is more than *v*. Between the two, in proportion to what lasts.
pub(super) fn spread(
    workload: &WorkloadRun,
    direction: &str,
    metric: Metric,
    middle: f64,
    shared: Shared,
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
    // Of a percentile nothing is known but what passes differ by.
    let apart = Spread { error: by_passes.error.map(|_| 0.0), ..by_passes };
    let rounds = Spread { middle, ..within.unwrap_or(apart) };
    let own = own(&logarithms(&values)).unwrap_or_default();
    let drift = if own.variance > UNLIKE * shared.drift.variance { own } else { shared.drift };
    let passes = values.len() as f64;
    let (averaged, walked) = (OF_MIDDLE / passes, 2.0 * passes / (passes + 1.0));
    let kept = averaged + (walked - averaged) * shared.lasting;
    Some(rounds.with(drift.variance * kept, drift.degrees))
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).filter(|l| l.is_finite()).collect()
}

/// What the passes of one workload differ by; `None` for a single pass.
fn own(logarithms: &[f64]) -> Option<Drift> {
    if logarithms.len() < 2 {
        return None;
    }
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    let degrees = (logarithms.len() - 1) as f64;
    let variance = logarithms.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / degrees;
    Some(Drift { variance, degrees })
}

/// How far the passes of one workload resemble the one before them; `None` for fewer than three, and where they do not differ.
///
/// Half the mean square of successive differences has the expectation of the variance where passes differ at random, and
/// 3 / (n + 1) of it in a random walk. Between the two, in proportion.
///
/// Source of the ratio: von Neumann (1941).
fn lasting(logarithms: &[f64]) -> Option<f64> {
    let Drift { variance, degrees } = own(logarithms).filter(|drift| drift.degrees >= 2.0)?;
    let squares: f64 = logarithms.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let of_a_walk = 3.0 / (degrees + 2.0);
    let ratio = squares / (2.0 * degrees) / variance;
    ratio.is_finite().then(|| (1.0 - ratio) / (1.0 - of_a_walk))
}

/// What the passes of most workloads differ by in this metric: the median (of two, the larger), so that one that jumps does not widen
/// all. How much of it lasts is the mean of what all workloads say: each of them says little.
pub(super) fn shared(run: &DiskRun, metric: Metric) -> Shared {
    let all: Vec<Vec<f64>> = run
        .workloads
        .iter()
        .flat_map(|workload| {
            let directions = workload.directions().into_iter();
            directions.map(|name| logarithms(&values(workload, &name, metric)))
        })
        .collect();
    let drifts: Vec<Drift> = all.iter().filter_map(|values| own(values)).collect();
    let mut variances: Vec<f64> = drifts.iter().map(|drift| drift.variance).collect();
    variances.sort_by(f64::total_cmp);
    let middle = match variances.len() {
        0 => 0.0,
        2 => variances[1],
        count => variances[(count - 1) / 2],
    };
    let degrees: f64 = drifts.iter().map(|drift| drift.degrees).sum();
    // Source of the median of a chi-squared variable over its mean: Wilson and Hilferty (1931).
    let of_each = degrees / drifts.len().max(1) as f64;
    let variance = middle / (1.0 - 2.0 / (9.0 * of_each.max(1.0))).powi(3);
    let lasting: Vec<f64> = all.iter().filter_map(|values| lasting(values)).collect();
    let lasting = match lasting.len() {
        // Two passes cannot tell.
        0 => 1.0,
        count => (lasting.iter().sum::<f64>() / count as f64).clamp(0.0, 1.0),
    };
    Shared { drift: Drift { variance, degrees }, lasting }
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
