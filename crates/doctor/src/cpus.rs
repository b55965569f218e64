//! Which CPUs there are, which may be used, and how fast they run.

use fullbore_proc::groups;

use crate::places::cpu_list;
use crate::{Finding, Level, Places};

const FOLDER: &str = "devices/system/cpu";

/// Which CPUs there are, which may be used, and how fast they run.
#[derive(Clone, Debug, Default)]
pub struct Cpus {
    /// Those that this process may use, by number.
    pub usable: Option<Vec<u32>>,
    /// Those that are switched on, as Linux lists them.
    pub online: Option<Vec<u32>>,
    /// Those that the machine has.
    pub present: Option<Vec<u32>>,
    /// Control groups that allow fewer than are switched on: the file, and what it says.
    pub sets: Vec<(String, String)>,
    /// Whether cores run two threads at once.
    pub smt_active: bool,
    /// What Linux was told about that, such as `off`.
    pub smt_control: String,
    /// How CPUs choose their speed, if all do it in the same way: `powersave`.
    pub governor: Option<String>,
    /// What drives that: `intel_pstate`.
    pub driver: Option<String>,
    /// The lowest speed and the highest, in kHz.
    pub range_khz: Option<(u64, u64)>,
}

impl Cpus {
    pub(crate) fn read(from: &mut Places) -> Self {
        let text = from.proc("self/status");
        let is_there = text.is_some();
        let text = text.unwrap_or_default();
        let usable = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let usable = usable.and_then(cpu_list).filter(|cpus| !cpus.is_empty());
        if is_there {
            from.understood("the CPUs that may be used (/proc/self/status)", usable.as_ref());
        }
        let (online, present) = (listed(from, "online"), listed(from, "present"));
        let word = |from: &mut Places, name: &str| {
            let text = from.sys(&format!("{FOLDER}/{name}"));
            text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let policies = from.names(&format!("{FOLDER}/cpufreq"));
        let policy = policies.iter().find(|name| name.starts_with("policy"));
        let of = |from: &mut Places, name: &str| word(from, &format!("cpufreq/{}/{name}", policy?));
        let low = of(from, "scaling_min_freq").and_then(|text| text.parse().ok());
        let high = of(from, "cpuinfo_max_freq").and_then(|text| text.parse().ok());
        let mut cpus = Self {
            usable,
            online,
            present,
            sets: Vec::new(),
            smt_active: word(from, "smt/active").as_deref() == Some("1"),
            smt_control: word(from, "smt/control").unwrap_or_default(),
            governor: of(from, "scaling_governor"),
            driver: of(from, "scaling_driver"),
            range_khz: low.zip(high),
        };
        cpus.read_sets(from);
        cpus
    }

    fn read_sets(&mut self, from: &mut Places) {
        let Some(online) = self.online.clone() else { return };
        let cgroup = from.cgroup();
        let mut groups = groups(&cgroup, "cpuset", &from.groups_mount());
        // A set may hold what the one above it holds, so those above come first.
        groups.sort_by_key(|group| group.folder.components().count());
        groups.dedup();
        for group in groups {
            let Some(text) = from.group(&group.folder, "cpuset.cpus") else { continue };
            let shown = from.shown(&group.folder.join("cpuset.cpus"));
            let set = from.understood(&shown, cpu_list(&text)).unwrap_or_default();
            if !set.is_empty() && online.iter().any(|cpu| !set.contains(cpu)) {
                self.sets.push((shown, text.trim().to_owned()));
            }
        }
    }

    /// How many CPUs this process may use; `None` where that is not known.
    #[must_use]
    pub fn usable_count(&self) -> Option<usize> {
        self.usable.as_ref().map(Vec::len)
    }

    pub(crate) fn examine(&self, findings: &mut Vec<Finding>) {
        self.affinity(findings);
        self.switched_off(findings);
        self.speed(findings);
        if let Some(online) = self.online.as_ref().filter(|_| self.smt_active) {
            let what = format!("the {} CPUs are threads; some share a core", online.len());
            let so = "Two busy stages on one core slow each other down. This shows which CPUs share one:";
            findings
                .push(Finding::new("smt", Level::Note, what).so(so).command("lscpu -e=CPU,CORE"));
        }
    }

    fn affinity(&self, findings: &mut Vec<Finding>) {
        let (Some(usable), Some(online)) = (&self.usable, &self.online) else { return };
        let allowed = usable.iter().filter(|cpu| online.contains(cpu)).count();
        if allowed >= online.len() {
            return;
        }
        let what = format!("programs started here may use {allowed} of {} CPUs", online.len());
        let so = "Stages that could run at once share them; nothing that deals out work over CPUs gains more.";
        let mut finding = Finding::new("cpus", Level::Costs, what).so(so);
        let (all, few) = (as_list(online), as_list(usable));
        for (file, now) in &self.sets {
            finding = finding.write(file, now, &all);
        }
        if self.sets.is_empty() {
            finding = finding
                .command(format!("taskset -pc {all} $$"))
                .undo(format!("taskset -pc {few} $$"));
        }
        findings.push(finding);
    }

    fn switched_off(&self, findings: &mut Vec<Finding>) {
        let (Some(online), Some(present)) = (&self.online, &self.present) else { return };
        let off: Vec<u32> = present.iter().copied().filter(|cpu| !online.contains(cpu)).collect();
        if off.is_empty() {
            return;
        }
        let what =
            format!("{} of {} CPUs are switched off: {}", off.len(), present.len(), as_list(&off));
        let so = "Stages that could run at once share the others.";
        let finding = Finding::new("cpus_off", Level::Costs, what).so(so);
        findings.push(if matches!(self.smt_control.as_str(), "off" | "forceoff") {
            let so = "Cores run one thread each, as this machine is set up; with two, more stages run at once, each more slowly.";
            let finding = Finding { level: Level::Note, ..finding }.so(so);
            finding.write(format!("/sys/{FOLDER}/smt/control"), "off", "on")
        } else {
            let files = |value| format!("for n in {}; do echo {value} | sudo tee /sys/{FOLDER}/cpu$n/online; done", words(&off));
            finding.command(files(1)).undo(files(0))
        });
    }

    fn speed(&self, findings: &mut Vec<Finding>) {
        let Some(governor) = &self.governor else { return };
        let driver = self.driver.as_deref().unwrap_or("");
        // These choose the speed themselves; powersave is their usual mode.
        let is_own_master = driver == "intel_pstate"
            || driver.starts_with("amd-pstate")
            || driver.starts_with("amd_pstate");
        let all = |governor: &str| {
            format!("echo {governor} | sudo tee /sys/{FOLDER}/cpufreq/policy*/scaling_governor")
        };
        match governor.as_str() {
            "powersave" if !is_own_master => {
                let what = "the CPUs run at their lowest speed (governor powersave)";
                let so = self.range_khz.map_or_else(
                    || "Everything takes longer.".to_owned(),
                    |(low, high)| format!("That is {} of {} GHz.", giga(low), giga(high)),
                );
                let finding = Finding::new("governor", Level::Costs, what).so(so);
                findings.push(finding.command(all("performance")).undo(all("powersave")));
            }
            "schedutil" | "ondemand" | "conservative" => {
                let what =
                    format!("the CPUs run faster only once they are busy (governor {governor})");
                let so = "Stages that often wait may run slowly, and short measurements vary. fullbore has not measured how much.";
                let finding = Finding::new("governor", Level::Note, what).so(so);
                findings.push(finding.command(all("performance")).undo(all(governor)));
            }
            _ => {}
        }
    }
}

fn listed(from: &mut Places, name: &str) -> Option<Vec<u32>> {
    let text = from.sys_everywhere(&format!("{FOLDER}/{name}"))?;
    let cpus = cpu_list(&text).filter(|cpus| !cpus.is_empty());
    from.understood(&format!("/sys/{FOLDER}/{name}"), cpus)
}

fn giga(khz: u64) -> String {
    format!("{:.1}", khz as f64 / 1e6)
}

fn words(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// As Linux writes it: `0-3,8`.
fn as_list(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => parts.push((*cpu, *cpu)),
        }
    }
    let text = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}
