//! What is in an output of fio, or why it cannot be read.

use std::fmt;

use crate::disk::Options;
use crate::disk::bins::Bins;

/// One output of fio.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Such as `fio-3.33`.
    pub version: String,
    /// When it was written, since 1970-01-01 UTC.
    pub unix_ms: Option<u64>,
    /// The jobs; of `--client`, those of every host.
    pub jobs: Vec<FioJob>,
    /// What must be known about how it was read.
    pub remarks: Vec<String>,
}

/// A job, or with `group_reporting` all jobs of a group as fio added them up.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// Name of its section.
    pub name: String,
    /// Host that ran it, with `--client`.
    pub host: Option<String>,
    /// Zero, or the number of its error.
    pub error: i64,
    /// The global options and its own.
    pub options: Options,
    /// What it did in each direction; a direction without requests is left out.
    pub directions: Vec<FioDirection>,
    /// CPU time of its threads in percent of their time.
    pub user_cpu_percent: f64,
    /// In the kernel.
    pub system_cpu_percent: f64,
    /// Whether a steady state was reached, if one was asked for.
    pub is_steady: Option<bool>,
}

/// What a job did in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct FioDirection {
    /// `read`, `write`, `trim`, or `mixed` with `unified_rw_reporting`.
    pub name: String,
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// How long, in ms.
    pub runtime_ms: u64,
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Standard deviation of the rate between fio's samples, and how many those were.
    pub iops_samples: Option<(f64, u64)>,
    /// Completion latency; what the device took.
    pub latency: FioLatency,
}

/// Latencies, in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioLatency {
    /// `clat` (from submission to completion) or `lat` (with what came before submission).
    pub of: String,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// Percentiles as fio computed them: percent and ns.
    pub percentiles: Vec<(f64, u64)>,
    /// All bins; empty in output that is not JSON+.
    pub bins: Bins,
}

/// Why an output cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// There is no JSON in it.
    NoJson,
    /// It ends within the JSON.
    CutOff {
        /// Lines up to its end.
        line: usize,
    },
    /// The JSON has a mistake.
    Json {
        /// Where and which.
        what: String,
    },
    /// The JSON is not of fio.
    NotFio,
    /// fio before 3.0 has other units.
    TooOld {
        /// Its version.
        version: String,
    },
    /// No job has a result.
    NoJobs,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson => f.write_str("there is no JSON in it"),
            Self::CutOff { line } => {
                write!(f, "it is cut off: it ends at line {line} within the JSON")
            }
            Self::Json { what } => write!(f, "its JSON has a mistake: {what}"),
            Self::NotFio => {
                f.write_str("its JSON is not of fio: it has neither 'jobs' nor 'client_stats'")
            }
            Self::TooOld { version } => write!(
                f,
                "it is of {version}, whose latencies have another unit; fio 3.0 and later can be read"
            ),
            Self::NoJobs => f.write_str("no job in it has a result"),
        }
    }
}

impl std::error::Error for Unreadable {}
