//! What the CPU and Linux counted for a stage.

use serde::{Deserialize, Serialize};

/// Counts of a stage, over its whole life. Those that this machine does not have, or that may not be used, are absent.
///
/// Source: perf_event_open(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageCounters {
    /// Cycles of the CPU's core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Instructions that were completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Cycles of a clock that always has the same frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_cycles: Option<u64>,
    /// Accesses to the last cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_references: Option<u64>,
    /// … that did not find their data there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_misses: Option<u64>,
    /// Branches that went another way than predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_misses: Option<u64>,
    /// Loads whose address was not in the data TLB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtlb_misses: Option<u64>,
    /// Pages that were not mapped when they were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// … and had to come from a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Times a thread left its CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Times a thread went to another CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    /// The share of the stage's time on a CPU in which the counters of the CPU really counted, in percent. The rest is
    /// estimated: they were opened a moment after the stage began, and where there are more of them than the CPU has
    /// places, they take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_percent: Option<f64>,
}

impl StageCounters {
    /// Instructions for each cycle.
    #[must_use]
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        let cycles = self.cycles.filter(|cycles| *cycles > 0)?;
        Some(self.instructions? as f64 / cycles as f64)
    }

    /// The mean frequency in GHz, over this CPU time in nanoseconds.
    #[must_use]
    pub fn gigahertz(&self, cpu_ns: u64) -> Option<f64> {
        (cpu_ns > 0).then_some(self.cycles? as f64 / cpu_ns as f64)
    }
}
