//! Counters of the CPU and of Linux, for each stage.
//!
//! They are opened when a stage is found, for each thread that its first process has then, and count for all that these start
//! from then on. What was missed before, and while counters took turns, is estimated from the CPU time that Linux counts in any case.

use std::collections::BTreeMap;

use fullbore_perf::{Count, Counter, Counters};
use fullbore_proc::Root;
use fullbore_record::{RunRecord, StageCounters};

use crate::summarise::Numbers;
use crate::topology::Topology;

/// The counters of a run.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// Of each stage, those of its threads.
    stages: BTreeMap<usize, Vec<Counters>>,
    /// Why there are none.
    refused: Option<String>,
}

/// No more threads are counted of all stages together: each takes a dozen descriptors.
const COUNTED_MAX: usize = 64;

/// Nor more of a stage that has them when it is found.
const THREADS_MAX: usize = 32;

impl Counting {
    /// A stage was found; `pid` is its first process.
    pub(crate) fn begin(&mut self, stage: usize, pid: i32) {
        // Listed once: what one of these threads starts after its counters were opened is counted by them.
        for tid in Root::system().threads(pid) {
            if let Err(why) = self.begin_thread(stage, tid) {
                self.refused.get_or_insert(why);
                return;
            }
        }
    }

    fn begin_thread(&mut self, stage: usize, tid: i32) -> Result<(), String> {
        let all: usize = self.stages.values().map(Vec::len).sum();
        let counted = self.stages.entry(stage).or_default();
        if all >= COUNTED_MAX || counted.len() >= THREADS_MAX {
            return Err(format!(
                "only the first {COUNTED_MAX} stages and threads are counted, of one stage {THREADS_MAX} threads"
            ));
        }
        match Counters::of_thread(tid) {
            Ok(counters) => counted.push(counters),
            // What ended at once is no reason to say anything.
            Err(why) if why.is_about_a_process() => {}
            Err(why) => return Err(why.to_string()),
        }
        Ok(())
    }

    /// Puts what was counted into the record of a run that has ended.
    pub(crate) fn finish(mut self, record: &mut RunRecord, topology: &Topology, numbers: &Numbers) {
        let mut sums: BTreeMap<u32, Vec<(Counter, Count)>> = BTreeMap::new();
        for (stage, threads) in &mut self.stages {
            if let Some(number) = numbers.stage(topology, *stage) {
                let counts = threads.iter_mut().flat_map(Counters::read);
                sums.entry(number).or_default().extend(counts);
            }
        }
        for stage in &mut record.stages {
            if let Some(counts) = sums.get(&stage.stage) {
                stage.counters = Some(stage_counters(counts, stage.cpu_ns));
            }
        }
        sums.retain(|_, counts| !counts.is_empty());
        let sees_kernel = sums.values().flatten().any(|(counter, _)| counter.is_in_kernel());
        if !sums.is_empty() && !sees_kernel {
            let gap = "counters: how often threads were switched and moved to another CPU is only told to root, or to everybody \
                       after `sudo sysctl kernel.perf_event_paranoid=1`";
            record.gaps.push(gap.to_owned());
        }
        let has_hardware = sums.values().flatten().any(|(counter, _)| counter.is_hardware());
        if let Some(why) = self.refused {
            record.gaps.push(format!("counters: {why}"));
        } else if !sums.is_empty() && !has_hardware {
            let gap = "counters: this machine shows none of the CPU's (most virtual machines have none), so instructions, \
                       cycles and misses are unknown";
            record.gaps.push(gap.to_owned());
        }
    }
}

