//! Results of fio → a record: those of others, and each pass of our own.

use super::bins::Bins;
use super::fio::{FioDirection, FioJob, Output};
use super::log::Logs;
use super::record::{DirectionRun, DiskRun, LatencyRun, PassRun, SCHEMA, WorkloadRun};
use super::summary::summarise;
use super::{Options, job::Job};

/// One file to import.
#[derive(Debug)]
pub struct Source {
    /// Its name.
    pub file: String,
    /// What is in it.
    pub output: Output,
    /// The logs that lie beside it.
    pub(super) logs: Logs,
}

impl Source {
    /// A file with what is in it; its logs are looked for beside it.
    #[must_use]
    pub fn new(path: &std::path::Path, output: Output) -> Self {
        let logs = super::logs::beside(path, &output);
        Self { file: path.display().to_string(), output, logs }
    }
}

/// Options whose values differ between passes of the same question, or say only where something is written.
const NO_QUESTION: &[&str] = &[
    "filename",
    "directory",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "name",
    "description",
    "output",
    "group_reporting",
    "randseed",
    "loops",
    "status-interval",
    "wait_for",
    "stonewall",
    "new_group",
];

/// Makes a record of the results of others. Files that asked the same question become passes of one workload.
#[must_use]
pub fn import(sources: &[Source], label: Option<&str>, fullbore_version: &str) -> DiskRun {
    let mut workloads: Vec<WorkloadRun> = Vec::new();
    let mut notes = Vec::new();
    for source in sources {
        notes.extend(
            source.output.remarks.iter().map(|remark| format!("{}: {remark}", source.file)),
        );
        for jobs in groups(&source.output) {
            let first = jobs[0];
            if let Some(error) = jobs.iter().map(|job| job.error).find(|error| *error != 0) {
                notes.push(format!(
                    "{}: {}: fio ended with error {error}; left out",
                    source.file, first.name
                ));
                continue;
            }
            let logs = if is_only(&source.output) { &source.logs } else { &Logs::default() };
            let mut pass = pass(&jobs, logs, &source.output);
            pass.source = Some(source.file.clone());
            add(&mut workloads, first, pass);
        }
    }
    let testers = sources.iter().map(|source| source.output.version.as_str());
    let mut run = DiskRun {
        schema: SCHEMA.to_owned(),
        fullbore_version: fullbore_version.to_owned(),
        label: label.map(str::to_owned),
        command: String::new(),
        started_unix_ns: sources.iter().filter_map(|s| s.output.unix_ms).min().unwrap_or(0)
            * 1_000_000,
        elapsed_ns: 0,
        is_complete: true,
        effort: None,
        profile: String::new(),
        tester: one_of(testers),
        hosts: hosts(sources),
        machine: None,
        target: None,
        workloads,
        notes,
    };
    summarise(&mut run);
    run
}

/// Logs are of a file, so they belong to a job only if it is the only one.
fn is_only(output: &Output) -> bool {
    groups(output).len() == 1
}

