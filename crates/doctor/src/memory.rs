//! Memory: what control groups allow, huge pages, swap.

use fullbore_measure::Bytes;
use fullbore_proc::memory_limits;

use crate::{Finding, Level, Places};

/// Less of a limit, in percent, is nearly nothing.
const LITTLE_PERCENT: u64 = 10;
/// Swap in use is worth a word from this share of memory on, in percent.
const MUCH_SWAP_PERCENT: u64 = 25;

/// A limit to the memory of a control group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMemory {
    /// The file that sets it.
    pub file: String,
    /// The limit, in bytes.
    pub limit_bytes: u64,
    /// What the group uses without its page cache, in bytes.
    pub used_bytes: u64,
    /// Programs of the group that were killed because of it.
    pub killed: u64,
}

/// Memory: what control groups allow, huge pages, swap.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Memory in the machine, in bytes.
    pub total_bytes: Option<u64>,
    /// Memory that is available without swapping, in bytes.
    pub available_bytes: Option<u64>,
    /// Swap in use, in bytes.
    pub swapped_bytes: Option<u64>,
    /// Limits of control groups that are below the machine's memory.
    pub limits: Vec<GroupMemory>,
    /// Groups above `memory.high`: the file, its value, and how often Linux stopped the group to take memory back.
    pub slowed: Vec<(String, String, u64)>,
    /// Which memory gets huge pages: `always`, `madvise` or `never`; `None` where it is not known.
    pub huge_pages: Option<String>,
}

impl Memory {
    pub(crate) fn read(from: &mut Places) -> Self {
        let text = from.proc("meminfo");
        let is_there = text.is_some();
        let text = text.unwrap_or_default();
        let kib = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
        };
        let total_bytes = kib("MemTotal");
        let available_bytes = kib("MemAvailable");
        if is_there {
            from.understood("/proc/meminfo", total_bytes.and(available_bytes));
        }
        let swapped_bytes =
            kib("SwapTotal").zip(kib("SwapFree")).map(|(all, free)| all.saturating_sub(free));
        let cgroup = from.cgroup();
        let mut memory = Self { total_bytes, available_bytes, swapped_bytes, ..Self::default() };
        memory.read_groups(from, &cgroup);
        memory.huge_pages =
            from.sys_everywhere("kernel/mm/transparent_hugepage/enabled").and_then(|text| {
                let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                let chosen = chosen.map(|(chosen, _)| chosen.to_owned());
                from.understood("/sys/kernel/mm/transparent_hugepage/enabled", chosen)
            });
        memory
    }

    fn read_groups(&mut self, from: &mut Places, cgroup: &str) {
        let mount = from.groups_mount();
        for group in fullbore_proc::groups(cgroup, "memory", &mount) {
            let name = if group.is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
            if let Some(text) = from.group(&group.folder, name) {
                let is_understood = text.trim() == "max" || text.trim().parse::<u64>().is_ok();
                let shown = from.shown(&group.folder.join(name));
                from.understood(&shown, is_understood.then_some(()));
            }
        }
        for limit in memory_limits(cgroup, &mount) {
            let is_v2 = limit.group.is_v2;
            let folder = &limit.group.folder;
            let events = if is_v2 { "memory.events" } else { "memory.oom_control" };
            let events = from.group(folder, events).unwrap_or_default();
            let name = if is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
            // Version 1 shows a number that no machine reaches where there is no limit.
            if self.total_bytes.is_none_or(|total| limit.limit_bytes < total)
                && limit.limit_bytes < 1 << 60
            {
                self.limits.push(GroupMemory {
                    file: from.shown(&folder.join(name)),
                    limit_bytes: limit.limit_bytes,
                    used_bytes: limit.used_bytes,
                    killed: event(&events, "oom_kill"),
                });
            }
        }
        for group in
            fullbore_proc::groups(cgroup, "memory", &mount).into_iter().filter(|group| group.is_v2)
        {
            let Some(high) = from.group(&group.folder, "memory.high") else { continue };
            let events = from.group(&group.folder, "memory.events").unwrap_or_default();
            let stopped = event(&events, "high");
            if high.trim() != "max" && stopped > 0 {
                let file = from.shown(&group.folder.join("memory.high"));
                self.slowed.push((file, high.trim().to_owned(), stopped));
            }
        }
        self.limits.sort_by_key(|limit| limit.limit_bytes.saturating_sub(limit.used_bytes));
    }

    pub(crate) fn examine(&self, findings: &mut Vec<Finding>) {
        self.groups(findings);
        self.swap(findings);
        if self.huge_pages.as_deref() == Some("never") {
            let so = "Stages such as gen and morse copy their output instead of lending it: into a reader that discards, lending is \
                      about 5 times as fast.";
            let what = "no program gets huge pages (transparent_hugepage is never)";
            let finding =
                Finding::new("huge_pages", Level::Costs, what).so(so).source("docs/zero-copy.md");
            findings.push(finding.write(
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "never",
                "madvise",
            ));
        }
    }

    fn groups(&self, findings: &mut Vec<Finding>) {
        if let Some((file, high, stopped)) = self.slowed.first() {
            let what = format!(
                "Linux stopped this control group {stopped} times to take memory back (memory.high is {high})"
            );
            let so =
                "Programs that need more memory than that run slowly, sort and buffer among them.";
            findings.push(
                Finding::new("memory_high", Level::Costs, what).so(so).write(file, high, "max"),
            );
        }
        let Some(tightest) = self.limits.first() else { return };
        let left = tightest.limit_bytes.saturating_sub(tightest.used_bytes);
        let (limit, killed) = (Bytes(tightest.limit_bytes), tightest.killed);
        let is_little = left < tightest.limit_bytes / 100 * LITTLE_PERCENT;
        if !is_little && killed == 0 {
            return;
        }
        let mut what =
            format!("a control group allows {limit} of memory, of which {} are left", Bytes(left));
        if killed > 0 {
            what.push_str(&format!(
                "; Linux has killed {killed} of its programs for want of memory"
            ));
        }
        let so = "Programs such as sort choose their memory by that of the machine; beyond the limit, Linux writes pages back, swaps, or \
                  kills a program.";
        let wanted = if tightest.file.ends_with("memory.max") { "max" } else { "-1" };
        let finding = Finding::new("memory_limit", Level::Costs, what).so(so);
        findings.push(finding.write(&tightest.file, tightest.limit_bytes, wanted));
    }

    fn swap(&self, findings: &mut Vec<Finding>) {
        let (Some(total), Some(available)) = (self.total_bytes, self.available_bytes) else {
            return;
        };
        let swapped = self.swapped_bytes.unwrap_or(0);
        let is_little = available < total / 100 * LITTLE_PERCENT;
        let is_much = swapped > total / 100 * MUCH_SWAP_PERCENT;
        if !is_little && !is_much {
            return;
        }
        let level = if is_little { Level::Costs } else { Level::Note };
        let (left, of, out) = (Bytes(available), Bytes(total), Bytes(swapped));
        let what = format!("{left} of {of} of memory are available, and {out} are swapped out");
        let so = if is_little {
            "A pipeline that needs more waits for the disk. These programs use most:"
        } else {
            "A program that was swapped out waits for the disk when it is needed again. These use most memory:"
        };
        let finding = Finding::new("memory", level, what).so(so);
        findings.push(finding.command("ps -eo rss,pid,args --sort=-rss | head -6"));
    }
}

/// The number behind a word at the beginning of a line; 0 where there is none.
fn event(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().map(str::split_whitespace);
    let found = lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next())?);
    found.and_then(|word| word.parse().ok()).unwrap_or(0)
}
