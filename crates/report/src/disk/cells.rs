//! The rows of all tables: one for each workload and direction, one for each number that is compared.

use fullbore_lab::Estimate;
use fullbore_lab::disk::compare::{
    Difference, DiskComparison, Pair, Row, Verdict, percentile_name,
};
use fullbore_lab::disk::metric::{Metric, PERCENTILES};
use fullbore_lab::disk::record::{Device, DiskRun, Summary, Target, WorkloadRun};
use fullbore_lab::record::Effort;
use fullbore_measure::{Bytes, median, seconds};

use crate::figures::count;
use crate::lab::figures::{digits, nanoseconds, spread};
use crate::visible;

/// A row of the table of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Heading of the workload.
    pub(super) title: String,
    /// Everything else, as [`HEADS`] says.
    pub(super) cells: Vec<String>,
    /// Why there are no numbers.
    pub(super) trouble: Option<String>,
}

/// The columns after the workload.
pub(super) const HEADS: [&str; 12] =
    ["IOPS", "±", "MB/s", "mean", "±", "p50", "p99", "p99.9", "p99.99", "max", "CPUs", "memory"];

/// All rows of a record.
pub(super) fn lines(run: &DiskRun) -> Vec<Line> {
    run.workloads.iter().flat_map(of_workload).collect()
}

fn of_workload(workload: &WorkloadRun) -> Vec<Line> {
    let title = visible::line(&workload.title);
    if workload.summaries.is_empty() {
        let trouble = workload.trouble.clone().unwrap_or_else(|| "not measured yet".to_owned());
        return vec![Line { title, trouble: Some(visible::line(&trouble)), ..Line::default() }];
    }
    let has_several = workload.summaries.len() > 1;
    let of = |summary: &Summary| Line {
        title: if has_several {
            format!("{title}, {}", visible::line(&summary.direction))
        } else {
            title.clone()
        },
        cells: cells(workload, summary),
        trouble: None,
    };
    workload.summaries.iter().map(of).collect()
}

fn cells(workload: &WorkloadRun, summary: &Summary) -> Vec<String> {
    let time = |estimate: Option<&Estimate>| {
        estimate.map_or_else(|| "?".to_owned(), |estimate| nanoseconds(rounded(estimate.middle)))
    };
    let mean = summary.mean_latency_ns.as_ref();
    let mut cells = vec![
        count(rounded(summary.iops.middle)),
        spread(&summary.iops),
        megabytes(summary.bytes_per_s.middle),
        time(mean),
        mean.map_or_else(|| "?".to_owned(), spread),
    ];
    for percent in PERCENTILES {
        let found = summary.percentiles_ns.iter().find(|(known, _)| (known - percent).abs() < 1e-9);
        cells.push(time(found.map(|(_, estimate)| estimate)));
    }
    cells.push(if summary.max_ns > 0 { nanoseconds(summary.max_ns) } else { "?".to_owned() });
    let cpus: Vec<f64> =
        workload.passes.iter().filter_map(fullbore_lab::disk::record::PassRun::cpus).collect();
    cells.push(median(&cpus).map_or_else(|| "?".to_owned(), |cpus| format!("{cpus:.2}")));
    let memory = workload.passes.iter().filter_map(|pass| pass.peak_memory_bytes).max();
    cells.push(memory.map_or_else(|| "?".to_owned(), |bytes| Bytes(bytes).to_string()));
    cells
}

