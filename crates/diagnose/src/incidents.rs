//! States that stood for a while: deadlocks, ends that leaked, stalls.

use fullbore_record::{Cause, Finding, FindingKind, Incident, PipeRecord};
use fullbore_shell::shorten;

use super::choose::Choice;
use super::evidence::Evidence;
use super::flow::{Doing, Flow, StageFlow};
use super::names::Command;
use super::parts::{Advice, command, joined, only, paste, text};
use super::phrases::{list, percent, run_again, size, time};

/// Of the run; an incident that lasted less is not what held it back.
const CONSIDERABLE_SHARE: f64 = 0.2;
const LEAK_CONSIDERABLE_SHARE: f64 = 0.25;

/// An incident of this length is worth naming first even in a longer run …
const LONG_NS: u64 = 10_000_000_000;
const LEAK_LONG_NS: u64 = 1_000_000_000;

/// … but not in one that is this many times longer still.
const NEGLIGIBLE_SHARE: f64 = 0.05;

/// A stall is explained when its stage spent this share of it on something that has a name.
const EXPLAINED_SHARE: f64 = 0.8;

/// Longest command of a stranger in a message.
const COMMAND_CHARS: usize = 40;

/// A pipe of this size hides many deadlocks of programs that talk in rounds.
const SUGGESTED_BYTES: u64 = 1 << 20;

/// What to do about an end that a process holds without needing it.
const CLOSE_THE_END: &str = "Close the end in the process that does not need it: start a background process with >/dev/null 2>&1 </dev/null, and close an inherited descriptor N with N>&-.";

/// A finding from an incident, and its claim to be the verdict.
pub(super) struct FromIncident {
    pub(super) finding: Finding,
    pub(super) is_verdict: bool,
    pub(super) lasted_ns: u64,
}

/// One finding for each incident: those that can be the verdict first, the gravest before the others.
pub(super) fn findings(flow: &Flow<'_>, choice: Option<Choice>) -> Vec<FromIncident> {
    let mut found: Vec<FromIncident> = flow
        .record
        .incidents
        .iter()
        .filter_map(|incident| from_incident(flow, choice, incident))
        .collect();
    let gravity = |kind: FindingKind| match kind {
        FindingKind::Deadlock => 0,
        FindingKind::LeakedEnd => 1,
        _ => 2,
    };
    found.sort_by_key(|f| (!f.is_verdict, gravity(f.finding.kind), std::cmp::Reverse(f.lasted_ns)));
    // A leak or a stall that is noticed several times is told once, at its longest.
    let mut told: Vec<(FindingKind, Option<u32>, Option<u32>)> = Vec::new();
    found.retain(|f| {
        let key = (f.finding.kind, f.finding.stage, f.finding.pipe);
        let is_new = !told.contains(&key);
        told.push(key);
        is_new
    });
    found
}

fn from_incident(
    flow: &Flow<'_>,
    choice: Option<Choice>,
    incident: &Incident,
) -> Option<FromIncident> {
    match incident {
        Incident::Deadlock { stages, pipes, lasted_ns, to_the_end } => {
            let is_verdict = *to_the_end || matters(flow, *lasted_ns, CONSIDERABLE_SHARE, LONG_NS);
            let finding = deadlock(flow, stages, pipes, *lasted_ns, *to_the_end);
            Some(FromIncident { finding, is_verdict, lasted_ns: *lasted_ns })
        }
        Incident::LeakedEnd { lasted_ns, .. } => {
            let is_verdict = matters(flow, *lasted_ns, LEAK_CONSIDERABLE_SHARE, LEAK_LONG_NS);
            let is_negligible =
                *lasted_ns < LEAK_LONG_NS / 10 && share(flow, *lasted_ns) < NEGLIGIBLE_SHARE;
            (!is_negligible)
                .then(|| leaked_end(flow, incident))
                .flatten()
                .map(|finding| FromIncident { finding, is_verdict, lasted_ns: *lasted_ns })
        }
        Incident::Stalled { stage, lasted_ns } => {
            let is_explained = is_explained(flow, choice, *stage, *lasted_ns);
            let is_verdict =
                matters(flow, *lasted_ns, CONSIDERABLE_SHARE, LONG_NS) && !is_explained;
            let is_negligible = *lasted_ns < LONG_NS && share(flow, *lasted_ns) < NEGLIGIBLE_SHARE;
            let mut finding = stalled(flow, *stage, *lasted_ns);
            if is_explained {
                finding.advice.clear();
            }
            (!is_negligible).then_some(FromIncident { finding, is_verdict, lasted_ns: *lasted_ns })
        }
        _ => None,
    }
}

fn share(flow: &Flow<'_>, lasted_ns: u64) -> f64 {
    if flow.span_ns > 0.0 { lasted_ns as f64 / flow.span_ns } else { 1.0 }
}

