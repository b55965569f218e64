//! Describes this machine.

use std::fs;
use std::path::Path;

use fullbore_measure::Host;
use rustix::param::page_size;

use crate::root::beginning;
use crate::{Root, cpu_model};

/// Linux's limits on pipes, in its own units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeLimits {
    /// `/proc/sys/fs/pipe-max-size`, in bytes.
    pub max_bytes: Option<u64>,
    /// `/proc/sys/fs/pipe-user-pages-soft`, in pages; 0 means no limit.
    pub user_pages_soft: Option<u64>,
}

/// Reads the limits on pipes; an unreadable limit is `None`.
///
/// Source: pipe(7), "/proc files".
#[must_use]
pub fn pipe_limits(root: &Root) -> PipeLimits {
    let number =
        |name: &str| beginning(&root.path().join("sys/fs").join(name)).ok()?.trim().parse().ok();
    PipeLimits {
        max_bytes: number("pipe-max-size"),
        user_pages_soft: number("pipe-user-pages-soft"),
    }
}

/// Reads the facts a record needs about the machine.
#[must_use]
pub fn host(root: &Root) -> Host {
    let limits = pipe_limits(root);
    let text = |name: &str| beginning(&root.path().join(name)).unwrap_or_default();
    let kib = |line: &str| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok();
    let memory = text("meminfo").lines().find(|line| line.starts_with("MemTotal:")).and_then(kib);
    Host {
        name: text("sys/kernel/hostname").trim().to_owned(),
        kernel: text("sys/kernel/osrelease").trim().to_owned(),
        cpu: cpu(&root.path().join("cpuinfo")).unwrap_or_else(|| "unknown".to_owned()),
        cpus: std::thread::available_parallelism()
            .map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
        memory_bytes: memory.unwrap_or(0).saturating_mul(1024),
        page_bytes: page_size() as u64,
        pipe_max_bytes: limits.max_bytes,
        pipe_user_pages_soft: limits.user_pages_soft,
    }
}

/// The first CPU tells, where it does. Linux takes a millisecond to describe a hundred of them.
fn cpu(path: &Path) -> Option<String> {
    let first = beginning(path).ok()?;
    let whole_lines = first.rfind('\n').map_or("", |end| &first[..end]);
    cpu_model(whole_lines).or_else(|| cpu_model(&fs::read_to_string(path).ok()?))
}

/// Returns the number of clock ticks in a second, the unit of times in [`crate::Stat`].
#[must_use]
pub fn clock_ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_a_cpu_and_memory() {
        let host = host(&Root::system());
        assert!(host.kernel.contains('.'), "{host:?}");
        assert!(
            host.cpus >= 1 && host.memory_bytes > 1 << 20 && host.page_bytes >= 4096,
            "{host:?}"
        );
    }

    #[test]
    fn a_proc_without_the_files_gives_unknown_not_zero() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(pipe_limits(&Root::at(folder.path())), PipeLimits::default());
    }
}
