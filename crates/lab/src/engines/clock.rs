//! What a process or a thread used between two moments: time, CPU time, switches, faults; and its peak memory.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::counters::{Counted, Counters};

/// What was used between two moments, with the moments themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Usage {
    /// CLOCK_MONOTONIC at the beginning: the same clock in every process.
    pub(super) start_ns: u64,
    /// The same at the end.
    pub(super) end_ns: u64,
    /// CPU time, user and system; of a process with its children that were waited for.
    pub(super) cpu_ns: u64,
    /// Largest resident memory in the life of the process.
    pub(super) peak_memory_bytes: Option<u64>,
    /// Times it gave its CPU up to wait.
    pub(super) voluntary_switches: u64,
    /// Times its CPU was taken away.
    pub(super) involuntary_switches: u64,
    /// Page faults without a disk.
    pub(super) minor_faults: u64,
    /// Page faults that waited for a disk.
    pub(super) major_faults: u64,
    /// Anonymous memory of the process on huge pages at the end.
    pub(super) huge_page_bytes: Option<u64>,
    /// Times it was moved to another CPU; `None` when the kernel does not count it (CONFIG_SCHED_DEBUG).
    pub(super) migrations: Option<u64>,
    /// Counters of the processor; empty unless they were asked for.
    pub(super) counted: Counted,
}

/// Whose usage it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Process,
    Thread,
}

/// Work that began.
#[derive(Debug)]
pub(super) struct Begun {
    whose: Whose,
    before: Usage,
    counters: Counters,
}

impl Begun {
    /// The moment at which the work of this process begins; it has one thread then.
    pub(super) fn process(counters: Counters) -> Self {
        Self::new(Whose::Process, counters)
    }

    /// The moment at which the work of this thread begins.
    pub(super) fn thread(counters: Counters) -> Self {
        Self::new(Whose::Thread, counters)
    }

    fn new(whose: Whose, mut counters: Counters) -> Self {
        let mut before = Usage::totals(whose);
        counters.start();
        before.start_ns = now_ns(ClockId::Monotonic);
        Self { whose, before, counters }
    }

    /// What was used since.
    pub(super) fn end(self) -> Usage {
        // The clock first: asking for the rest takes time.
        let end_ns = now_ns(ClockId::Monotonic);
        let counted = self.counters.stop();
        let (total, before) = (Usage::totals(self.whose), self.before);
        Usage {
            start_ns: before.start_ns,
            end_ns,
            cpu_ns: total.cpu_ns - before.cpu_ns,
            peak_memory_bytes: peak_memory_bytes(),
            huge_page_bytes: huge_page_bytes(),
            voluntary_switches: total.voluntary_switches - before.voluntary_switches,
            involuntary_switches: total.involuntary_switches - before.involuntary_switches,
            minor_faults: total.minor_faults - before.minor_faults,
            major_faults: total.major_faults - before.major_faults,
            migrations: total.migrations.zip(before.migrations).map(|(now, then)| now - then),
            counted,
        }
    }
}

impl Usage {
    fn totals(whose: Whose) -> Self {
        let (who, cpu_ns) = match whose {
            Whose::Process => {
                (UsageWho::RUSAGE_SELF, now_ns(ClockId::ProcessCPUTime) + children_cpu_ns())
            }
            Whose::Thread => (UsageWho::RUSAGE_THREAD, now_ns(ClockId::ThreadCPUTime)),
        };
        let migrations = migrations();
        let own = getrusage(who).ok();
        let count = |of: fn(&nix::sys::resource::Usage) -> i64| {
            own.as_ref().and_then(|usage| u64::try_from(of(usage)).ok()).unwrap_or(0)
        };
        Self {
            voluntary_switches: count(nix::sys::resource::Usage::voluntary_context_switches),
            involuntary_switches: count(nix::sys::resource::Usage::involuntary_context_switches),
            minor_faults: count(nix::sys::resource::Usage::minor_page_faults),
            major_faults: count(nix::sys::resource::Usage::major_page_faults),
            migrations,
            cpu_ns,
            ..Self::default()
        }
    }

    /// All that was counted, by name; `None` where it is not known.
    pub(super) fn counters(&self) -> BTreeMap<String, Option<u64>> {
        let own = [
            ("voluntary_switches", Some(self.voluntary_switches)),
            ("involuntary_switches", Some(self.involuntary_switches)),
            ("migrations", self.migrations),
            ("minor_faults", Some(self.minor_faults)),
            ("major_faults", Some(self.major_faults)),
            ("huge_page_bytes", self.huge_page_bytes),
        ];
        let own = own.into_iter().map(|(name, count)| (name.to_owned(), count));
        let mut all: BTreeMap<String, Option<u64>> = own.collect();
        for (name, count) in &self.counted {
            let known = all.entry(name.clone()).or_default();
            // The counter has threads and children, too.
            *known = count.as_ref().ok().copied().or(*known);
        }
        all
    }

    /// Why counters that were asked for are not there; what is known from elsewhere is not missing.
    pub(super) fn missing(&self) -> BTreeMap<String, String> {
        let known = self.counters();
        let why = |(name, count): (&String, &Result<u64, String>)| {
            Some((name.clone(), count.as_ref().err()?.clone()))
        };
        let is_missing = |(name, _): &(String, String)| known.get(name).is_none_or(Option::is_none);
        self.counted.iter().filter_map(why).filter(is_missing).collect()
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

/// Source: `/proc/thread-self/sched`, `se.nr_migrations`.
fn migrations() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/sched").ok()?;
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_between_two_moments_is_counted_and_waiting_is_not() {
        let begin = Begun::process(Counters::none());
        let mut sum = 0_u64;
        while now_ns(ClockId::ProcessCPUTime) - begin.before.cpu_ns < 5_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(3) + 1);
        }
        let used = begin.end();
        assert!(used.cpu_ns >= 5_000_000, "{used:?}");
        assert!(used.end_ns > used.start_ns, "{used:?}");
        assert!(used.peak_memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{used:?}");
    }

    #[test]
    fn a_counter_of_the_processor_is_known_or_has_a_reason_and_leaves_the_others() {
        let begin = Begun::thread(Counters::open());
        drop(std::hint::black_box(vec![1_u8; 8 << 20]));
        let used = begin.end();
        let (counters, missing) = (used.counters(), used.missing());
        for name in ["dtlb_load_misses", "cache_misses", "cycles", "migrations"] {
            assert_ne!(
                counters[name].is_some(),
                missing.contains_key(name),
                "{counters:?} {missing:?}"
            );
        }
        assert!(counters["minor_faults"].is_some_and(|faults| faults > 0), "{counters:?}");
    }
}