fn matters(flow: &Flow<'_>, lasted_ns: u64, considerable: f64, long_ns: u64) -> bool {
    let share = share(flow, lasted_ns);
    share >= considerable || (lasted_ns >= long_ns && share >= NEGLIGIBLE_SHARE)
}

/// The finding about the stage that waits least says already, and better, why nothing moved.
fn is_explained(
    flow: &Flow<'_>,
    choice: Option<Choice>,
    stage: Option<u32>,
    lasted_ns: u64,
) -> bool {
    let Some(choice) = choice else { return false };
    let top = &flow.stages[choice.top];
    if stage.is_some_and(|number| number != top.stage.stage) {
        return false;
    }
    let has_name = |doing: Doing| match doing {
        Doing::Running | Doing::Runnable => false,
        Doing::ReadingOutside | Doing::WritingOutside => true,
        Doing::Waiting(cause) => {
            matches!(
                cause,
                Cause::Disk
                    | Cause::Network
                    | Cause::LocalSocket
                    | Cause::Event
                    | Cause::Terminal
                    | Cause::Sleep
                    | Cause::Child
            )
        }
    };
    let named_ns: f64 =
        top.own.iter().filter(|(doing, _)| has_name(*doing)).map(|(_, ns)| ns).sum();
    named_ns >= EXPLAINED_SHARE * lasted_ns as f64
}

fn deadlock(
    flow: &Flow<'_>,
    stages: &[u32],
    pipes: &[u32],
    lasted_ns: u64,
    to_the_end: bool,
) -> Finding {
    let known = |number: u32| flow.stage_index(number).map(|index| flow.stages[index].name.clone());
    let (clauses, full_pipe) = circle(flow, stages, pipes);
    let names: Vec<String> = stages.iter().filter_map(|&number| known(number)).collect();
    let who = match names.as_slice() {
        [] => "Some stages waited for each other".to_owned(),
        [only] => format!("{only} waited for itself"),
        several => format!("{} waited for each other", list(several)),
    };
    let until = if to_the_end { ", until the run ended" } else { "" };
    let why = if clauses.is_empty() { String::new() } else { format!(": {}", clauses.join("; ")) };
    let stage = stages.iter().copied().find(|&number| flow.stage_index(number).is_some());
    let pipe = full_pipe
        .map(|pipe| pipe.pipe)
        .or_else(|| pipes.iter().copied().find(|&p| flow.pipe(p).is_some()));
    let evidence = Evidence::default()
        .number("lasted_ns", lasted_ns as f64)
        .number("stages_count", stages.len() as f64)
        .number("elapsed_ns", flow.record.elapsed_ns as f64);
    let message = format!("{who} for {}{until}{why}.", time(lasted_ns as f64));
    Finding::new(FindingKind::Deadlock, message)
        .about_stage(stage)
        .about_pipe(pipe)
        .with_advice(deadlock_advice(flow, full_pipe, stage))
        .with_evidence(evidence.done())
}

/// What each stage of the circle waits for, in words, and the first of the pipes that are full.
fn circle<'a>(
    flow: &Flow<'a>,
    stages: &[u32],
    pipes: &[u32],
) -> (Vec<String>, Option<&'a PipeRecord>) {
    let known = |number: u32| flow.stage_index(number).map(|index| flow.stages[index].name.clone());
    let mut clauses = Vec::new();
    let mut full_pipe = None;
    for (&stage, &pipe) in stages.iter().zip(pipes) {
        let (Some(name), Some(pipe)) = (known(stage), flow.pipe(pipe)) else {
            continue;
        };
        let other = |numbers: &[u32]| {
            numbers
                .iter()
                .filter(|&&n| n != stage)
                .find_map(|&n| known(n))
                .unwrap_or_else(|| "the outside".to_owned())
        };
        if pipe.writers.contains(&stage) {
            full_pipe = full_pipe.or(Some(pipe));
            clauses.push(format!(
                "{name} cannot write to {} because the pipe is full",
                other(&pipe.readers)
            ));
        } else {
            clauses.push(format!("{name} gets nothing from {}", other(&pipe.writers)));
        }
    }
    (clauses, full_pipe)
}

