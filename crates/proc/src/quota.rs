//! Reads control groups: whether a CPU quota limits this process.

use std::path::Path;

use crate::groups::{Group, groups};

/// Where control groups are mounted: all of version 2, or a folder for each controller of version 1 and one for version 2.
const MOUNT: &str = "/sys/fs/cgroup";

/// Tells whether a process with this text of `/proc/PID/cgroup` has a CPU quota: in its own group or one above it, of either
/// version. `read` gives the text of a file, or `None` where there is none.
///
/// Source: Documentation/admin-guide/cgroup-v2.rst, "cpu.max"; Documentation/scheduler/sched-bwc.rst.
#[must_use]
pub fn has_cpu_quota(cgroup: &str, read: impl Fn(&Path) -> Option<String>) -> bool {
    let limits = |group: Group| {
        let file = group.folder.join(if group.is_v2 { "cpu.max" } else { "cpu.cfs_quota_us" });
        let text = read(&file);
        let first = text.as_deref().and_then(|text| text.split_ascii_whitespace().next());
        // "max 100000" and "-1" are no quota.
        first.and_then(|word| word.parse::<i64>().ok()).is_some_and(|quota_us| quota_us >= 0)
    };
    groups(cgroup, "cpu", Path::new(MOUNT)).into_iter().any(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a process of these groups has a quota where these files exist.
    fn has(cgroup: &str, files: &[(&str, &str)]) -> bool {
        has_cpu_quota(cgroup, |path| {
            let mut found = files.iter().filter(|(file, _)| Path::new(file) == path);
            found.next().map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_quota_of_a_group_or_of_one_above_it_counts() {
        let group = "0::/user.slice/job\n";
        assert!(!has(group, &[]));
        assert!(!has(group, &[("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n")]));
        assert!(has(group, &[("/sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n")]));
        assert!(has(group, &[("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n")]));
        assert!(!has(group, &[("/sys/fs/cgroup/system.slice/cpu.max", "50000 100000\n")]));
    }

    #[test]
    fn a_container_that_sees_the_path_of_its_host_asks_the_mounted_root() {
        let group = "0::/docker/0123\n";
        assert!(has(group, &[("/sys/fs/cgroup/cpu.max", "200000 100000\n")]));
    }

    #[test]
    fn the_first_version_has_quotas_of_its_own() {
        let groups = "3:cpuset:/\n2:cpu,cpuacct:/job\n0::/\n";
        assert!(!has(groups, &[("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n")]));
        assert!(has(groups, &[("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "20000\n")]));
        assert!(has(groups, &[("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "20000\n")]));
        assert!(!has(groups, &[("/sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "20000\n")]));
    }
}
