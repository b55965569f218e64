//! What a run of `lab disk` or an import found: the JSON that `--report FILE.json` writes. docs/disk.md describes every field.

use serde::{Deserialize, Serialize};

use super::Options;
use super::bins::Bins;
use crate::Estimate;
use crate::record::{Effort, Machine};

/// Name and version of the form of the record.
pub const SCHEMA: &str = "fullbore.disk/1";

/// One run, or results of others that were imported together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskRun {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote it.
    pub fullbore_version: String,
    /// A name for it in comparisons.
    pub label: Option<String>,
    /// The command that repeats it.
    pub command: String,
    /// When it began, since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// How long it took; zero of what was imported.
    pub elapsed_ns: u64,
    /// Whether all passes were made; `false` while it runs and after Ctrl-C.
    pub is_complete: bool,
    /// How much was measured; `None` of what was imported.
    pub effort: Option<Effort>,
    /// Name of the profile; empty for the suite's own parameters.
    pub profile: String,
    /// What did the requests: `fio-3.33`, or our own engine.
    pub tester: String,
    /// Hosts of `fio --client`; empty for this machine.
    pub hosts: Vec<String>,
    /// Where; `None` of what was imported.
    pub machine: Option<Machine>,
    /// On what; `None` of what was imported.
    pub target: Option<Target>,
    /// What was found.
    pub workloads: Vec<WorkloadRun>,
    /// What must be known about the numbers.
    pub notes: Vec<String>,
}

/// What the requests went to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Directory or device, as it was given.
    pub path: String,
    /// Whether it is a device that was written directly.
    pub is_device: bool,
    /// Bytes that the jobs worked on.
    pub size_bytes: Option<u64>,
    /// Whether the page cache was left out.
    pub is_direct: bool,
    /// Name of the file system; `None` of a device.
    pub file_system: Option<String>,
    /// Where it is mounted.
    pub mount_point: Option<String>,
    /// With what.
    pub mount_options: Option<String>,
    /// Size of the file system.
    pub total_bytes: Option<u64>,
    /// What of it was free before.
    pub free_bytes: Option<u64>,
    /// The devices it lies on, the nearest first; empty where Linux does not say.
    pub devices: Vec<Device>,
}

/// Facts about a block device, from /sys/block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name in /dev.
    pub name: String,
    /// Model, as the device says.
    pub model: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Whether it says that it has moving parts.
    pub is_rotational: Option<bool>,
    /// The scheduler in use.
    pub scheduler: Option<String>,
    /// Requests that its queue holds (nr_requests).
    pub queue_requests: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Bytes of a logical and of a physical block.
    pub logical_block_bytes: Option<u64>,
    /// See [`Device::logical_block_bytes`].
    pub physical_block_bytes: Option<u64>,
    /// Largest request in KiB (max_sectors_kb).
    pub max_request_kib: Option<u64>,
}

/// What one workload found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRun {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// The use it stands for; empty of what was imported.
    pub stands_for: String,
    /// Every option of the job.
    pub options: Options,
    /// The command that does the same, to paste.
    pub command: String,
    /// The passes, in order.
    pub passes: Vec<PassRun>,
    /// Why there are fewer passes than wanted.
    pub trouble: Option<String>,
    /// All passes together, with intervals: computed from `passes` when the record is written.
    pub summaries: Vec<Summary>,
}

/// One pass of one workload: one run of fio.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassRun {
    /// When it began, since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Version of fio, or of our own engine.
    pub tester: String,
    /// The file it was imported from.
    pub source: Option<String>,
    /// Jobs that were added up here; fio's `group_reporting` makes one of many.
    pub jobs: u32,
    /// CPU time of the tester: how many CPUs it kept busy, in user mode …
    pub user_cpus: Option<f64>,
    /// … and in the kernel.
    pub system_cpus: Option<f64>,
    /// Largest memory of the tester.
    pub peak_memory_bytes: Option<u64>,
    /// How busy all CPUs of the machine were, step by step.
    pub load: Load,
    /// What was done in each direction.
    pub directions: Vec<DirectionRun>,
}

/// How busy the CPUs were while a pass ran, its warm-up included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Width of a step.
    pub step_ms: u64,
    /// Percent of all CPU time that was not idle.
    pub busy_percent: Vec<f64>,
    /// Memory of the tester.
    pub memory_bytes: Vec<u64>,
}

/// One direction of a pass, in the numbers of fio.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionRun {
    /// `read`, `write`, `trim`, `mixed`.
    pub direction: String,
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// How long.
    pub runtime_ms: u64,
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Standard deviation between fio's samples of the rate, and their number.
    pub iops_samples: Option<(f64, u64)>,
    /// Latencies.
    pub latency: LatencyRun,
    /// What the logs say.
    pub timeline: Timeline,
}

/// Latencies of a direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyRun {
    /// `clat` or `lat`.
    pub of: String,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// Percent and ns as fio computed them; empty where jobs were added up here.
    pub percentiles: Vec<(f64, u64)>,
    /// All bins, empty without JSON+.
    pub bins: Bins,
}

/// Rates and latencies over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Width of a step.
    pub step_ms: u64,
    /// Requests a second.
    pub iops: Vec<f64>,
    /// Bytes a second.
    pub bytes_per_s: Vec<f64>,
    /// Mean latency.
    pub latency_ns: Vec<f64>,
}

/// One direction of a workload, all passes together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `read`, `write`, `trim`, `mixed`.
    pub direction: String,
    /// The middle of the passes (Hodges and Lehmann).
    pub iops: Estimate,
    /// The middle of the passes (Hodges and Lehmann).
    pub bytes_per_s: Estimate,
    /// The middle of the passes; `None` where no latency was measured.
    pub mean_latency_ns: Option<Estimate>,
    /// Percent and ns: of the merged bins of all passes.
    pub percentiles_ns: Vec<(f64, Estimate)>,
    /// Whether percentiles are of merged bins; otherwise they are the middle of those of the passes.
    pub has_bins: bool,
    /// The longest latency of any pass.
    pub max_ns: u64,
}

impl WorkloadRun {
    /// Names of the directions that any pass has.
    #[must_use]
    pub fn directions(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for run in self.passes.iter().flat_map(|pass| &pass.directions) {
            if !names.contains(&run.direction) {
                names.push(run.direction.clone());
            }
        }
        names
    }

    /// What each pass did in a direction.
    pub fn runs<'a>(&'a self, direction: &'a str) -> impl Iterator<Item = &'a DirectionRun> {
        self.passes
            .iter()
            .flat_map(|pass| &pass.directions)
            .filter(move |run| run.direction == direction)
    }

    /// The bins of all passes together.
    #[must_use]
    pub fn bins(&self, direction: &str) -> Bins {
        let mut all = Bins::default();
        self.runs(direction).for_each(|run| all.merge(&run.latency.bins));
        all
    }

    /// All passes together in one direction.
    #[must_use]
    pub fn summary(&self, direction: &str) -> Option<&Summary> {
        self.summaries.iter().find(|summary| summary.direction == direction)
    }
}

impl PassRun {
    /// CPUs that the tester kept busy.
    #[must_use]
    pub fn cpus(&self) -> Option<f64> {
        Some(self.user_cpus? + self.system_cpus?)
    }
}

impl DiskRun {
    /// Whether a workload has fewer passes than wanted because something went wrong.
    #[must_use]
    pub fn has_trouble(&self) -> bool {
        self.workloads.iter().any(|workload| workload.trouble.is_some())
    }
}
