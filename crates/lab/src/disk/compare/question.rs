//! Whether two records asked the same question: which workloads belong together, and what differs beside the numbers.

use fullbore_measure::Bytes;
use serde::{Deserialize, Serialize};

use crate::disk::Options;
use crate::disk::record::{DiskRun, Target, WorkloadRun};

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// In the first record.
    pub before: String,
    /// In the second.
    pub after: String,
    /// How much it matters.
    pub weight: Weight,
}

/// How much a difference matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It changes the question, so that the numbers are not comparable.
    Question,
    /// It may be what the comparison is about: device, kernel, scheduler.
    Cause,
    /// It is good to know.
    Remark,
}

/// Options that are the question: one that differs makes a row not comparable. Each with the value that fio takes without it.
const QUESTION: &[(&str, &str)] = &[
    ("rw", "read"),
    ("bs", "4k"),
    ("bssplit", ""),
    ("bsrange", ""),
    ("iodepth", "1"),
    ("numjobs", "1"),
    ("direct", "0"),
    ("ioengine", "psync"),
    ("rwmixread", "50"),
    ("rwmixwrite", "50"),
    ("fsync", "0"),
    ("fdatasync", "0"),
    ("sync", "0"),
    ("rate", ""),
    ("rate_iops", ""),
    ("thinktime", "0"),
    ("verify", ""),
    ("offset_increment", "0"),
    ("random_distribution", "random"),
    ("zonemode", "none"),
    ("percentage_random", "100"),
    ("unified_rw_reporting", "0"),
    ("buffer_compress_percentage", "0"),
    ("dedupe_percentage", "0"),
    ("iodepth_batch_submit", "1"),
];

/// Other names of the same options.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("buffered", "direct"),
    ("iodepth_batch", "iodepth_batch_submit"),
];

/// Options that are named when they differ.
const REMARKS: &[&str] =
    &["runtime", "ramp_time", "refill_buffers", "norandommap", "thread", "nrfiles", "filename"];

/// Sizes that differ by less than this factor ask the same.
const SIZES: f64 = 1.05;

/// Fill levels that differ by so many percent are named.
const FILL_PERCENT: f64 = 10.0;

/// The workloads that belong together: by name, else by their question.
pub(super) fn pairs<'a>(
    first: &'a DiskRun,
    second: &'a DiskRun,
) -> Vec<(&'a WorkloadRun, &'a WorkloadRun)> {
    let mut pairs: Vec<(&WorkloadRun, &WorkloadRun)> = Vec::new();
    for old in first.workloads.iter().filter(|workload| !workload.passes.is_empty()) {
        let free: Vec<&WorkloadRun> = second
            .workloads
            .iter()
            .filter(|new| {
                !new.passes.is_empty() && !pairs.iter().any(|(_, taken)| std::ptr::eq(*taken, *new))
            })
            .collect();
        let is_namesake = |new: &&&WorkloadRun| new.name == old.name;
        let has_namesake_before =
            |new: &WorkloadRun| first.workloads.iter().any(|other| other.name == new.name);
        let alike = || {
            let mut same =
                free.iter().filter(|new| !has_namesake_before(new) && is_alike(old, new));
            let one = same.next()?;
            same.next().is_none().then_some(one)
        };
        if let Some(new) = free.iter().find(is_namesake).or_else(alike) {
            pairs.push((old, new));
        }
    }
    pairs
}

fn is_alike(one: &WorkloadRun, other: &WorkloadRun) -> bool {
    questions(&one.options, &other.options).is_empty() && one.directions() == other.directions()
}

/// Workloads that only one record has.
pub(super) fn unmatched(
    first: &DiskRun,
    second: &DiskRun,
    pairs: &[(&WorkloadRun, &WorkloadRun)],
) -> Vec<String> {
    let told = |run: &DiskRun, which: &str| -> Vec<String> {
        let is_paired = |workload: &WorkloadRun| {
            pairs
                .iter()
                .any(|(old, new)| std::ptr::eq(*old, workload) || std::ptr::eq(*new, workload))
        };
        let alone = run.workloads.iter().filter(|workload| !is_paired(workload));
        alone
            .map(|workload| match (&workload.trouble, workload.passes.is_empty()) {
                (Some(why), true) => {
                    format!("{}: not measured in the {which}: {why}", workload.name)
                }
                _ => format!("{}: only in the {which}", workload.name),
            })
            .collect()
    };
    [told(first, "first"), told(second, "second")].concat()
}

