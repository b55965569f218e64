//! The finding about the stage that holds the others back: what it does meanwhile, and who waits for it.

use fullbore_record::{Cause, Finding, FindingKind};

use super::advice::{SEVERAL_CPUS, advice};
use super::bound::bound_ns;
use super::choose::{Choice, kind_of};
use super::evidence::Evidence;
use super::flow::{Doing, Flow, Neighbour, StageFlow};
use super::phases;
use super::phrases::{Amounts, list, time};

/// Parts of a stage's time, and waits of a neighbour, below this share are not worth a word.
const WORTH_A_WORD: f64 = 0.1;

/// A stage must run this share of the run before the best possible time tells anything about it.
const BOUND_SAYS_SOMETHING: f64 = 0.7;

/// A stage with less own time than this shares the run with others.
const ALONE: f64 = 0.7;

/// The finding about the chosen stage.
pub(super) fn finding(flow: &Flow<'_>, choice: Choice) -> Finding {
    let stage = &flow.stages[choice.top];
    let kind = kind_of(flow, choice.top);
    let waits = neighbour_waits(flow, choice.top);
    let mut message = match (kind, choice.equal) {
        (FindingKind::SourceBound, _) => {
            format!("{}, so the source sets the pace", activity(flow, stage))
        }
        (FindingKind::SinkBound, _) => {
            format!("{}, so the destination sets the pace", activity(flow, stage))
        }
        (_, Some(equal)) if choice.is_unsure => {
            let other = &flow.stages[equal];
            format!(
                "{} or {}, {} samples do not tell which: {}, {}",
                stage.name,
                other.name,
                flow.record.samples,
                activity(flow, stage),
                activity(flow, other)
            )
        }
        (_, Some(equal)) => {
            let other = &flow.stages[equal];
            format!(
                "{} and {} hold the pipeline back about equally: {}, {}",
                stage.name,
                other.name,
                activity(flow, stage),
                activity(flow, other)
            )
        }
        _ => activity(flow, stage),
    };
    if choice.equal.is_none() && !waits.is_empty() {
        message.push_str(&format!("; {waits}"));
    }
    if choice.equal.is_none() && stage.own_ns() < ALONE * flow.span_ns {
        message.push_str(&runner_up(flow, choice.top));
    }
    // Whoever sleeps holds up what comes after it, too: bytes that come late say nothing about how a stage reads.
    if stage.own.first().is_none_or(|(doing, _)| *doing != Doing::Waiting(Cause::Sleep)) {
        message.push_str(&phases::clause(flow, choice.top));
    }
    message.push('.');
    let mut finding = Finding::new(kind, message)
        .about_stage(stage.stage.stage)
        .about_pipe(outside_pipe(flow, stage, kind))
        .with_advice(advice(flow, choice, kind))
        .with_evidence(evidence(flow, choice));
    finding.confidence_percent = choice.confidence_percent.map(tenths);
    if kind == FindingKind::Bottleneck && stage.running_ns >= BOUND_SAYS_SOMETHING * flow.span_ns {
        let bound_ns = bound_ns(&flow.record.stages, flow.record.host.cpus);
        finding.best_time_ns = Some(bound_ns.min(flow.record.elapsed_ns));
    }
    finding
}

/// A percentage with one decimal; nothing is quite sure.
fn tenths(percent: f64) -> f64 {
    (percent * 10.0).round().min(999.0) / 10.0
}

/// `; next is sort with 4.20 s of its own`; empty when no other stage has a good part of the run.
fn runner_up(flow: &Flow<'_>, top: usize) -> String {
    let others =
        flow.stages.iter().enumerate().filter(|(index, _)| *index != top).map(|(_, stage)| stage);
    others
        .max_by(|a, b| a.own_ns().total_cmp(&b.own_ns()))
        .filter(|next| next.own_ns() >= WORTH_A_WORD * flow.span_ns)
        .map_or_else(String::new, |next| {
            format!("; next is {} with {} of its own", next.name, time(next.own_ns()))
        })
}

/// `jq is on a CPU 60 % and waits for a disk 30 % of the time`.
fn activity(flow: &Flow<'_>, stage: &StageFlow<'_>) -> String {
    let amounts = Amounts::of(stage.life_ns, flow.span_ns);
    let worth_ns = WORTH_A_WORD * stage.life_ns.min(flow.span_ns);
    let mut parts: Vec<String> = Vec::new();
    for (rank, &(doing, ns)) in stage.own.iter().enumerate().take(2) {
        if rank == 0 || ns >= worth_ns {
            parts.push(format!("{} {}", verb(doing), amounts.amount(ns)));
        }
    }
    let cpus = super::cpus::at_once(flow, stage);
    if stage.own.first().is_some_and(|(doing, _)| *doing == Doing::Running)
        && cpus >= SEVERAL_CPUS
        && cpus.is_finite()
    {
        parts[0] = format!(
            "keeps {} CPUs busy {}",
            super::cpus::in_words(cpus),
            amounts.amount(stage.running_ns)
        );
    }
    format!("{} {} {}", stage.name, list(&parts), amounts.suffix())
}

