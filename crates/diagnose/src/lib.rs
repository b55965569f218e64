//! From the record of a run to what it shows: a pure function, so that every finding has a golden test.
//!
//! ```text
//! record ─ flow (absolute times, who waited for whom) ─┬─ incidents   deadlock, leaked_end, stalled
//!                                                      ├─ bottleneck  bottleneck, source_bound, sink_bound
//!                                                      ├─ cpus        cpu_starved
//!                                                      ├─ turns       taking_turns
//!                                                      ├─ calls       small_calls
//!                                                      ├─ wakes       wake_ups
//!                                                      └─ quota       small_pipe
//! ```
#![forbid(unsafe_code)]

mod advice;
mod bottleneck;
mod bound;
mod calls;
mod choose;
mod circles;
mod confidence;
mod copies;
mod cpus;
mod cures;
mod dealing;
mod disks;
mod evidence;
mod fifos;
mod flow;
mod incidents;
mod names;
mod pace;
mod parts;
mod phases;
mod phrases;
mod quota;
mod sockets;
mod starting;
mod turns;
mod wakes;

use fullbore_record::{Finding, FindingKind, RunRecord, advice_text};

pub use bound::bound_ns;
pub use copies::Copies;

use choose::{Choice, HOLDS_BACK};
use flow::Flow;
use incidents::FromIncident;

/// A shorter run is over before its samples mean anything.
const MIN_ELAPSED_NS: u64 = 20_000_000;

/// In a shorter run, what was waited for a CPU or in turns at a pipe is what any start looks like.
const MIN_CONTENTION_NS: u64 = 100_000_000;

/// Fewer samples of a pipeline than this are an anecdote.
const MIN_SAMPLES: u64 = 10;

/// A stage with this share is the limit, too, if its neighbour has little to do: a pipe with more room hides at most the work of the side
/// that has less of it.
const HOLDS_BACK_MOSTLY: f64 = 0.6;

/// Little to do is less than this part of the work of the stage with the most.
const LITTLE_TO_DO: f64 = 0.25;

/// A stage that runs this share of the run would gain nothing from more CPUs.
const RUNS_ALWAYS: f64 = 0.95;

/// Beside an incident, a stage is named only if it accounts for this share of what the incident left.
const REST_OF_THE_RUN: f64 = 0.7;

/// What a run shows: the verdict first, then what else is worth knowing.
///
/// `record.findings` and `record.bound_ns` are ignored. The result is empty when the run was too short, or seen too
/// rarely, to say anything.
#[must_use]
pub fn diagnose(record: &RunRecord) -> Vec<Finding> {
    let mut flow = Flow::of(record);
    fifos::claim(&mut flow.stages);
    let has_evidence = record.elapsed_ns >= MIN_ELAPSED_NS && record.samples >= MIN_SAMPLES;
    let choice = has_evidence.then(|| choose::choose(&flow)).flatten();
    let (grave, slight): (Vec<FromIncident>, Vec<FromIncident>) =
        incidents::findings(&flow, choice).into_iter().partition(|incident| incident.is_verdict);

    let mut findings: Vec<Finding> = Vec::new();
    let lost_ns = grave.iter().map(|incident| incident.lasted_ns).max();
    findings.extend(grave.into_iter().map(|incident| incident.finding));
    if has_evidence {
        let wakes = wakes::finding(&flow);
        let (held_back, beside) = match wakes {
            Some(wakes) if wakes.is_verdict && lost_ns.is_none() => (Some(wakes.finding), None),
            wakes => (None, wakes.map(|wakes| wakes.finding)),
        };
        match lost_ns {
            None => {
                let mut verdicts: Vec<Finding> =
                    held_back.into_iter().chain(what_held_it_back(&flow, choice)).collect();
                if record.elapsed_ns < MIN_CONTENTION_NS {
                    leave_out_contention(&mut verdicts);
                }
                findings.extend(verdicts);
            }
            Some(lost_ns) => {
                let rest_ns = flow.span_ns - lost_ns as f64;
                let told = findings.iter().filter_map(|finding| finding.stage).collect::<Vec<_>>();
                // A stage that merely waits now is what the incident is about.
                let named = choice
                    .filter(|c| flow.stages[c.top].running_ns > flow.stages[c.top].own_ns() / 2.0)
                    .filter(|c| !told.contains(&flow.stages[c.top].stage.stage))
                    .filter(|c| flow.stages[c.top].own_ns() >= REST_OF_THE_RUN * rest_ns);
                let named = named.filter(|_| rest_ns > MIN_ELAPSED_NS as f64);
                findings.extend(named.map(|c| bottleneck::finding(&flow, c)));
            }
        }
        findings.extend(beside);
        findings.extend(calls::findings(&flow, choice.map(|c| c.top)));
        findings.extend(quota::finding(&flow));
    }
    findings.extend(slight.into_iter().map(|incident| incident.finding));
    say_how_long_it_was_stopped(&flow, findings.first_mut());
    leave_out_repeated_advice(&mut findings);
    if record.is_cut_off() {
        // Its length says nothing about how long the work takes.
        findings.iter_mut().for_each(|finding| finding.best_time_ns = None);
    }
    findings
}

