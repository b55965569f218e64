//! Whether the CPUs, rather than one stage, are the limit.

use crate::record::{Finding, FindingKind};

use super::evidence::Evidence;
use super::flow::Flow;
use super::words::{list, percent, time};

/// At this share of all CPUs in use there is hardly one to spare.
const CPUS_IN_USE: f64 = 0.85;

/// The CPUs together are the limit when they need this much longer than the busiest stage alone.
const TOTAL_OVER_LARGEST: f64 = 1.10;

/// A stage with this share of all CPU time is itself the limit, however many CPUs it uses.
const ONE_STAGE_USES_MOST: f64 = 0.75;

/// Waiting for a CPU this much, summed over the stages, as a share of the run, is starving.
const WAITING_FOR_CPUS: f64 = 0.5;

/// How scarce CPUs were.
pub(super) struct Starved {
    /// The stages together need more CPU than there is; otherwise other programs or a quota take it.
    pub(super) by_itself: bool,
    /// What to tell.
    pub(super) finding: Finding,
}

/// Compares what the stages need with what the machine gave them.
pub(super) fn starved(flow: &Flow<'_>) -> Option<Starved> {
    let cpus = flow.record.host.cpus;
    if cpus == 0 || flow.span_ns <= 0.0 {
        return None;
    }
    let cpu_ns = |s: &super::flow::StageFlow<'_>| s.stage.cpu_ns as f64;
    let total_ns: f64 = flow.stages.iter().map(cpu_ns).sum();
    let most_ns = flow.stages.iter().map(cpu_ns).fold(0.0, f64::max);
    let running_ns = flow.stages.iter().map(|s| s.running_ns).fold(0.0, f64::max);
    let runnable_ns: f64 = flow.stages.iter().map(|s| s.runnable_ns).sum();
    let parallelism = total_ns / flow.span_ns;
    let by_itself = parallelism >= CPUS_IN_USE * f64::from(cpus)
        && total_ns / f64::from(cpus) >= TOTAL_OVER_LARGEST * running_ns
        && most_ns < ONE_STAGE_USES_MOST * total_ns;
    let waits = runnable_ns >= WAITING_FOR_CPUS * flow.span_ns;
    if !by_itself && !waits {
        return None;
    }
    let are_all_in_use = parallelism >= CPUS_IN_USE * f64::from(cpus);
    let cpus_text = if cpus == 1 {
        "1 CPU".to_owned()
    } else {
        format!("{cpus} CPUs")
    };
    let message = if are_all_in_use {
        format!(
            "The stages want more than the {cpus_text} of this machine: they use {} of all CPU time and wait {} for more, summed over the stages, in {}.",
            percent(parallelism, f64::from(cpus)),
            time(runnable_ns),
            time(flow.span_ns)
        )
    } else {
        format!(
            "The stages use only {parallelism:.1} of {cpus_text}, yet wait {} for one, summed over the stages, in {}: other programs or a CPU quota take the rest.",
            time(runnable_ns),
            time(flow.span_ns)
        )
    };
    let evidence = Evidence::default()
        .number("cpus_count", f64::from(cpus))
        .number("parallelism_cpus", parallelism)
        .number("total_cpu_ns", total_ns)
        .number("largest_running_ns", running_ns)
        .number("runnable_ns", runnable_ns)
        .number(
            "bound_ns",
            super::bound_ns(&flow.record.stages, cpus) as f64,
        )
        .number("elapsed_ns", flow.record.elapsed_ns as f64)
        .done();
    let advice = if are_all_in_use {
        busiest(flow, &cpus_text)
    } else {
        elsewhere()
    };
    let kind = FindingKind::CpuStarved;
    Some(Starved {
        by_itself,
        finding: Finding {
            kind,
            stage: None,
            pipe: None,
            message,
            advice,
            evidence,
        },
    })
}

fn busiest(flow: &Flow<'_>, cpus: &str) -> String {
    let mut stages: Vec<_> = flow.stages.iter().filter(|s| s.stage.cpu_ns > 0).collect();
    stages.sort_by_key(|s| std::cmp::Reverse(s.stage.cpu_ns));
    let most: Vec<String> = stages
        .iter()
        .take(2)
        .map(|s| format!("{} ({} of CPU time)", s.name, time(s.stage.cpu_ns as f64)))
        .collect();
    let verb = if most.len() > 1 { "use" } else { "uses" };
    format!(
        "{} {verb} the most: a faster program there, fewer stages, or a machine with more than {cpus} helps; pipe settings do not.",
        list(&most)
    )
}

fn elsewhere() -> String {
    "See what else runs with `top`, or the quota with `cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpu.max`."
        .to_owned()
}
