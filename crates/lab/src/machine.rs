//! Facts about this machine that bear on the numbers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fullbore_codec::Tier;
use fullbore_measure::Bytes;
use fullbore_proc::Root;

use crate::record::{Cache, Machine};

/// Reads what bears on the numbers; what cannot be read is left out. Stages use the kernels of `tier`.
#[must_use]
pub fn machine(tier: Tier, pinned_cpus: &[u32]) -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    Machine {
        host: fullbore_proc::host(&Root::system()),
        tier: tier.to_string(),
        pinned_cpus: pinned_cpus.to_vec(),
        caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
        huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled"),
        reserved_huge_pages: line("/proc/sys/vm/nr_hugepages").and_then(|text| text.parse().ok()),
        mitigations: mitigations(Path::new("/sys/devices/system/cpu/vulnerabilities")),
        frequency_governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        is_virtual: flags
            .map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor")),
    }
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Caches for data, the nearest first.
///
/// Source: Documentation/ABI/stable/sysfs-devices-system-cpu, "cache".
fn caches(folder: &Path) -> Vec<Cache> {
    let cache = |index: u32| {
        let folder = folder.join(format!("index{index}"));
        let kind = line(folder.join("type"))?;
        let size: Bytes = line(folder.join("size"))?.parse().ok()?;
        let suffix = if kind == "Data" { "d" } else { "" };
        let name = format!("L{}{suffix}", line(folder.join("level"))?);
        (kind != "Instruction").then_some(Cache { name, size_bytes: size.0 })
    };
    (0..8).filter_map(cache).collect()
}

fn mitigations(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let known =
        |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, line(entry.path())?));
    entries.filter_map(known).filter(|(_, state)| state != "Not affected").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_read_as_sysfs_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        for (index, kind, level, size) in
            [(0, "Data", 1, "48K"), (1, "Instruction", 1, "32K"), (2, "Unified", 2, "2048K")]
        {
            let index = folder.path().join(format!("index{index}"));
            fs::create_dir(&index).unwrap();
            fs::write(index.join("type"), format!("{kind}\n")).unwrap();
            fs::write(index.join("level"), format!("{level}\n")).unwrap();
            fs::write(index.join("size"), format!("{size}\n")).unwrap();
        }
        let found: Vec<_> =
            caches(folder.path()).into_iter().map(|c| (c.name, c.size_bytes)).collect();
        assert_eq!(found, [("L1d".to_owned(), 48 << 10), ("L2".to_owned(), 2 << 20)]);
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_tier() {
        let machine = machine(Tier::Portable, &[1]);
        assert!(machine.host.kernel.contains('.') && !machine.tier.is_empty(), "{machine:?}");
    }
}
