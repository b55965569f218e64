//! How much memory this process may still take.

use std::fs::read_to_string;
use std::path::Path;

use crate::{Group, Root};

/// Bytes of memory that are available to this process without swapping: those of the machine, or what its control
/// groups still allow where that is less. `groups` is where these are mounted: `/sys/fs/cgroup`. `None` where
/// `/proc/meminfo` cannot be read.
///
/// The limits of all groups on the way to the root count. What a group uses counts without its page cache, which
/// Linux takes back.
///
/// Source: proc_meminfo(5), MemAvailable; cgroups(7); Documentation/admin-guide/cgroup-v2.rst of Linux, "Memory";
/// cgroup-v1/memory.rst.
#[must_use]
pub fn available_memory(root: &Root, groups: &Path) -> Option<u64> {
    let text = |name: &str| read_to_string(root.path().join(name));
    let machine = field(&text("meminfo").ok()?, "MemAvailable:")? << 10;
    let own = text("self/cgroup").unwrap_or_default();
    let limits = memory_limits(&own, groups).into_iter();
    Some(
        limits
            .map(|limit| limit.limit_bytes.saturating_sub(limit.used_bytes))
            .fold(machine, u64::min),
    )
}

/// A limit that a control group sets to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The group.
    pub group: Group,
    /// The limit, in bytes. Version 1 shows a number close to 2^63 where there is none.
    pub limit_bytes: u64,
    /// What the group uses without its page cache, in bytes; 0, and not looked at, where there is no limit.
    pub used_bytes: u64,
}

/// Lists the limits to memory of a process with this text of `/proc/PID/cgroup`. `groups` is where control groups are mounted.
#[must_use]
pub fn memory_limits(cgroup: &str, groups: &Path) -> Vec<MemoryLimit> {
    crate::groups(cgroup, "memory", groups).into_iter().filter_map(limit).collect()
}

/// A larger limit of version 1 means that there is none.
const NO_LIMIT_BYTES: u64 = 1 << 62;

fn limit(group: Group) -> Option<MemoryLimit> {
    let (limit, usage) = if group.is_v2 {
        ("memory.max", "memory.current")
    } else {
        ("memory.limit_in_bytes", "memory.usage_in_bytes")
    };
    let text = |name: &str| read_to_string(group.folder.join(name));
    let number = |name: &str| text(name).ok()?.trim().parse::<u64>().ok();
    let limit_bytes = number(limit)?;
    if limit_bytes > NO_LIMIT_BYTES {
        // What it uses does not matter, and Linux adds it up only when it is read.
        return Some(MemoryLimit { group, limit_bytes, used_bytes: 0 });
    }
    let cache = text("memory.stat").map_or(0, |text| cache_bytes(&text));
    let used_bytes = number(usage).unwrap_or(0).saturating_sub(cache);
    Some(MemoryLimit { group, limit_bytes, used_bytes })
}

/// Page cache of a group, in both versions of `memory.stat`.
fn cache_bytes(statistics: &str) -> u64 {
    let sum = |names: [&str; 2]| -> Option<u64> {
        names.into_iter().map(|name| field(statistics, name)).sum()
    };
    // In the first version, only the totals include the groups below.
    sum(["total_inactive_file", "total_active_file"])
        .or_else(|| sum(["inactive_file", "active_file"]))
        .unwrap_or(0)
}

/// The number behind a word at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn of(folder: &tempfile::TempDir) -> Option<u64> {
        available_memory(&Root::at(folder.path().join("proc")), &folder.path().join("groups"))
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   8000 kB\n");

    #[test]
    fn without_limits_it_is_what_the_machine_has() {
        let folder = root(&[MACHINE, ("proc/self/cgroup", "0::/a\n")]);
        assert_eq!(of(&folder), Some(8000 << 10));
        assert_eq!(available_memory(&Root::at("/none"), folder.path()), None);
    }

    #[test]
    fn the_tightest_group_on_the_way_to_the_root_counts() {
        let folder = root(&[
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("groups/a/b/memory.max", "max\n"),
            ("groups/a/memory.max", "5000000\n"),
            ("groups/a/memory.current", "3000000\n"),
            ("groups/a/memory.stat", "anon 1\ninactive_file 500000\nactive_file 500000\n"),
        ]);
        assert_eq!(of(&folder), Some(3_000_000));
    }

    #[test]
    fn groups_of_the_first_version_count_too() {
        let folder = root(&[
            MACHINE,
            ("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/a\n0::/\n"),
            ("groups/memory/a/memory.limit_in_bytes", "60000\n"),
            ("groups/memory/a/memory.usage_in_bytes", "12000\n"),
            (
                "groups/memory/a/memory.stat",
                "active_file 1\ninactive_file 1\ntotal_active_file 500\ntotal_inactive_file 1500\n",
            ),
            ("groups/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(of(&folder), Some(50_000));
    }
}
