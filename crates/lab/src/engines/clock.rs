//! What a process used between two moments: time, CPU time, switches, faults; and its peak memory.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Differences between two moments of this process, with the moments themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Usage {
    /// CLOCK_MONOTONIC at the beginning: the same clock in every process.
    pub(super) start_ns: u64,
    /// The same at the end.
    pub(super) end_ns: u64,
    /// CPU time of this process, user and system, and of its children that were waited for.
    pub(super) cpu_ns: u64,
    /// Largest resident memory in the life of the process.
    pub(super) peak_memory_bytes: Option<u64>,
    /// Times it gave its CPU up to wait.
    pub(super) voluntary_switches: u64,
    /// Times its CPU was taken away.
    pub(super) involuntary_switches: u64,
    /// Page faults without a disk.
    pub(super) minor_faults: u64,
    /// Anonymous memory on huge pages at the end.
    pub(super) huge_page_bytes: Option<u64>,
    /// Times it was moved to another CPU; `None` when the kernel does not count it (CONFIG_SCHED_DEBUG).
    pub(super) migrations: Option<u64>,
}

impl Usage {
    /// The moment at which the work begins.
    pub(super) fn begin() -> Self {
        let mut now = Self::totals();
        now.start_ns = now_ns(ClockId::Monotonic);
        now
    }

    /// What was used since.
    pub(super) fn end(self) -> Self {
        // The clock first: asking for the rest takes time.
        let end_ns = now_ns(ClockId::Monotonic);
        let total = Self::totals();
        Self {
            start_ns: self.start_ns,
            end_ns,
            cpu_ns: total.cpu_ns - self.cpu_ns,
            peak_memory_bytes: peak_memory_bytes(),
            huge_page_bytes: huge_page_bytes(),
            voluntary_switches: total.voluntary_switches - self.voluntary_switches,
            involuntary_switches: total.involuntary_switches - self.involuntary_switches,
            minor_faults: total.minor_faults - self.minor_faults,
            migrations: total.migrations.zip(self.migrations).map(|(now, then)| now - then),
        }
    }

    fn totals() -> Self {
        let migrations = migrations();
        let own = getrusage(UsageWho::RUSAGE_SELF).ok();
        let count = |of: fn(&nix::sys::resource::Usage) -> i64| {
            own.as_ref().and_then(|usage| u64::try_from(of(usage)).ok()).unwrap_or(0)
        };
        Self {
            voluntary_switches: count(nix::sys::resource::Usage::voluntary_context_switches),
            involuntary_switches: count(nix::sys::resource::Usage::involuntary_context_switches),
            minor_faults: count(nix::sys::resource::Usage::minor_page_faults),
            migrations,
            cpu_ns: now_ns(ClockId::ProcessCPUTime) + children_cpu_ns(),
            ..Self::default()
        }
    }
}

/// Nanoseconds on a clock.
pub(super) fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let (seconds, rest) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0) * 1_000_000_000 + rest.unwrap_or(0)
}

fn children_cpu_ns() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return 0;
    };
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    u64::try_from(microseconds).unwrap_or(0) * 1000
}

fn peak_memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    fullbore_proc::Status::parse(&text).peak_memory_bytes
}

/// Source: `/proc/self/smaps_rollup`, `AnonHugePages`.
fn huge_page_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Source: `/proc/self/sched`, `se.nr_migrations`.
fn migrations() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/sched").ok()?;
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_between_two_moments_is_counted_and_waiting_is_not() {
        let begin = Usage::begin();
        let mut sum = 0_u64;
        while now_ns(ClockId::ProcessCPUTime) - begin.cpu_ns < 5_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(3) + 1);
        }
        let used = begin.end();
        assert!(used.cpu_ns >= 5_000_000, "{used:?}");
        assert!(used.end_ns > used.start_ns, "{used:?}");
        assert!(used.peak_memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{used:?}");
    }
}