fn hosts(sources: &[Source]) -> Vec<String> {
    let jobs = sources.iter().flat_map(|source| &source.output.jobs);
    let mut hosts: Vec<String> = jobs.filter_map(|job| job.host.clone()).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// The one version, or all of them.
fn one_of<'a>(versions: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = versions.collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}

/// Jobs of one name: what `numjobs` and several hosts made of one section.
fn groups(output: &Output) -> Vec<Vec<&FioJob>> {
    let mut groups: Vec<Vec<&FioJob>> = Vec::new();
    for job in &output.jobs {
        let is_same = |group: &&mut Vec<&FioJob>| {
            group[0].name == job.name && question(&group[0].options) == question(&job.options)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

fn add(workloads: &mut Vec<WorkloadRun>, job: &FioJob, pass: PassRun) {
    let same = workloads.iter_mut().find(|known| {
        known.title == title(job, &pass)
            && question(&known.options) == question(&job.options)
            && known.passes[0].jobs == pass.jobs
    });
    if let Some(known) = same {
        known.passes.push(pass);
        return;
    }
    let wanted = if job.name.is_empty() { "job" } else { &job.name };
    let mut name = wanted.to_owned();
    let mut number = 2;
    while workloads.iter().any(|known| known.name == name) {
        name = format!("{wanted} ({number})");
        number += 1;
    }
    let described = Job {
        name: name.clone(),
        title: String::new(),
        stands_for: String::new(),
        options: job.options.clone(),
    };
    workloads.push(WorkloadRun {
        title: title(job, &pass),
        command: described.command(),
        name,
        stands_for: String::new(),
        options: job.options.clone(),
        passes: vec![pass],
        trouble: None,
        summaries: Vec::new(),
    });
}

/// What the job does, in words: `randread 4k, 8 jobs, depth 32`.
fn title(job: &FioJob, pass: &PassRun) -> String {
    let option = |names: &[&str]| names.iter().find_map(|name| job.options.get(name));
    let mut parts = Vec::new();
    let directions: Vec<&str> = pass.directions.iter().map(|run| run.direction.as_str()).collect();
    let rw = option(&["rw", "readwrite"]).map_or_else(|| directions.join(" and "), str::to_owned);
    parts.push(match option(&["bs", "blocksize"]) {
        Some(bs) => format!("{rw} {bs}"),
        None => rw,
    });
    if let Some(jobs) = option(&["numjobs"]).filter(|jobs| *jobs != "1") {
        parts.push(format!("{jobs} jobs"));
    }
    if let Some(depth) = option(&["iodepth"]) {
        parts.push(format!("depth {depth}"));
    }
    format!("{}: {}", if job.name.is_empty() { "job" } else { &job.name }, parts.join(", "))
}

fn question(options: &Options) -> Vec<(&str, &str)> {
    let mut all: Vec<_> = options.iter().filter(|(name, _)| !NO_QUESTION.contains(name)).collect();
    all.sort_unstable();
    all
}

/// Jobs that ran at the same time, as one pass.
pub(super) fn pass(jobs: &[&FioJob], logs: &Logs, output: &Output) -> PassRun {
    let mut names: Vec<&str> = Vec::new();
    for direction in jobs.iter().flat_map(|job| &job.directions) {
        if !names.contains(&direction.name.as_str()) {
            names.push(&direction.name);
        }
    }
    let step = jobs[0].options.get("log_avg_msec").and_then(|step| step.parse().ok());
    let step_ms = step.unwrap_or(0);
    let directions = names.into_iter().map(|name| {
        let all: Vec<&FioDirection> = jobs
            .iter()
            .flat_map(|job| &job.directions)
            .filter(|direction| direction.name == name)
            .collect();
        let mut run = direction(&all);
        run.timeline = logs.timeline(&run, step_ms);
        run
    });
    // With group_reporting, fio gives the mean of its threads.
    let threads = |job: &FioJob| match job.options.get("group_reporting") {
        Some(_) => job.options.get("numjobs").and_then(|jobs| jobs.parse().ok()).unwrap_or(1.0),
        None => 1.0,
    };
    let cpus =
        |of: fn(&FioJob) -> f64| Some(jobs.iter().map(|job| of(job) / 100.0 * threads(job)).sum());
    PassRun {
        started_unix_ns: output.unix_ms.unwrap_or(0) * 1_000_000,
        tester: output.version.clone(),
        jobs: u32::try_from(jobs.len()).unwrap_or(u32::MAX),
        user_cpus: cpus(|job| job.user_cpu_percent),
        system_cpus: cpus(|job| job.system_cpu_percent),
        directions: directions.collect(),
        ..PassRun::default()
    }
}

/// One job's numbers as they are, those of several added up.
fn direction(all: &[&FioDirection]) -> DirectionRun {
    let first = all[0];
    let is_one = all.len() == 1;
    let requests: u64 = all.iter().map(|run| run.requests).sum();
    let mut bins = Bins::default();
    all.iter().for_each(|run| bins.merge(&run.latency.bins));
    let has_all_bins = all.iter().all(|run| !run.latency.bins.is_empty());
    let weighted = |value: fn(&FioDirection) -> f64| {
        all.iter().map(|run| value(run) * run.requests as f64).sum::<f64>() / requests.max(1) as f64
    };
    DirectionRun {
        direction: first.name.clone(),
        requests,
        bytes: all.iter().map(|run| run.bytes).sum(),
        runtime_ms: all.iter().map(|run| run.runtime_ms).max().unwrap_or(0),
        iops: if is_one { first.iops } else { all.iter().map(|run| run.iops).sum() },
        bytes_per_s: if is_one {
            first.bytes_per_s
        } else {
            all.iter().map(|run| run.bytes_per_s).sum()
        },
        iops_samples: if is_one { first.iops_samples } else { None },
        latency: LatencyRun {
            of: first.latency.of.clone(),
            min_ns: all.iter().map(|run| run.latency.min_ns).min().unwrap_or(0),
            max_ns: all.iter().map(|run| run.latency.max_ns).max().unwrap_or(0),
            mean_ns: if is_one {
                first.latency.mean_ns
            } else {
                weighted(|run| run.latency.mean_ns)
            },
            percentiles: if is_one { first.latency.percentiles.clone() } else { Vec::new() },
            bins: if has_all_bins { bins } else { Bins::default() },
        },
        timeline: super::record::Timeline::default(),
    }
}
