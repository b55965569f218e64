//! Whether `lab compare` tells a change of a disk from none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fullbore_lab::disk::compare::{DiskComparison, Verdict, compare};
use fullbore_lab::disk::record::{DirectionRun, DiskRun};
use fullbore_lab::disk::summary::summarise;

use crate::Effort;
use crate::sandbox::{Sandbox, fullbore};
use crate::table::{Outcome, Row};

/// The command of each record.
const COMMAND: &str = "fullbore lab disk --quick --size 256M --dir DIR";

/// What a cgroup lets through a second, so that the disk is steadier than a shared one is by itself.
const IOPS: u32 = 5000;
const BYTES: u32 = 200 << 20;

/// Same against same, and each record against one that is a tenth slower or faster. Every record is compared with every later one.
pub(crate) fn told_changes(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let limit = Limit::new(&place.path("."));
    let wanted = effort.times(3, 12).max(2);
    let records: Vec<DiskRun> =
        (0..wanted).map(|_| record(&place, limit.as_ref(), effort)).collect();
    let pairs: Vec<(&DiskRun, &DiskRun)> = (0..records.len())
        .flat_map(|n| records[n + 1..].iter().map(move |after| (n, after)))
        .map(|(n, after)| (&records[n], after))
        .collect();
    let same: Vec<DiskComparison> = pairs.iter().map(|(old, new)| compare(old, new)).collect();
    let flagged = |all: &[DiskComparison], verdicts: &[Verdict]| -> usize {
        all.iter()
            .map(|one| verdicts.iter().map(|verdict| one.count(*verdict)).sum::<usize>())
            .sum()
    };
    let rows = |all: &[DiskComparison]| all.iter().map(|one| one.rows().count()).sum::<usize>();
    let notes = || match &limit {
        Some(limit) => vec![format!(
            "limited by {}: {IOPS} requests and {} MiB a second",
            limit.name,
            BYTES >> 20
        )],
        None => vec!["not limited: no blkio controller to write to".to_owned()],
    };
    let false_ones = flagged(&same, &[Verdict::Better, Verdict::Worse]);
    let mut found = vec![Row {
        claim: format!(
            "Two records of the same disk ({} pairs of {wanted} records): numbers called better or worse",
            pairs.len()
        ),
        bar: "≤ 5 %".to_owned(),
        measured: percent(false_ones, rows(&same)),
        outcome: Outcome::met_if(false_ones * 20 <= rows(&same)),
        command: COMMAND.to_owned(),
        notes: notes(),
    }];
    for (name, factor, verdict) in
        [("slower", 0.9, Verdict::Worse), ("faster", 1.1, Verdict::Better)]
    {
        let changed: Vec<DiskComparison> =
            pairs.iter().map(|(old, new)| compare(old, &at(new, factor))).collect();
        let right = flagged(&changed, &[verdict]);
        let wrong = flagged(&changed, &[Verdict::Better, Verdict::Worse]) - right;
        found.push(Row {
            claim: format!("The second record {name} by a tenth (rates × {factor}, latencies ÷ {factor}): numbers called so"),
            bar: "≥ 95 %".to_owned(),
            measured: percent(right, rows(&changed)),
            outcome: Outcome::met_if(right * 100 >= rows(&changed) * 95 && wrong == 0),
            command: COMMAND.to_owned(),
            notes: vec![format!("called the opposite: {wrong}"), by_metric(&changed, verdict)],
        });
    }
    found
}

