//! Quotas of CPU time.

use fullbore_proc::{Group, groups};

use crate::{Finding, Level, Places};

/// How often a quota stopped a control group since the group was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which the group ran.
    pub periods: u64,
    /// Periods in which it was stopped.
    pub stopped: u64,
}

/// A quota of CPU time of a control group.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// The file that sets it.
    pub file: String,
    /// What the file says.
    pub text: String,
    /// So many CPUs' time.
    pub cpus: f64,
    /// How often it stopped the group.
    pub throttled: Throttled,
    /// Whether the file is that of version 2.
    pub is_v2: bool,
    /// Whether it is set from outside, for a container.
    pub is_outside: bool,
}

impl Quota {
    /// All quotas that this process is under, the tightest first.
    pub(crate) fn read(from: &mut Places) -> Vec<Self> {
        let cgroup = from.cgroup();
        let groups = groups(&cgroup, "cpu", &from.groups_mount());
        let mut quotas: Vec<Self> =
            groups.iter().filter_map(|group| Self::of(from, group)).collect();
        quotas.sort_by(|a, b| a.cpus.total_cmp(&b.cpus));
        quotas.dedup_by(|a, b| a.file == b.file);
        quotas
    }

    fn of(from: &mut Places, group: &Group) -> Option<Self> {
        let name = if group.is_v2 { "cpu.max" } else { "cpu.cfs_quota_us" };
        let text = from.group(&group.folder, name)?.trim().to_owned();
        let file = from.shown(&group.folder.join(name));
        let (quota, period) = if group.is_v2 {
            let mut words = text.split_whitespace();
            (
                words.next().unwrap_or_default().to_owned(),
                words.next().unwrap_or("100000").to_owned(),
            )
        } else {
            let period = from.group(&group.folder, "cpu.cfs_period_us").unwrap_or_default();
            (text.clone(), period.trim().to_owned())
        };
        if quota == "max" || quota == "-1" {
            return None;
        }
        let numbers = quota.parse::<u64>().ok().zip(period.parse::<u64>().ok());
        let valid = numbers.filter(|(quota, period)| *quota > 0 && *period > 0);
        let (quota, period) = from.understood(&file, valid)?;
        let stat = from.group(&group.folder, "cpu.stat").unwrap_or_default();
        let number = |name: &str| {
            let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        let throttled =
            Throttled { periods: number("nr_periods"), stopped: number("nr_throttled") };
        let (cpus, is_v2, is_outside) = (quota as f64 / period as f64, group.is_v2, group.is_mount);
        Some(Self { file, text, cpus, throttled, is_v2, is_outside })
    }

    /// Names the tightest quota, and how to lift all that are below the CPUs that may be used.
    pub(crate) fn examine(quotas: &[Self], usable: Option<usize>, findings: &mut Vec<Finding>) {
        let Some(tightest) = quotas.first() else { return };
        let is_below = |quota: &&Self| usable.is_none_or(|usable| quota.cpus < usable as f64);
        let stopped = tightest.throttled.stopped;
        if !is_below(&tightest) && stopped == 0 {
            return;
        }
        let of = usable.map_or_else(String::new, |usable| format!(" of {usable}"));
        let mut what = format!("a control group allows {}{of} CPUs' time", short(tightest.cpus));
        if stopped > 0 {
            let periods = tightest.throttled.periods;
            what.push_str(&format!("; it was stopped in {stopped} of {periods} periods"));
        }
        let so = "All stages together get no more CPU time than that; when it is used up, all of them stand still until the next period.";
        let mut finding = Finding::new("cpu_quota", Level::Costs, what).so(so);
        for quota in quotas.iter().filter(|quota| is_below(quota) || *quota == tightest) {
            finding = quota.lifted(finding, usable);
        }
        findings.push(finding);
    }

    fn lifted(&self, finding: Finding, usable: Option<usize>) -> Finding {
        if self.is_outside {
            // The group of a container is set by whoever started it.
            let wanted = usable.unwrap_or(1);
            return finding
                .command(format!("docker update --cpus {wanted} CONTAINER    # on the host"))
                .undo(format!(
                    "docker update --cpus {} CONTAINER    # on the host",
                    short(self.cpus)
                ));
        }
        if self.is_v2 {
            return finding
                .command(format!("echo max | sudo tee {}", self.file))
                .undo(format!("echo '{}' | sudo tee {}", self.text, self.file));
        }
        finding.write(&self.file, &self.text, "-1")
    }
}

/// A number of CPUs with at most two decimal places.
fn short(cpus: f64) -> String {
    let text = format!("{cpus:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