/// What keeps two workloads from being compared, and what is good to know.
pub(super) fn of_workloads(
    (first, old): (&DiskRun, &WorkloadRun),
    (second, new): (&DiskRun, &WorkloadRun),
) -> (Vec<Difference>, Vec<Difference>) {
    let mut obstacles = questions(&old.options, &new.options);
    if tester(first) != tester(second) {
        obstacles.push(difference("tester", tester(first), tester(second), Weight::Question));
    }
    if first.hosts.len() != second.hosts.len() {
        let counts = (first.hosts.len().to_string(), second.hosts.len().to_string());
        obstacles.push(difference("number of hosts", &counts.0, &counts.1, Weight::Question));
    }
    let remarks = REMARKS.iter().filter_map(|name| {
        let (before, after) =
            (old.options.get(name).unwrap_or("–"), new.options.get(name).unwrap_or("–"));
        (before != after && *name != "filename")
            .then(|| difference(name, before, after, Weight::Remark))
    });
    (obstacles, remarks.collect())
}

/// `fio`, whatever its version, or our own engine.
fn tester(run: &DiskRun) -> &str {
    if run.tester.starts_with("fio") { "fio" } else { &run.tester }
}

fn questions(old: &Options, new: &Options) -> Vec<Difference> {
    let (old, new) = (canonical(old), canonical(new));
    let mut all: Vec<Difference> = QUESTION
        .iter()
        .filter_map(|(name, default)| {
            let (before, after) = (old.get(name), new.get(name));
            // Where a record has no options at all (fio --client), nothing can be said.
            if old.0.is_empty() || new.0.is_empty() {
                return None;
            }
            let (a, b) = (before.unwrap_or(default), after.unwrap_or(default));
            (!is_equal(a, b)).then(|| difference(name, a, b, Weight::Question))
        })
        .collect();
    let sizes = (old.get("size").and_then(bytes), new.get("size").and_then(bytes));
    if let (Some(a), Some(b)) = sizes {
        let factor = a as f64 / b as f64;
        if !(1.0 / SIZES..=SIZES).contains(&factor) {
            all.push(difference(
                "size",
                &Bytes(a).to_string(),
                &Bytes(b).to_string(),
                Weight::Question,
            ));
        }
    }
    all
}

/// With one name for each option.
fn canonical(options: &Options) -> Options {
    options
        .iter()
        .map(|(name, value)| {
            let known = OTHER_NAMES
                .iter()
                .find(|(other, _)| *other == name)
                .map_or(name, |(_, known)| known);
            let value = match name {
                "buffered" => {
                    if value == "0" {
                        "1"
                    } else {
                        "0"
                    }
                }
                // A switch without a value is on.
                _ if value.is_empty() => "1",
                _ => value,
            };
            (known.to_owned(), value.to_owned())
        })
        .collect()
}

/// Whether two values mean the same: `4k` is 4096.
fn is_equal(one: &str, other: &str) -> bool {
    one == other || bytes(one).is_some() && bytes(one) == bytes(other)
}