/// Which numbers were called so, and how often.
fn by_metric(all: &[DiskComparison], verdict: Verdict) -> String {
    let mut metrics: Vec<(String, usize, usize)> = Vec::new();
    for (_, row) in all.iter().flat_map(DiskComparison::rows) {
        let name = format!("{:?}", row.metric);
        let place = metrics.iter().position(|(known, ..)| *known == name).unwrap_or_else(|| {
            metrics.push((name, 0, 0));
            metrics.len() - 1
        });
        metrics[place].1 += usize::from(row.verdict == verdict);
        metrics[place].2 += 1;
    }
    metrics
        .iter()
        .map(|(name, right, all)| format!("{name} {}", percent(*right, *all)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} % ({part} of {whole})", part as f64 * 100.0 / whole.max(1) as f64)
}

fn record(place: &Sandbox, limit: Option<&Limit>, effort: Effort) -> DiskRun {
    let mut command = Command::new("sh");
    // The shell enters the cgroup, and what it becomes stays there.
    let enter = limit.map_or_else(String::new, |limit| {
        format!("echo $$ > '{}/cgroup.procs'; ", limit.folder.display())
    });
    command.args(["-c", &format!("{enter}exec \"$@\""), "sh"]).arg(fullbore());
    command.args([
        "lab",
        "disk",
        "--quick",
        "--size",
        "256M",
        "--anyway",
        "-q",
        "--dir",
        ".",
        "--report",
        "record.json",
    ]);
    // Six workloads take two minutes and a half; a check sees that it works from one.
    if effort == Effort::Check {
        command.args(["--workload", "random-read", "--runs", "2"]);
    }
    let status = command.current_dir(place.path(".")).status().unwrap();
    assert!(status.success(), "{status}");
    serde_json::from_slice(&fs::read(place.path("record.json")).unwrap()).unwrap()
}

/// A record of a disk that is `factor` times as fast.
fn at(record: &DiskRun, factor: f64) -> DiskRun {
    let mut changed = record.clone();
    let runs = changed
        .workloads
        .iter_mut()
        .flat_map(|workload| &mut workload.passes)
        .flat_map(|pass| &mut pass.directions);
    for DirectionRun { iops, bytes_per_s, latency, timeline, .. } in runs {
        *iops *= factor;
        *bytes_per_s *= factor;
        latency.mean_ns /= factor;
        latency.bins = latency.bins.scaled(1.0 / factor);
        timeline.iops.iter_mut().chain(&mut timeline.bytes_per_s).for_each(|rate| *rate *= factor);
        timeline.latency_ns.iter_mut().for_each(|ns| *ns /= factor);
    }
    summarise(&mut changed);
    changed
}

/// A cgroup with a limit on a disk; removed at the end.
struct Limit {
    folder: PathBuf,
    name: &'static str,
}

impl Limit {
    /// As root, with the blkio controller of cgroup v1 or the io controller of v2; `None` without.
    fn new(on: &Path) -> Option<Self> {
        let device = disk_of(on)?;
        let name = format!("fullbore-claims-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/blkio").join(&name);
        if fs::create_dir(&first).is_ok() {
            let limit = Self { folder: first, name: "blkio" };
            let set = |file: &str, value: u32| {
                fs::write(
                    limit.folder.join(format!("blkio.throttle.{file}_device")),
                    format!("{device} {value}"),
                )
            };
            let all = [
                ("read_iops", IOPS),
                ("write_iops", IOPS),
                ("read_bps", BYTES),
                ("write_bps", BYTES),
            ];
            return all.iter().all(|(file, value)| set(file, *value).is_ok()).then_some(limit);
        }
        let limit = Self { folder: Path::new("/sys/fs/cgroup").join(&name), name: "io.max" };
        fs::create_dir(&limit.folder).ok()?;
        let line = format!("{device} riops={IOPS} wiops={IOPS} rbps={BYTES} wbps={BYTES}");
        fs::write(limit.folder.join("io.max"), line).is_ok().then_some(limit)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Number of the disk that a folder is on: limits are of disks, not of partitions.
fn disk_of(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let number = fs::metadata(folder).ok()?.dev();
    let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let device = Path::new("/sys/dev/block").join(&number).canonicalize().ok()?;
    let disk = if device.join("partition").exists() { device.parent()? } else { &device };
    Some(fs::read_to_string(disk.join("dev")).ok()?.trim().to_owned())
}