/// The clock of a user shows this time, too, and no verdict counts it.
fn say_how_long_it_was_stopped(flow: &Flow<'_>, verdict: Option<&mut Finding>) {
    let stopped_ns = flow.record.elapsed_ns as f64 - flow.span_ns;
    if let Some(verdict) = verdict.filter(|_| stopped_ns > 0.0) {
        let said = verdict.message.trim_end_matches('.');
        verdict.message =
            format!("{said}; the pipeline was stopped for {}.", phrases::time(stopped_ns));
    }
}

/// Where contention would be the verdict, there is none; beside another it is left out.
fn leave_out_contention(verdicts: &mut Vec<Finding>) {
    let is_contention = |finding: &Finding| {
        use FindingKind::{CpuStarved, TakingTurns, WakeUps};
        let number = |name: &str| finding.evidence.get(name).copied().unwrap_or(0.0);
        let wants_a_cpu = number("runnable_percent") > number("own_percent") / 2.0;
        matches!(finding.kind, CpuStarved | TakingTurns | WakeUps) || wants_a_cpu
    };
    if verdicts.first().is_some_and(is_contention) {
        verdicts.clear();
    }
    verdicts.retain(|finding| !is_contention(finding));
}

/// What the verdict tells to do about a stage is not told again under `also:`.
fn leave_out_repeated_advice(findings: &mut [Finding]) {
    let Some((verdict, others)) = findings.split_first_mut() else { return };
    let told = advice_text(&verdict.advice);
    let is_same = |other: &&mut Finding| other.stage.is_some() && other.stage == verdict.stage;
    for other in others.iter_mut().filter(is_same) {
        if told.contains(&advice_text(&other.advice)) {
            other.advice.clear();
        }
    }
}

/// Weighs the stage that waits least against the CPUs and against the pipe that makes its neighbours take turns.
fn what_held_it_back(flow: &Flow<'_>, choice: Option<Choice>) -> Vec<Finding> {
    let starved = cpus::starved(flow);
    let turns = turns::worst(flow);
    let Some(choice) = choice else {
        return starved
            .map(|s| s.finding)
            .into_iter()
            .chain(turns.map(|t| turns::finding(flow, &t)))
            .collect();
    };
    let top = &flow.stages[choice.top];
    let holds_back = top.own_ns() >= HOLDS_BACK * flow.span_ns;
    let runs_always = top.running_ns >= RUNS_ALWAYS * flow.span_ns;
    let mostly_wants_a_cpu = top.runnable_ns > top.own_ns() / 2.0;
    let lost_to_turns_ns = flow.span_ns - top.own_ns();
    let holds_back = holds_back || choose::sets_the_pace(flow, choice.top);

    if let Some(starved) = starved.as_ref().filter(|s| s.by_itself && !runs_always) {
        return vec![starved.finding.clone()];
    }
    if let Some(turns) =
        turns.filter(|_| !holds_back && (starved.is_none() || lost_to_turns_ns > top.runnable_ns))
    {
        let outweighs = top.own_ns() >= HOLDS_BACK_MOSTLY * flow.span_ns
            && turns.hides_at_most_ns(flow) < LITTLE_TO_DO * top.own_ns();
        let mut findings = vec![turns::finding(flow, &turns)];
        if outweighs {
            findings.insert(0, bottleneck::finding(flow, choice));
        }
        findings.extend(starved.map(|s| s.finding));
        return findings;
    }
    let named = bottleneck::finding(flow, choice);
    match starved {
        Some(starved) if !holds_back => vec![starved.finding],
        Some(starved) if mostly_wants_a_cpu => vec![starved.finding, named],
        Some(starved) => vec![named, starved.finding],
        None => vec![named],
    }
}
