//! Stages that wait for a CPU to wake up whenever they are woken.

use fullbore_record::{Finding, FindingKind};

use super::evidence::Evidence;
use super::flow::{Flow, StageFlow, part_ns};
use super::parts::{Advice, about, joined, names_a_descriptor, only, paste};
use super::phrases::{Amounts, count, on_one_cpu, run_again, whole};

/// What the critical stage waits for this share of the run is worth a sentence.
const WORTH_IT: f64 = 0.1;

/// Stages that need this part of one CPU, or less, need clearly less than one.
const CLEARLY_LESS: f64 = 0.8;

/// Wake-ups, and whether they are what held the pipeline back.
pub(super) struct Wakes {
    pub(super) is_verdict: bool,
    pub(super) finding: Finding,
}

/// Looks at the critical stage: the one that runs most. Whoever waits for a busy stage is woken often, too, and loses nothing
/// by it.
pub(super) fn finding(flow: &Flow<'_>) -> Option<Wakes> {
    let price_ns = flow.record.wake_up_price_ns?;
    let stages = flow.stages.iter();
    let critical = stages.max_by(|one, other| one.running_ns.total_cmp(&other.running_ns))?;
    let waking = waking_ns(flow, critical);
    if flow.span_ns <= 0.0 || waking < WORTH_IT * flow.span_ns {
        return None;
    }
    let wake_ups = critical.stage.wake_ups?;
    let per_second = wake_ups as f64 / (critical.life_ns.max(1.0) * 1e-9);
    let amounts = Amounts::of(critical.life_ns, flow.span_ns);
    let bytes = critical.stage.read_bytes.zip(critical.stage.written_bytes);
    // In one direction: what it reads and writes are the same bytes.
    let bytes_each =
        bytes.filter(|_| wake_ups > 0).map(|(read, written)| read.max(written) / wake_ups);
    let each = bytes_each
        .map_or_else(String::new, |bytes| format!(", and moves {} bytes each time", about(bytes)));
    let message = format!(
        "{} waits about {} {} for a CPU to wake up: it is woken {} times a second, at {} µs each{each}.",
        critical.name,
        amounts.amount(waking),
        amounts.suffix(),
        count(whole(per_second)),
        count(whole(price_ns as f64 / 1000.0)),
    );
    let evidence = Evidence::default()
        .number("waking_ns", waking)
        .number("wake_ups_count", wake_ups as f64)
        .number("wake_up_price_ns", price_ns as f64)
        .number("running_percent", critical.stage.running_percent)
        .optional("bytes_per_wake_up_bytes", bytes_each);
    let finding = Finding::new(FindingKind::WakeUps, message)
        .about_stage(critical.stage.stage)
        .with_advice(advice(flow))
        .with_evidence(evidence.done());
    Some(Wakes { is_verdict: is_largest(critical, waking), finding })
}

/// How long a stage waited for a CPU to wake up, approximately: not longer than CPUs slept.
pub(super) fn waking_ns(flow: &Flow<'_>, stage: &StageFlow<'_>) -> f64 {
    let idle_ns = flow.record.idle_cpu_ns.map_or(f64::INFINITY, |ns| ns as f64);
    part_ns(stage.stage.waking_percent.unwrap_or(0.0), stage.life_ns).min(idle_ns)
}

/// Whether waiting to be woken is the largest part of its time.
fn is_largest(stage: &StageFlow<'_>, waking_ns: f64) -> bool {
    let percents = [stage.stage.blocked_reading_percent, stage.stage.blocked_writing_percent];
    let pipes_ns: f64 = percents.iter().flatten().map(|p| part_ns(*p, stage.life_ns)).sum();
    let waited_ns = pipes_ns + stage.runnable_ns;
    let other_ns = part_ns(stage.stage.blocked_other_percent, stage.life_ns);
    let rest = [stage.running_ns, waited_ns - waking_ns, other_ns];
    rest.iter().all(|part| waking_ns > *part)
}

fn advice(flow: &Flow<'_>) -> Advice {
    // The line of a run that was begun elsewhere comes from its processes.
    let is_typed = flow.record.attached_at_ns.is_none();
    let line = Some(flow.record.command.as_str());
    let line = line.filter(|line| is_typed || !names_a_descriptor(line)).unwrap_or_default();
    let keep_awake = match run_again("--keep-awake", line) {
        _ if flow.record.keep_awake.is_some() => Advice::new(),
        Some(line) => paste("See whether it helps to keep idle CPUs awake: ", line),
        None => only(
            "See whether it helps to keep idle CPUs awake: run the pipeline with --keep-awake.",
        ),
    };
    let cpu_ns: f64 = flow.stages.iter().map(|stage| stage.stage.cpu_ns as f64).sum();
    let together = match on_one_cpu(line) {
        _ if cpu_ns > CLEARLY_LESS * flow.span_ns => Advice::new(),
        Some(line) => paste("All stages together need less than one CPU; let them use one: ", line),
        None => only("All stages together need less than one CPU; let them use one (taskset)."),
    };
    joined([keep_awake, together])
}