fn deadlock_advice(flow: &Flow<'_>, full_pipe: Option<&PipeRecord>, stage: Option<u32>) -> Advice {
    let Some(pipe) = full_pipe else {
        let index = stage.and_then(|number| flow.stage_index(number));
        let line =
            index.and_then(|index| Command::of(flow.stages[index].stage).typed("stdbuf -oL"));
        let why = "Each waits for data that another may hold back in its buffer";
        return match line {
            Some(line) => paste(format!("{why}: try "), line),
            None => only(format!("{why}: let them write each line at once (stdbuf -oL).")),
        };
    };
    let wanted =
        flow.record.host.pipe_max_bytes.map_or(SUGGESTED_BYTES, |max| max.min(SUGGESTED_BYTES));
    let room = only(format!(
        "{} needs room for all that is written before it is read.",
        sentence_start(&flow.pipe_name(pipe))
    ));
    let larger = pipe
        .capacity_bytes
        .filter(|now| *now < wanted && flow.record.attached_at_ns.is_none())
        .and_then(|_| run_again(&format!("--pipe-size {}", size(wanted)), &flow.record.command))
        .map_or_else(Advice::new, |line| paste("Make it larger: ", line));
    let buffer = vec![
        text("Put a buffer into it: "),
        command("fullbore buffer -m 1G"),
        text("; or write to a file first and read that."),
    ];
    joined([room, larger, buffer])
}

fn leaked_end(flow: &Flow<'_>, incident: &Incident) -> Option<Finding> {
    let Incident::LeakedEnd {
        pipe,
        waiting_stage,
        holder_stage,
        holder_pid,
        holder_command,
        lasted_ns,
    } = incident
    else {
        return None;
    };
    let waiting = flow.stage_index(*waiting_stage);
    let waits = waiting.map_or("A stage", |index| flow.stages[index].name.as_str());
    let command = shorten(holder_command, COMMAND_CHARS);
    let command = if command.is_empty() { "a process".to_owned() } else { format!("`{command}`") };
    let of_stage = holder_stage
        .and_then(|number| flow.stage_index(number))
        .filter(|index| Some(*index) != waiting)
        .filter(|index| flow.stages[*index].stage.pid != *holder_pid);
    let of_stage = of_stage
        .map_or_else(String::new, |index| format!(", started by {}", flow.stages[index].name));
    let record = flow.pipe(*pipe);
    let pipe_name = record.map_or_else(|| "the pipe".to_owned(), |pipe| flow.pipe_name(pipe));
    let message = format!(
        "{waits} waited {} ({} of the run) for an end of file, because {command} (process {holder_pid}{of_stage}) still holds the write end of {pipe_name}.",
        time(*lasted_ns as f64),
        percent(*lasted_ns as f64, flow.span_ns)
    );
    let evidence = Evidence::default()
        .number("lasted_ns", *lasted_ns as f64)
        .number("holder_pid_number", f64::from(*holder_pid))
        .number("elapsed_ns", flow.record.elapsed_ns as f64);
    let finding = Finding::new(FindingKind::LeakedEnd, message)
        .about_stage(waiting.map(|index| flow.stages[index].stage.stage))
        .about_pipe(record.map(|pipe| pipe.pipe))
        .with_advice(only(CLOSE_THE_END))
        .with_evidence(evidence.done());
    Some(finding)
}

fn stalled(flow: &Flow<'_>, stage: Option<u32>, lasted_ns: u64) -> Finding {
    let index = stage.and_then(|number| flow.stage_index(number));
    let (who, advice) = match index {
        None => (
            String::new(),
            only(
                "Run it again with --live always to see what each stage waits for while it lasts.",
            ),
        ),
        Some(index) => {
            let stage = &flow.stages[index];
            let causes = &stage.stage.blocked_other_causes;
            let longest = causes.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(cause, _)| *cause);
            let (why, advice) =
                longest.map_or((String::new(), Advice::new()), |cause| why_stalled(cause, stage));
            (format!(": all waited for {}{why}", stage.name), advice)
        }
    };
    let message = format!(
        "Nothing ran and nothing moved for {} ({} of the run){who}.",
        time(lasted_ns as f64),
        percent(lasted_ns as f64, flow.span_ns)
    );
    let evidence = Evidence::default()
        .number("lasted_ns", lasted_ns as f64)
        .number("elapsed_ns", flow.record.elapsed_ns as f64);
    Finding::new(FindingKind::Stalled, message)
        .about_stage(index.map(|index| flow.stages[index].stage.stage))
        .with_advice(advice)
        .with_evidence(evidence.done())
}

fn why_stalled(cause: Cause, stage: &StageFlow<'_>) -> (String, Advice) {
    let why = match cause {
        Cause::Disk => ", which waited for a disk",
        Cause::Network => ", which waited for the network",
        Cause::LocalSocket => ", which waited for another process on a local socket",
        Cause::Terminal => ", which waited for the terminal",
        Cause::Sleep => ", which slept",
        Cause::Lock => ", which waited for a lock",
        Cause::Event => ", which waited for an event",
        Cause::Child => ", which waited for a process it started",
        Cause::FifoPeer => ", which waited for someone to open the other side of a FIFO",
        Cause::Stopped => ", which was stopped",
        _ => "",
    };
    let advice = match cause {
        Cause::FifoPeer => only("Start the program that opens the other side of the FIFO."),
        _ => super::cures::for_cause(cause, FindingKind::Stalled, stage),
    };
    (why.to_owned(), advice)
}

fn sentence_start(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