fn verb(doing: Doing) -> &'static str {
    match doing {
        Doing::Running => "is on a CPU",
        Doing::Runnable => "waits for a CPU",
        Doing::ReadingOutside => "waits for input from outside the pipeline",
        Doing::WritingOutside => "waits for the outside reader of its output",
        Doing::Waiting(cause) => match cause {
            Cause::Disk => "waits for a disk",
            Cause::Network => "waits for the network",
            Cause::LocalSocket => "waits for another process on a local socket",
            Cause::Terminal => "waits for the terminal",
            Cause::Sleep => "sleeps",
            Cause::Lock => "waits for a lock",
            Cause::Event => "waits for an event (a file that changes, a signal)",
            Cause::Child => "waits for processes it started",
            Cause::FifoPeer => "waits for someone to open the other side of a FIFO",
            Cause::Stopped => "is stopped",
            _ => "waits for something that could not be seen",
        },
    }
}

/// `zstdcat waits for it 96 % and sort 91 % of the time`; empty when nobody waits.
fn neighbour_waits(flow: &Flow<'_>, top: usize) -> String {
    let stage = &flow.stages[top];
    let longest =
        |side: &[Neighbour]| side.iter().copied().max_by(|a, b| a.waits_ns.total_cmp(&b.waits_ns));
    let clauses: Vec<(String, Amounts, f64)> =
        [longest(&stage.upstream), longest(&stage.downstream)]
            .into_iter()
            .flatten()
            .filter(|n| {
                n.waits_ns >= WORTH_A_WORD * flow.stages[n.stage].life_ns && n.waits_ns > 0.0
            })
            .map(|n| {
                let other = &flow.stages[n.stage];
                (other.name.clone(), Amounts::of(other.life_ns, flow.span_ns), n.waits_ns)
            })
            .collect();
    match clauses.as_slice() {
        [] => String::new(),
        [(name, amounts, ns)] => {
            format!("{name} waits for it {} {}", amounts.amount(*ns), amounts.suffix())
        }
        [(first, a @ Amounts::Percent { .. }, x), (second, b @ Amounts::Percent { .. }, y), ..] => {
            format!(
                "{first} waits for it {} and {second} {} {}",
                a.amount(*x),
                b.amount(*y),
                b.suffix()
            )
        }
        [(first, a, x), (second, b, y), ..] => format!(
            "{first} waits for it {} {}, {second} {} {}",
            a.amount(*x),
            a.suffix(),
            b.amount(*y),
            b.suffix()
        ),
    }
}

fn outside_pipe(flow: &Flow<'_>, stage: &StageFlow<'_>, kind: FindingKind) -> Option<u32> {
    let number = stage.stage.stage;
    let main = stage.own.first()?.0;
    let pipe = flow.record.pipes.iter().find(|pipe| match kind {
        FindingKind::SourceBound => {
            main == Doing::ReadingOutside && pipe.outside_writer && pipe.readers.contains(&number)
        }
        FindingKind::SinkBound => {
            main == Doing::WritingOutside && pipe.outside_reader && pipe.writers.contains(&number)
        }
        _ => false,
    })?;
    Some(pipe.pipe)
}

fn evidence(flow: &Flow<'_>, choice: Choice) -> std::collections::BTreeMap<String, f64> {
    let stage = &flow.stages[choice.top];
    let share = |ns: f64| {
        if stage.life_ns > 0.0 { ns / stage.life_ns * 100.0 } else { 0.0 }
    };
    let mut evidence = Evidence::default()
        .number("own_ns", stage.own_ns())
        .number("own_percent", share(stage.own_ns()))
        .number("running_percent", share(stage.running_ns))
        .number("runnable_percent", share(stage.runnable_ns))
        .number("life_ns", stage.life_ns)
        .number("elapsed_ns", flow.record.elapsed_ns as f64)
        .number("bound_ns", bound_ns(&flow.record.stages, flow.record.host.cpus) as f64);
    for (name, side) in [("upstream", &stage.upstream), ("downstream", &stage.downstream)] {
        if let Some(ns) = side.iter().map(|n| n.waits_ns).max_by(f64::total_cmp) {
            evidence = evidence.number(&format!("{name}_waited_ns"), ns);
        }
    }
    if let Some(equal) = choice.equal {
        let other = &flow.stages[equal];
        evidence = evidence
            .number("second_stage_number", f64::from(other.stage.stage))
            .number("second_own_ns", other.own_ns());
    }
    for (doing, ns) in &stage.own {
        if let Some(name) = evidence_name(*doing) {
            evidence = evidence.number(name, share(*ns));
        }
    }
    evidence.done()
}

fn evidence_name(doing: Doing) -> Option<&'static str> {
    Some(match doing {
        Doing::Running | Doing::Runnable => return None,
        Doing::ReadingOutside => "waiting_for_outside_input_percent",
        Doing::WritingOutside => "waiting_for_outside_reader_percent",
        Doing::Waiting(cause) => match cause {
            Cause::Disk => "waiting_for_disk_percent",
            Cause::Network => "waiting_for_network_percent",
            Cause::LocalSocket => "waiting_for_local_socket_percent",
            Cause::Terminal => "waiting_for_terminal_percent",
            Cause::Sleep => "sleeping_percent",
            Cause::Lock => "waiting_for_lock_percent",
            Cause::Event => "waiting_for_event_percent",
            Cause::Child => "waiting_for_children_percent",
            Cause::FifoPeer => "waiting_for_fifo_peer_percent",
            Cause::Stopped => "stopped_percent",
            _ => "waiting_for_unknown_percent",
        },
    })
}
