//! What to do about the stage that holds the others back.

use fullbore_measure::Bytes;

use fullbore_record::{FindingKind, Outcome};

use super::choose::{Choice, HOLDS_BACK};
use super::circles::{at_once, is_in_circle};
use super::cures;
use super::dealing::Line;
use super::flow::{Doing, Flow, StageFlow};
use super::names::Command;
use super::parts::{Advice, joined, only};
use super::starting;
use super::turns;

/// More CPUs than this per second of running make a stage a multi-threaded one.
pub(super) const SEVERAL_CPUS: f64 = 1.3;

/// What to do about the stage `choice.top`, and what tuning did.
pub(super) fn advice(flow: &Flow<'_>, choice: Choice, kind: FindingKind) -> Advice {
    let stage = &flow.stages[choice.top];
    let main = stage.own.first().map_or(Doing::Running, |(doing, _)| *doing);
    let what_to_do = match (kind, main) {
        (FindingKind::SourceBound, Doing::ReadingOutside) => only(
            "Look at the program that writes to this pipeline: it is slower than the pipeline.",
        ),
        (FindingKind::SinkBound, Doing::WritingOutside) => only(
            "Look at the program that reads from this pipeline: it is slower than the pipeline.",
        ),
        (_, Doing::Waiting(cause)) => cures::for_cause(cause, kind, stage),
        (_, Doing::Runnable) => Advice::new(),
        _ => cpu_advice(flow, choice),
    };
    joined([what_to_do, only(tuned(flow).unwrap_or_default())])
}

fn cpu_advice(flow: &Flow<'_>, choice: Choice) -> Advice {
    let stage = &flow.stages[choice.top];
    let was_tuned = flow.record.tuning.iter().any(|t| t.outcome == Outcome::Kept);
    let may_help =
        was_tuned || turns::worst(flow).is_some_and(|_| stage.own_ns() < HOLDS_BACK * flow.span_ns);
    let opening = only(if may_help { "" } else { "No pipe setting helps." });
    let cpus = flow.record.host.cpus;
    let threads_help = stage.stage.copies.is_none()
        && cpus > 1
        && (stage.stage.cpu_ns as f64) < SEVERAL_CPUS * stage.running_ns;
    let runs = Command::of(stage.stage);
    if let Some(fewer) = starting::advice(stage.stage) {
        return joined([opening, fewer]);
    }
    let cure = super::calls::cure_of(flow, choice.top);
    let faster = || {
        let idle_cpus = idle_cpus(flow, stage).filter(|_| threads_help);
        // What reads ahead, or holds back what it writes, would wait for itself.
        if is_in_circle(flow, choice.top) {
            return only(idle_cpus.unwrap_or_default());
        }
        // Who waits for each line would wait for a block of them.
        let may_wait = at_once(flow, choice.top).is_none();
        let dealing = idle_cpus.as_ref().filter(|_| may_wait);
        let dealing = dealing.and_then(|_| Line::of(flow, stage, &runs));
        cures::for_cpu(&runs, threads_help, dealing, idle_cpus)
    };
    joined([opening, cure.unwrap_or_else(faster)])
}

/// This part of the other CPUs, or more, was idle for want of work, …
const LEFT_IDLE: f64 = 0.5;
/// … while this stage ran for this part of the run or more …
const RAN_MOSTLY: f64 = 0.5;
/// … if the stages together waited for a CPU for less than this part of the run: otherwise somebody else used them.
const HARDLY_WAITED: f64 = 0.1;

/// A stage that uses one CPU, and CPUs that nobody used: no other program is known, but what would help at all.
fn idle_cpus(flow: &Flow<'_>, stage: &StageFlow<'_>) -> Option<String> {
    let cpus = f64::from(flow.record.host.cpus);
    let used = flow.stages.iter().map(|s| s.stage.cpu_ns as f64).sum::<f64>() / flow.span_ns;
    let waited_ns = flow.stages.iter().map(|s| s.runnable_ns).sum::<f64>();
    let were_idle = cpus - used >= LEFT_IDLE * (cpus - 1.0) && cpus > 1.0;
    let ran_mostly = stage.running_ns >= RAN_MOSTLY * flow.span_ns;
    (were_idle && ran_mostly && waited_ns < HARDLY_WAITED * flow.span_ns).then(|| {
        format!(
            "{} uses one CPU at a time, and all stages together used {used:.1} of {cpus:.0}: only work that is divided \
             among several threads or processes would use the others.",
            stage.name
        )
    })
}

/// What tuning did, when it did something.
fn tuned(flow: &Flow<'_>) -> Option<String> {
    let kept: Vec<_> = flow.record.tuning.iter().filter(|t| t.outcome == Outcome::Kept).collect();
    let last = kept.last()?;
    let first = kept.iter().find(|t| t.pipe == last.pipe)?;
    let at_once = kept.iter().filter(|t| t.at_ns == last.at_ns).count();
    if at_once > 1 {
        let size = Bytes(last.to_bytes);
        // A record may come from anywhere.
        let reason = fullbore_shell::shorten(&last.reason, 100);
        return Some(format!("fullbore grew {at_once} pipes at once, to {size}: {reason}."));
    }
    let pipe = flow.pipe(last.pipe)?;
    let grown = format!(
        "fullbore grew {} from {} to {}",
        flow.pipe_name(pipe),
        Bytes(first.from_bytes),
        Bytes(last.to_bytes)
    );
    let gain = turns::gain_of_tuning(flow, pipe, first.at_ns, last.at_ns);
    Some(match gain {
        Some((before, after)) => {
            format!(
                "{grown}: its two sides took turns in waiting {before:.0} % of the time before, {after:.0} % after."
            )
        }
        None => format!("{grown}."),
    })
}
