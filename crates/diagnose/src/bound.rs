//! How long a run must take at least.

use fullbore_record::StageRecord;

use super::flow::running_ns;
use super::phrases::whole;

/// The best possible time of a pipeline on a machine with `cpus` CPUs, in nanoseconds: the longest time that one
/// stage was running, or the CPU time of all stages divided by the CPUs, whichever is larger.
///
/// Running counts once however many threads run, so the CPU time of a multi-threaded stage is not taken for serial.
/// `cpus` of 0 means that their number is unknown; only the first bound is used then.
#[must_use]
pub fn bound_ns(stages: &[StageRecord], cpus: u32) -> u64 {
    let serial_ns = stages.iter().map(running_ns).fold(0.0, f64::max);
    let total_ns: f64 = stages.iter().map(|stage| stage.cpu_ns as f64).sum();
    let shared_ns = if cpus > 0 { total_ns / f64::from(cpus) } else { 0.0 };
    whole(serial_ns.max(shared_ns))
}
