//! What Linux and the CPU count while a thread and all that it starts run.

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter as Opened, ReadFormat};

use crate::count::{Count, Counter};
use crate::refused::Refused;

/// The counters of a thread and of all threads and processes that it starts from then on.
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
    pub fn of_thread(tid: i32) -> Result<Self, Refused> {
        let mut refused = None;
        let open = |counter: Counter| {
            // Without the kernel's part, what only happens there would be counted as 0.
            let parts = if counter.is_in_kernel() { &[true][..] } else { &[true, false] };
            let opened = parts.iter().find_map(|&with_kernel| {
                let mut builder = builder(counter);
                builder.observe_pid(tid).any_cpu().inherit(true).enabled(true);
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

fn builder(counter: Counter) -> Builder<'static> {
    match counter {
        Counter::Cycles => Builder::new(Hardware::CPU_CYCLES),
        Counter::Instructions => Builder::new(Hardware::INSTRUCTIONS),
        Counter::ReferenceCycles => Builder::new(Hardware::REF_CPU_CYCLES),
        Counter::CacheReferences => Builder::new(Hardware::CACHE_REFERENCES),
        Counter::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
        Counter::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
        Counter::DtlbMisses => Builder::new(Cache {
            which: CacheId::DTLB,
            operation: CacheOp::READ,
            result: CacheResult::MISS,
        }),
        Counter::TaskClock => Builder::new(Software::TASK_CLOCK),
        Counter::PageFaults => Builder::new(Software::PAGE_FAULTS),
        Counter::MajorFaults => Builder::new(Software::PAGE_FAULTS_MAJ),
        Counter::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
        Counter::Migrations => Builder::new(Software::CPU_MIGRATIONS),
    }
}
