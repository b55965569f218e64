//! Whether the CPUs, rather than one stage, are the limit.

use fullbore_record::{Finding, FindingKind};

use super::bound::bound_ns;
use super::evidence::Evidence;
use super::flow::{Flow, StageFlow};
use super::parts::{Advice, command, only, text};
use super::phrases::{list, percent, time};
use super::wakes::waking_ns;

/// At this share of all CPUs in use there is hardly one to spare.
const CPUS_IN_USE: f64 = 0.85;

/// The CPUs together are the limit when they need this much longer than the busiest stage alone.
const TOTAL_OVER_LARGEST: f64 = 1.10;

/// A stage with this share of all CPU time is itself the limit, however many CPUs it uses.
const ONE_STAGE_USES_MOST: f64 = 0.75;

/// Waiting for a CPU this much, summed over the stages, as a share of the run, is starving.
const WAITING_FOR_CPUS: f64 = 0.5;

/// Other programs that use less than this cannot be why others wait.
const OTHERS_CPUS: f64 = 0.1;

/// How scarce CPUs were.
pub(super) struct Starved {
    /// The stages together need more CPU than there is; otherwise other programs or a quota take it.
    pub(super) by_itself: bool,
    /// What to tell.
    pub(super) finding: Finding,
}

/// What the stages together wanted and got.
struct Demand {
    cpus: u32,
    total_ns: f64,
    most_ns: f64,
    running_ns: f64,
    runnable_ns: f64,
    span_ns: f64,
    /// What other programs used meanwhile, if it is known.
    others_cpus: Option<f64>,
}

impl Demand {
    fn of(flow: &Flow<'_>) -> Self {
        let cpu_ns = |s: &StageFlow<'_>| s.stage.cpu_ns as f64;
        Self {
            cpus: flow.record.host.cpus,
            total_ns: flow.stages.iter().map(cpu_ns).sum(),
            most_ns: flow.stages.iter().map(cpu_ns).fold(0.0, f64::max),
            running_ns: flow.stages.iter().map(|s| s.running_ns).fold(0.0, f64::max),
            runnable_ns: flow.stages.iter().map(|s| s.runnable_ns).sum(),
            span_ns: flow.span_ns,
            others_cpus: others_cpus(flow),
        }
    }

    fn parallelism(&self) -> f64 {
        self.total_ns / self.span_ns
    }

    fn uses_all_cpus(&self) -> bool {
        self.parallelism() >= CPUS_IN_USE * f64::from(self.cpus)
    }

    fn is_more_than_there_is(&self) -> bool {
        self.uses_all_cpus()
            && self.total_ns / f64::from(self.cpus) >= TOTAL_OVER_LARGEST * self.running_ns
            && self.most_ns < ONE_STAGE_USES_MOST * self.total_ns
    }

    fn message(&self) -> String {
        let (parallelism, cpus) = (self.parallelism(), self.cpus_text());
        let (waited, span) = (time(self.runnable_ns), time(self.span_ns));
        if self.uses_all_cpus() {
            let share = percent(parallelism.min(f64::from(self.cpus)), f64::from(self.cpus));
            format!(
                "The stages want more than the {cpus} of this machine: they use {share} of all CPU time and wait {waited} for more, summed over the stages, in {span}."
            )
        } else {
            format!(
                "The stages use only {parallelism:.1} of {cpus}, yet wait {waited} for one, summed over the stages, in {span}: {}.",
                self.who_has_them()
            )
        }
    }

    fn who_has_them(&self) -> String {
        match self.others_cpus {
            Some(others) if others >= OTHERS_CPUS => format!("other programs use {others:.1}"),
            Some(_) => {
                "at times they take CPUs from each other, or a CPU quota holds them back".to_owned()
            }
            None => "other programs or a CPU quota take the rest".to_owned(),
        }
    }

    fn cpus_text(&self) -> String {
        let plural = if self.cpus == 1 { "" } else { "s" };
        format!("{} CPU{plural}", self.cpus)
    }
}

