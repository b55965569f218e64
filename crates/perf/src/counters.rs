//! What Linux and the CPU count while a process and its descendants run.

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter as Opened, ReadFormat};

use crate::refused::Refused;

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Counter {
    /// Cycles of the CPU's core.
    Cycles,
    /// Instructions that were completed.
    Instructions,
    /// Cycles of a clock that always has the same frequency.
    ReferenceCycles,
    /// Accesses to the last cache.
    CacheReferences,
    /// … that did not find their data there.
    CacheMisses,
    /// Branches that went another way than predicted.
    BranchMisses,
    /// Loads whose address was not in the data TLB.
    DtlbMisses,
    /// Time on a CPU, in nanoseconds.
    TaskClock,
    /// Pages that were not mapped when they were used.
    PageFaults,
    /// … and had to come from a disk.
    MajorFaults,
    /// Times a thread left its CPU.
    ContextSwitches,
    /// Times a thread went to another CPU.
    Migrations,
}

impl Counter {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Cycles,
        Self::Instructions,
        Self::ReferenceCycles,
        Self::CacheReferences,
        Self::CacheMisses,
        Self::BranchMisses,
        Self::DtlbMisses,
        Self::TaskClock,
        Self::PageFaults,
        Self::MajorFaults,
        Self::ContextSwitches,
        Self::Migrations,
    ];

    /// Whether the CPU counts it, and not Linux.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        self < Self::TaskClock
    }

    fn builder(self) -> Builder<'static> {
        match self {
            Self::Cycles => Builder::new(Hardware::CPU_CYCLES),
            Self::Instructions => Builder::new(Hardware::INSTRUCTIONS),
            Self::ReferenceCycles => Builder::new(Hardware::REF_CPU_CYCLES),
            Self::CacheReferences => Builder::new(Hardware::CACHE_REFERENCES),
            Self::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
            Self::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
            Self::DtlbMisses => Builder::new(Cache {
                which: CacheId::DTLB,
                operation: CacheOp::READ,
                result: CacheResult::MISS,
            }),
            Self::TaskClock => Builder::new(Software::TASK_CLOCK),
            Self::PageFaults => Builder::new(Software::PAGE_FAULTS),
            Self::MajorFaults => Builder::new(Software::PAGE_FAULTS_MAJ),
            Self::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
            Self::Migrations => Builder::new(Software::CPU_MIGRATIONS),
        }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub value: u64,
    /// How long it was to be counted, in nanoseconds.
    pub enabled_ns: u64,
    /// How long it was: where there are more counters than the CPU has places, they take turns.
    pub running_ns: u64,
}

impl Count {
    /// What would have been counted without taking turns; `None` if it never was counted.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    pub fn scaled(self) -> Option<u64> {
        match self.running_ns {
            0 if self.enabled_ns > 0 => None,
            running_ns if running_ns >= self.enabled_ns => Some(self.value),
            running_ns => {
                Some((self.value as f64 * self.enabled_ns as f64 / running_ns as f64) as u64)
            }
        }
    }
}

/// The counters of a process and of all that it starts.
pub struct Counters(Vec<(Counter, Opened)>);

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(counter, _)| counter)).finish()
    }
}

impl Counters {
    /// Counts from now on. Counters that this machine does not have, or that may not be used, are left out.
    ///
    /// # Errors
    /// Where none can be had.
    pub fn of_process(pid: i32) -> Result<Self, Refused> {
        let mut refused = None;
        let open = |counter: Counter| {
            let opened = [true, false].into_iter().find_map(|with_kernel| {
                let mut builder = counter.builder();
                builder.observe_pid(pid).any_cpu().inherit(true).enabled(true);
                builder
                    .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
                builder.exclude_hv(true).exclude_kernel(!with_kernel);
                builder.build().map_err(|error| refused = Some(error)).ok()
            })?;
            Some((counter, opened))
        };
        let opened: Vec<_> = Counter::ALL.into_iter().filter_map(open).collect();
        match refused {
            Some(error) if opened.is_empty() => Err(Refused::new("perf_event_open", error)),
            _ => Ok(Self(opened)),
        }
    }

    /// What was counted so far; those of processes that have ended are in it.
    pub fn read(&mut self) -> Vec<(Counter, Count)> {
        let read = |(counter, opened): &mut (Counter, Opened)| {
            let data = opened.read_full().ok()?;
            let ns = |time: Option<std::time::Duration>| {
                time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
            };
            let (enabled_ns, running_ns) = (ns(data.time_enabled()), ns(data.time_running()));
            Some((*counter, Count { value: data.count(), enabled_ns, running_ns }))
        };
        self.0.iter_mut().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_turns_is_scaled_and_what_never_ran_is_unknown() {
        let count = |enabled_ns, running_ns| Count { value: 100, enabled_ns, running_ns };
        assert_eq!(count(1000, 1000).scaled(), Some(100));
        assert_eq!(count(1000, 250).scaled(), Some(400));
        assert_eq!(count(1000, 0).scaled(), None);
        assert_eq!(Count::default().scaled(), Some(0));
    }
}