/// The counts of a stage that used this much CPU time.
fn stage_counters(counts: &[(Counter, Count)], cpu_ns: u64) -> StageCounters {
    let of = |wanted: Counter| counts.iter().filter(move |(counter, _)| *counter == wanted);
    let clock: u64 = of(Counter::TaskClock).map(|(_, count)| count.value).sum();
    // What was missed before the counters were opened, as far as it is not an error of the clocks.
    let missed = if clock > 0 { (cpu_ns as f64 / clock as f64).max(1.0) } else { 1.0 };
    let sum = |wanted: Counter| -> Option<u64> {
        of(wanted).next()?;
        of(wanted).map(|(_, count)| count.scaled()).sum()
    };
    let estimate = |wanted: Counter| sum(wanted).map(|value| whole(value as f64 * missed));
    let turns =
        counts.iter().filter(|(counter, count)| counter.is_hardware() && count.enabled_ns > 0);
    let turns = turns.map(|(_, count)| count.running_ns as f64 / count.enabled_ns as f64);
    let mut counters = StageCounters::default();
    counters.cycles = estimate(Counter::Cycles);
    counters.instructions = estimate(Counter::Instructions);
    counters.reference_cycles = estimate(Counter::ReferenceCycles);
    counters.cache_references = estimate(Counter::CacheReferences);
    counters.cache_misses = estimate(Counter::CacheMisses);
    counters.branch_misses = estimate(Counter::BranchMisses);
    counters.dtlb_misses = estimate(Counter::DtlbMisses);
    counters.page_faults = sum(Counter::PageFaults);
    counters.major_faults = sum(Counter::MajorFaults);
    counters.context_switches = sum(Counter::ContextSwitches);
    counters.migrations = sum(Counter::Migrations);
    counters.counted_percent = turns.reduce(f64::min).map(|turns| 100.0 * turns / missed);
    counters
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(value: u64, enabled_ns: u64, running_ns: u64) -> Count {
        Count { value, enabled_ns, running_ns }
    }

    /// Uses so many bytes that were not used before.
    fn touch(bytes: usize) {
        let mut memory = vec![0_u8; bytes];
        memory.iter_mut().step_by(rustix::param::page_size()).for_each(|byte| *byte = 1);
        std::hint::black_box(memory);
    }

    /// One thread is there before the stage is found, and another is started afterwards; both belong to the stage.
    #[test]
    fn every_thread_of_a_stage_is_counted_once() {
        const BYTES: usize = 80 << 20;
        let huge = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        if huge.is_ok_and(|huge| huge.contains("[always]")) {
            assert!(std::env::var_os("FULLBORE_CI").is_none(), "huge pages in CI");
            println!("skipped: Linux gives huge pages here, which one fault maps");
            return;
        }
        let (go, begun) = std::sync::mpsc::channel::<()>();
        let before = std::thread::spawn(move || {
            begun.recv().unwrap();
            touch(BYTES);
        });
        let mut counting = Counting::default();
        counting.begin(0, std::process::id().cast_signed());
        go.send(()).unwrap();
        std::thread::spawn(|| touch(BYTES)).join().unwrap();
        before.join().unwrap();
        let counts = counting.stages.get_mut(&0).unwrap().iter_mut().flat_map(Counters::read);
        let faults: u64 = counts
            .filter(|(counter, _)| *counter == Counter::PageFaults)
            .map(|(_, count)| count.value)
            .sum();
        // Other tests run in this process, too.
        let pages = (BYTES / rustix::param::page_size()) as u64;
        assert!((2 * pages..3 * pages).contains(&faults), "{faults}");
    }

    /// Instead of a CPU with counters: what one would have said.
    #[test]
    fn counters_that_took_turns_and_came_late_are_scaled() {
        let counts = [
            (Counter::Cycles, count(3_000, 1_000, 500)),
            (Counter::Instructions, count(4_500, 1_000, 500)),
            (Counter::TaskClock, count(800, 1_000, 1_000)),
            (Counter::PageFaults, count(7, 1_000, 1_000)),
            (Counter::ContextSwitches, count(3, 1_000, 1_000)),
        ];
        let counters = stage_counters(&counts, 1_000);
        assert_eq!((counters.cycles, counters.instructions), (Some(7_500), Some(11_250)));
        assert_eq!(counters.instructions_per_cycle(), Some(1.5));
        assert_eq!(counters.gigahertz(1_000), Some(7.5));
        assert_eq!(counters.counted_percent, Some(40.0));
        assert_eq!((counters.page_faults, counters.context_switches), (Some(7), Some(3)));
        assert_eq!((counters.cache_misses, counters.migrations), (None, None));
    }

    #[test]
    fn a_counter_that_never_ran_is_unknown_and_stages_that_are_one_add_up() {
        let counts = [
            (Counter::Cycles, count(0, 1_000, 0)),
            (Counter::PageFaults, count(7, 1_000, 1_000)),
            (Counter::PageFaults, count(5, 1_000, 1_000)),
        ];
        let counters = stage_counters(&counts, 1_000);
        assert_eq!((counters.cycles, counters.page_faults), (None, Some(12)));
        assert_eq!(stage_counters(&[], 0), StageCounters::default());
    }
}