/// A size as fio reads it: K, M, G are powers of 1024 with and without `B`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits_end].parse().ok()?;
    let shift = match text[digits_end..].trim() {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 10,
        "m" | "mb" | "mi" | "mib" => 20,
        "g" | "gb" | "gi" | "gib" => 30,
        "t" | "tb" | "ti" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// What differs between the records as a whole.
pub(super) fn of_runs(first: &DiskRun, second: &DiskRun) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |what: &str, before: Option<String>, after: Option<String>, weight| {
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            all.push(difference(what, &before, &after, weight));
        }
    };
    add("profile", Some(profile(first)), Some(profile(second)), Weight::Remark);
    add("tester", Some(first.tester.clone()), Some(second.tester.clone()), Weight::Remark);
    if let (Some(old), Some(new)) = (&first.target, &second.target) {
        for (what, fact) in FACTS {
            add(what, fact(old), fact(new), Weight::Cause);
        }
        let fill = |target: &Target| Some(fill_percent(target)?.round());
        if let (Some(a), Some(b)) = (fill(old), fill(new))
            && (a - b).abs() >= FILL_PERCENT
        {
            add("fill level", Some(format!("{a} %")), Some(format!("{b} %")), Weight::Cause);
        }
    }
    if let (Some(old), Some(new)) = (&first.machine, &second.machine) {
        add("kernel", Some(old.host.kernel.clone()), Some(new.host.kernel.clone()), Weight::Cause);
        add("CPU", Some(old.host.cpu.clone()), Some(new.host.cpu.clone()), Weight::Cause);
        add(
            "CPUs",
            Some(old.host.cpus.to_string()),
            Some(new.host.cpus.to_string()),
            Weight::Cause,
        );
        add(
            "governor",
            old.frequency_governor.clone(),
            new.frequency_governor.clone(),
            Weight::Cause,
        );
    }
    all.sort_by_key(|difference| difference.weight);
    all
}

/// How full the file system was.
fn fill_percent(target: &Target) -> Option<f64> {
    let (total, free) = (target.total_bytes?, target.free_bytes?);
    (total > 0).then(|| (1.0 - free as f64 / total as f64) * 100.0)
}

type Fact = fn(&Target) -> Option<String>;

const FACTS: &[(&str, Fact)] = &[
    ("device", |target| {
        device(target, |device| device.model.clone().or(Some(device.name.clone())))
    }),
    ("scheduler", |target| device(target, |device| device.scheduler.clone())),
    ("nr_requests", |target| device(target, |device| Some(device.queue_requests?.to_string()))),
    ("write cache", |target| device(target, |device| device.write_cache.clone())),
    ("file system", |target| target.file_system.clone()),
    ("mount options", |target| target.mount_options.clone()),
    ("kind", |target| Some(if target.is_device { "device" } else { "file" }.to_owned())),
    ("page cache", |target| Some(if target.is_direct { "left out" } else { "used" }.to_owned())),
];

fn device(
    target: &Target,
    fact: impl Fn(&crate::disk::record::Device) -> Option<String>,
) -> Option<String> {
    // The last device is the one that stores.
    fact(target.devices.last()?)
}

fn profile(run: &DiskRun) -> String {
    if run.profile.is_empty() { "fullbore's".to_owned() } else { run.profile.clone() }
}

fn difference(what: &str, before: &str, after: &str, weight: Weight) -> Difference {
    Difference { what: what.to_owned(), before: before.to_owned(), after: after.to_owned(), weight }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(lines: &[&str]) -> Options {
        Options(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    #[test]
    fn sizes_and_other_names_that_mean_the_same_are_no_difference() {
        let old = options(&["readwrite=randread", "bs=4k", "direct=1", "iodepth=32"]);
        let new =
            options(&["rw=randread", "blocksize=4096", "buffered=0", "iodepth=32", "numjobs=1"]);
        assert_eq!(questions(&old, &new), []);
    }

    #[test]
    fn another_depth_or_size_is_another_question() {
        let old = options(&["rw=read", "bs=4k", "iodepth=32", "size=1G"]);
        let new = options(&["rw=read", "bs=4k", "iodepth=128", "size=4G"]);
        let found: Vec<_> =
            questions(&old, &new).into_iter().map(|d| (d.what, d.before, d.after)).collect();
        let expected = [("iodepth", "32", "128"), ("size", "1 GiB", "4 GiB")];
        assert_eq!(found, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn what_was_not_written_down_is_no_difference() {
        assert_eq!(questions(&options(&[]), &options(&["rw=write", "bs=1m"])), []);
    }
}