/// Powers of 1000, as disks are sold, without a unit.
pub(super) fn megabytes(bytes_per_s: f64) -> String {
    digits(bytes_per_s / 1e6)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and times are far below 2^53"
)]
pub(super) fn rounded(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// What was measured, how and how long, in a sentence.
pub(super) fn effort(run: &DiskRun) -> String {
    let passes = run.workloads.iter().map(|workload| workload.passes.len()).max().unwrap_or(0);
    let passes = if passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") };
    let mut parts = vec![format!("{passes} of each workload by {}", visible::line(&run.tester))];
    let option = |name: &str| run.workloads.first().and_then(|workload| workload.options.get(name));
    if let (Some(_), Some(runtime)) = (run.effort, option("runtime")) {
        let ramp =
            option("ramp_time").map_or(String::new(), |ramp| format!(" after {ramp} s of warm-up"));
        parts[0].push_str(&format!(", {runtime} s each{ramp}"));
    }
    match run.effort {
        Some(Effort::Quick) => parts.push("quick: wider intervals".to_owned()),
        None => parts.push("imported".to_owned()),
        _ => {}
    }
    if !run.profile.is_empty() {
        parts.push(format!("profile {}", visible::line(&run.profile)));
    }
    if run.elapsed_ns > 0 {
        parts.push(seconds(run.elapsed_ns));
    }
    if !run.is_complete {
        parts.push("ended early".to_owned());
    }
    parts.join("; ")
}

/// Where, in a sentence.
pub(super) fn place(target: &Target) -> String {
    let mut parts = vec![visible::line(&target.path)];
    if let Some(size) = target.size_bytes {
        let what = if target.is_device { "of the device" } else { "in one file" };
        parts.push(format!("{} {what}", Bytes(size)));
    }
    parts.push(
        if target.is_direct { "page cache left out" } else { "through the page cache" }.to_owned(),
    );
    if let Some(system) = &target.file_system {
        parts.push(format!(
            "{} ({})",
            visible::line(system),
            visible::line(target.mount_options.as_deref().unwrap_or("?"))
        ));
    }
    parts.extend(target.devices.iter().map(device));
    parts.join("; ")
}

fn device(device: &Device) -> String {
    let mut parts = vec![visible::line(&device.name)];
    parts.extend(device.model.as_deref().map(visible::line));
    parts.extend(device.size_bytes.map(|bytes| Bytes(bytes).to_string()));
    parts.extend(
        device.is_rotational.map(|is| if is { "rotational" } else { "not rotational" }.to_owned()),
    );
    parts.extend(
        device.scheduler.as_deref().map(|name| format!("scheduler {}", visible::line(name))),
    );
    parts.extend(device.queue_requests.map(|requests| format!("nr_requests {requests}")));
    parts.extend(
        device.write_cache.as_deref().map(|cache| format!("write cache {}", visible::line(cache))),
    );
    parts.join(", ")
}

/// Names and values of everything that is known about place and machine.
pub(super) fn facts(run: &DiskRun) -> Vec<(&'static str, String)> {
    let unknown = || "?".to_owned();
    let mut facts = Vec::new();
    if let Some(target) = &run.target {
        facts.push(("Measured", place(target)));
        let mount = target.mount_point.as_deref().map_or_else(unknown, visible::line);
        facts.push(("Mounted at", mount));
        if let (Some(total), Some(free)) = (target.total_bytes, target.free_bytes) {
            facts.push(("File system", format!("{}, {} free before", Bytes(total), Bytes(free))));
        }
        for device in &target.devices {
            let blocks = [device.logical_block_bytes, device.physical_block_bytes]
                .map(|bytes| bytes.map_or_else(unknown, |bytes| bytes.to_string()));
            let request = device.max_request_kib.map_or_else(unknown, |kib| format!("{kib} KiB"));
            facts.push((
                "Device",
                format!(
                    "{}: blocks of {} and {} bytes, largest request {request}",
                    self::device(device),
                    blocks[0],
                    blocks[1]
                ),
            ));
        }
    }
    if let Some(machine) = &run.machine {
        let host = &machine.host;
        facts.push(("Linux", visible::line(&host.kernel)));
        facts.push(("CPU", format!("{}, {} CPUs", visible::line(&host.cpu), host.cpus)));
        facts.push(("Memory", Bytes(host.memory_bytes).to_string()));
        facts.push((
            "Clock governor",
            machine.frequency_governor.as_deref().map_or_else(unknown, visible::line),
        ));
    }
    if !run.hosts.is_empty() {
        facts.push(("Hosts", visible::line(&run.hosts.join(", "))));
    }
    facts.push(("Tester", visible::line(&run.tester)));
    facts.push(("fullbore", visible::line(&run.fullbore_version)));
    facts
}

/// A row of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) workload: String,
    pub(super) what: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) ratio: String,
    pub(super) verdict: Verdict,
}

/// All rows of one workload.
pub(super) fn changes(pair: &Pair) -> Vec<Change> {
    let mut directions: Vec<&str> = pair.rows.iter().map(|row| row.direction.as_str()).collect();
    directions.dedup();
    let has_several = directions.len() > 1;
    let of = |row: &Row| Change {
        workload: visible::line(&pair.title),
        what: if has_several {
            format!("{} {}", visible::line(&row.direction), metric(row.metric))
        } else {
            metric(row.metric)
        },
        before: value(row.metric, row.before),
        after: value(row.metric, row.after),
        ratio: ratio(&row.ratio),
        verdict: row.verdict,
    };
    pair.rows.iter().map(of).collect()
}

fn metric(metric: Metric) -> String {
    match metric {
        Metric::Iops => "IOPS".to_owned(),
        Metric::BytesPerSecond => "MB/s".to_owned(),
        Metric::MeanLatency => "latency, mean".to_owned(),
        Metric::Percentile(percent) => format!("latency, {}", percentile_name(percent)),
    }
}

fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => count(rounded(value)),
        Metric::BytesPerSecond => megabytes(value),
        Metric::MeanLatency | Metric::Percentile(_) => nanoseconds(rounded(value)),
    }
}

/// Ends of an interval that are further apart are not shown.
const WIDEST: f64 = 100.0;

/// `0.90 [0.87–0.93]`
fn ratio(ratio: &Estimate) -> String {
    let told = |value: f64| if value < 10.0 { format!("{value:.3}") } else { digits(value) };
    match (ratio.low, ratio.high) {
        // So wide an interval says only that nothing can be said.
        (Some(low), Some(high)) if high / low > WIDEST => format!("{} [?]", told(ratio.middle)),
        (Some(low), Some(high)) => format!("{} [{}–{}]", told(ratio.middle), told(low), told(high)),
        _ => told(ratio.middle),
    }
}

/// A verdict as a word with its sign.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "▲ better",
        Verdict::Worse => "▼ worse",
        Verdict::Same => "= same",
        Verdict::CannotTell => "? cannot be told",
        Verdict::NotComparable => "not comparable",
    }
}

/// A difference as one line.
pub(super) fn difference(difference: &Difference) -> String {
    visible::line(&format!("{}: {} → {}", difference.what, difference.before, difference.after))
}

/// How many rows have which verdict, in a sentence.
pub(super) fn tally(comparison: &DiskComparison) -> String {
    let all = comparison.rows().count();
    let told = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Same,
        Verdict::CannotTell,
        Verdict::NotComparable,
    ]
    .into_iter()
    .map(|verdict| {
        (comparison.count(verdict), word(verdict).trim_start_matches(['▲', '▼', '=', '?', ' ']))
    })
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"));
    format!("{all} numbers compared: {}", told.collect::<Vec<_>>().join(", "))
}
