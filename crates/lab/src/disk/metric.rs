//! What is told of a workload, and its value in one pass.

use serde::{Deserialize, Serialize};

use super::record::{DirectionRun, WorkloadRun};

/// Percentiles that are told.
pub const PERCENTILES: [f64; 4] = [50.0, 99.0, 99.9, 99.99];

/// What is told of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    BytesPerSecond,
    /// Mean latency.
    MeanLatency,
    /// A percentile of the latency.
    Percentile(f64),
}

impl Metric {
    /// All that are compared, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        let first = [Self::Iops, Self::BytesPerSecond, Self::MeanLatency];
        first.into_iter().chain(PERCENTILES.map(Self::Percentile))
    }

    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Iops | Self::BytesPerSecond)
    }

    /// Its value in one pass; `None` where it is unknown.
    #[must_use]
    pub fn of(self, run: &DirectionRun) -> Option<f64> {
        match self {
            Self::Iops => Some(run.iops),
            Self::BytesPerSecond => Some(run.bytes_per_s),
            Self::MeanLatency => (run.latency.mean_ns > 0.0).then_some(run.latency.mean_ns),
            Self::Percentile(percent) => percentile(run, percent),
        }
    }
}

fn percentile(run: &DirectionRun, percent: f64) -> Option<f64> {
    if let Some(ns) = run.latency.bins.percentile(percent) {
        return Some(ns as f64);
    }
    let known = run.latency.percentiles.iter().find(|(known, _)| (known - percent).abs() < 1e-6);
    known.map(|(_, ns)| *ns as f64)
}

/// The value of each pass.
#[must_use]
pub fn values(workload: &WorkloadRun, direction: &str, metric: Metric) -> Vec<f64> {
    workload.runs(direction).filter_map(|run| metric.of(run)).collect()
}