/// How many CPUs a stage used while it ran. Linux counts CPU time late, so it may seem to be more than there are.
pub(super) fn at_once(flow: &Flow<'_>, stage: &StageFlow<'_>) -> f64 {
    let used = stage.stage.cpu_ns as f64 / stage.running_ns;
    match flow.record.host.cpus {
        0 => used,
        cpus => used.min(f64::from(cpus)),
    }
}

/// A number of CPUs in words: `1.7`, `2`.
pub(super) fn in_words(cpus: f64) -> String {
    let text = format!("{cpus:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// What a stage waited for a CPU, without what it waited for one that slept: that is no lack of CPUs.
fn wants_a_cpu_ns(flow: &Flow<'_>, stage: &StageFlow<'_>) -> f64 {
    (stage.runnable_ns - waking_ns(flow, stage)).max(0.0)
}

/// CPUs that other programs used on average while the pipeline ran; `None` when unknown.
fn others_cpus(flow: &Flow<'_>) -> Option<f64> {
    let record = flow.record;
    let ours_ns = record.cpu_ns? as f64 + record.observer_cpu_ns as f64;
    let used_ns =
        f64::from(record.host.cpus) * record.elapsed_ns as f64 - record.idle_cpu_ns? as f64;
    Some(((used_ns - ours_ns) / record.elapsed_ns.max(1) as f64).max(0.0))
}

/// Compares what the stages need with what the machine gave them.
pub(super) fn starved(flow: &Flow<'_>) -> Option<Starved> {
    let mut demand = Demand::of(flow);
    if !demand.uses_all_cpus() {
        demand.runnable_ns = flow.stages.iter().map(|stage| wants_a_cpu_ns(flow, stage)).sum();
    }
    if demand.cpus == 0 || demand.span_ns <= 0.0 {
        return None;
    }
    let by_itself = demand.is_more_than_there_is();
    if !by_itself && demand.runnable_ns < WAITING_FOR_CPUS * demand.span_ns {
        return None;
    }
    let bound_ns = bound_ns(&flow.record.stages, demand.cpus);
    let evidence = Evidence::default()
        .number("cpus_count", f64::from(demand.cpus))
        .number("parallelism_cpus", demand.parallelism())
        .number("total_cpu_ns", demand.total_ns)
        .number("largest_running_ns", demand.running_ns)
        .number("runnable_ns", demand.runnable_ns)
        .number("bound_ns", bound_ns as f64)
        .number("elapsed_ns", flow.record.elapsed_ns as f64)
        .done();
    let advice = if demand.uses_all_cpus() {
        busiest(flow, &demand.cpus_text())
    } else {
        elsewhere(demand.others_cpus)
    };
    let finding = Finding::new(FindingKind::CpuStarved, demand.message())
        .with_advice(advice)
        .with_evidence(evidence);
    Some(Starved { by_itself, finding })
}

fn busiest(flow: &Flow<'_>, cpus: &str) -> Advice {
    let mut stages: Vec<_> = flow.stages.iter().filter(|s| s.stage.cpu_ns > 0).collect();
    stages.sort_by_key(|s| std::cmp::Reverse(s.stage.cpu_ns));
    let most: Vec<String> = stages
        .iter()
        .take(2)
        .map(|s| format!("{} ({} of CPU time)", s.name, time(s.stage.cpu_ns as f64)))
        .collect();
    let verb = if most.len() > 1 { "use" } else { "uses" };
    only(format!(
        "{} {verb} the most. What helps is a program that needs less CPU time, fewer stages, or more than {cpus}; pipe settings do not help.",
        list(&most)
    ))
}

fn elsewhere(others_cpus: Option<f64>) -> Advice {
    if others_cpus.is_some_and(|cpus| cpus >= OTHERS_CPUS) {
        return vec![text("See what else runs: "), command("top"), text(".")];
    }
    vec![
        text("See what else runs: "),
        command("top"),
        text(". Or see the CPU quota: "),
        command("cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpu.max"),
        text("."),
    ]
}
