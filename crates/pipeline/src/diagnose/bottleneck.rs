//! Which stage holds the others back, and what it does meanwhile.

use fullbore_measure::Bytes;

use crate::record::{Cause, Finding, FindingKind, Outcome};

use super::cures;
use super::evidence::Evidence;
use super::flow::{Doing, Flow, Neighbour, StageFlow};
use super::names::Command;
use super::turns;
use super::words::{Amounts, count, list, time};

/// A stage whose own time is a smaller share of the run than this proves nothing.
const MIN_OWN_SHARE: f64 = 0.05;

/// Stages this close to each other are named together.
const ABOUT_EQUAL: f64 = 0.9;

/// Parts of a stage's time, and waits of a neighbour, below this share are not worth a word.
const WORTH_A_WORD: f64 = 0.1;

/// A stage that neighbours wait for during less than this share of its waits may be idle on the side.
const IDLE_WAITED_FOR: f64 = 0.05;

/// An idle stage on the side lives as long, and has as much own time, as one that works.
const IDLE_RIVAL: f64 = 0.8;

/// A stage must run this share of the run before the best possible time says anything about the whole.
const BOUND_SAYS_SOMETHING: f64 = 0.7;

/// A stage with less own time than this shares the run with others.
const ALONE: f64 = 0.7;

/// More CPUs than this per second of running make a stage a multi-threaded one.
const SEVERAL_CPUS: f64 = 1.3;

/// Output below this share of the input is a summary, not what a stage waits to write.
const SUMMARY_SHARE: f64 = 0.01;

/// One direction is the stage's trade when it moves this many times the bytes of the other.
const MOSTLY_ONE_WAY: f64 = 2.0;

/// The stage that waits least for others, and one that is about equal to it.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) top: usize,
    pub(super) equal: Option<usize>,
}

/// The stage with the most time of its own; among nearly equal ones the one that needs the most with CPUs to spare.
pub(super) fn choose(flow: &Flow<'_>) -> Option<Choice> {
    let working: Vec<usize> = (0..flow.stages.len())
        .filter(|&i| !is_idle_on_the_side(flow, i))
        .collect();
    let own_ns = |i: usize| flow.stages[i].own_ns();
    let most_ns = working.iter().map(|&i| own_ns(i)).fold(0.0, f64::max);
    if flow.span_ns <= 0.0 || most_ns < MIN_OWN_SHARE * flow.span_ns {
        return None;
    }
    let mut contenders: Vec<usize> = working
        .into_iter()
        .filter(|&i| own_ns(i) >= ABOUT_EQUAL * most_ns)
        .collect();
    contenders.sort_by(|&a, &b| {
        flow.stages[b]
            .needed_ns()
            .total_cmp(&flow.stages[a].needed_ns())
    });
    let top = *contenders.first()?;
    let enough_ns = ABOUT_EQUAL * flow.stages[top].needed_ns();
    let equal = contenders
        .get(1)
        .copied()
        .filter(|&i| flow.stages[i].needed_ns() >= enough_ns);
    Some(Choice { top, equal })
}

/// It sleeps or waits by itself, nobody waits for it, and another stage worked all the while.
fn is_idle_on_the_side(flow: &Flow<'_>, index: usize) -> bool {
    let stage = &flow.stages[index];
    let waiting_ns = stage.needed_ns() - stage.running_ns;
    waiting_ns > stage.own_ns() / 2.0
        && stage.neighbours().next().is_some()
        && stage.waited_for_ns() < IDLE_WAITED_FOR * waiting_ns
        && flow.stages.iter().enumerate().any(|(other, rival)| {
            other != index
                && rival.life_ns >= IDLE_RIVAL * stage.life_ns
                && rival.own_ns() >= IDLE_RIVAL * stage.own_ns()
                && rival.running_ns > rival.own_ns() / 2.0
        })
}

/// Whether the chosen stage is held back by its input, its output, or itself.
pub(super) fn kind_of(flow: &Flow<'_>, top: usize) -> FindingKind {
    let stage = &flow.stages[top];
    let sum = |wanted: &[Doing]| {
        stage
            .own
            .iter()
            .filter(|(d, _)| wanted.contains(d))
            .map(|(_, ns)| ns)
            .sum::<f64>()
    };
    let half_ns = stage.own_ns() / 2.0;
    let disk_ns = sum(&[Doing::Waiting(Cause::Disk)]);
    let device_ns = disk_ns
        + sum(&[
            Doing::Waiting(Cause::Network),
            Doing::Waiting(Cause::Terminal),
        ]);
    let (is_head, is_tail) = (stage.upstream.is_empty(), stage.downstream.is_empty());
    let moves = Moves::of(stage);
    let writes_out = if disk_ns > device_ns / 2.0 {
        moves.writes_matter
    } else {
        true
    };
    let (mut inward_ns, mut outward_ns) =
        (sum(&[Doing::ReadingOutside]), sum(&[Doing::WritingOutside]));
    match (is_head, is_tail) {
        (true, false) => inward_ns += device_ns,
        (false, true) if writes_out => outward_ns += device_ns,
        (true, true) if moves.mostly_reads => inward_ns += device_ns,
        (true, true) if moves.mostly_writes => outward_ns += device_ns,
        _ => {}
    }
    if inward_ns > half_ns && inward_ns >= outward_ns {
        FindingKind::SourceBound
    } else if outward_ns > half_ns {
        FindingKind::SinkBound
    } else {
        FindingKind::Bottleneck
    }
}

/// Which way the bytes of a stage go.
struct Moves {
    mostly_reads: bool,
    mostly_writes: bool,
    writes_matter: bool,
}

impl Moves {
    fn of(stage: &StageFlow<'_>) -> Self {
        let (Some(read), Some(written)) = (stage.stage.read_bytes, stage.stage.written_bytes)
        else {
            return Self {
                mostly_reads: false,
                mostly_writes: false,
                writes_matter: true,
            };
        };
        let (read, written) = (read as f64, written as f64);
        Self {
            mostly_reads: read > 0.0 && read >= MOSTLY_ONE_WAY * written,
            mostly_writes: written > 0.0 && written >= MOSTLY_ONE_WAY * read,
            writes_matter: written > SUMMARY_SHARE * read,
        }
    }
}

/// The finding about the chosen stage.
pub(super) fn finding(flow: &Flow<'_>, choice: Choice) -> Finding {
    let stage = &flow.stages[choice.top];
    let kind = kind_of(flow, choice.top);
    let waits = neighbour_waits(flow, choice.top);
    let mut message = match (kind, choice.equal) {
        (FindingKind::SourceBound, _) => {
            format!("{}, so the source sets the pace", activity(flow, stage))
        }
        (FindingKind::SinkBound, _) => format!(
            "{}, so the destination sets the pace",
            activity(flow, stage)
        ),
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
    if kind == FindingKind::Bottleneck && stage.running_ns >= BOUND_SAYS_SOMETHING * flow.span_ns {
        message.push_str(&format!("; {}", best_possible(flow)));
    }
    message.push('.');
    Finding {
        kind,
        stage: Some(stage.stage.stage),
        pipe: outside_pipe(flow, stage, kind),
        message,
        advice: advice(flow, choice, kind),
        evidence: evidence(flow, choice),
    }
}

/// `; next is sort with 4.20 s of its own`; empty when no other stage has a good part of the run.
fn runner_up(flow: &Flow<'_>, top: usize) -> String {
    let others = flow
        .stages
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != top)
        .map(|(_, stage)| stage);
    others
        .max_by(|a, b| a.own_ns().total_cmp(&b.own_ns()))
        .filter(|next| next.own_ns() >= WORTH_A_WORD * flow.span_ns)
        .map_or_else(String::new, |next| {
            format!(
                "; next is {} with {} of its own",
                next.name,
                time(next.own_ns())
            )
        })
}

/// `the best possible time is 11.4 s, this run took 11.6 s`.
pub(super) fn best_possible(flow: &Flow<'_>) -> String {
    let bound_ns = super::bound_ns(&flow.record.stages, flow.record.host.cpus) as f64;
    let elapsed_ns = flow.record.elapsed_ns as f64;
    let stopped_ns = elapsed_ns - flow.span_ns;
    let stopped = if stopped_ns > 0.0 {
        format!(", {} of it stopped", time(stopped_ns))
    } else {
        String::new()
    };
    format!(
        "the best possible time is {}, this run took {}{stopped}",
        time(bound_ns.min(elapsed_ns)),
        time(elapsed_ns)
    )
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
    let cpus = stage.stage.cpu_ns as f64 / stage.running_ns;
    if stage
        .own
        .first()
        .is_some_and(|(doing, _)| *doing == Doing::Running)
        && cpus >= SEVERAL_CPUS
        && cpus.is_finite()
    {
        parts[0] = format!(
            "keeps {cpus:.1} CPUs busy {}",
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
            Cause::Terminal => "waits for the terminal",
            Cause::Sleep => "sleeps",
            Cause::Lock => "waits for a lock",
            Cause::Child => "waits for processes it started",
            Cause::FifoPeer => "waits for someone to open the other side of a FIFO",
            Cause::Stopped => "is stopped",
            Cause::Unknown => "waits for something that could not be seen",
        },
    }
}

/// `zstdcat waits for it 96 % and sort 91 % of the time`; empty when nobody waits.
fn neighbour_waits(flow: &Flow<'_>, top: usize) -> String {
    let stage = &flow.stages[top];
    let longest = |side: &[Neighbour]| {
        side.iter()
            .copied()
            .max_by(|a, b| a.waits_ns.total_cmp(&b.waits_ns))
    };
    let clauses: Vec<(String, Amounts, f64)> =
        [longest(&stage.upstream), longest(&stage.downstream)]
            .into_iter()
            .flatten()
            .filter(|n| {
                n.waits_ns >= WORTH_A_WORD * flow.stages[n.stage].life_ns && n.waits_ns > 0.0
            })
            .map(|n| {
                let other = &flow.stages[n.stage];
                (
                    other.name.clone(),
                    Amounts::of(other.life_ns, flow.span_ns),
                    n.waits_ns,
                )
            })
            .collect();
    match clauses.as_slice() {
        [] => String::new(),
        [(name, amounts, ns)] => format!(
            "{name} waits for it {} {}",
            amounts.amount(*ns),
            amounts.suffix()
        ),
        [
            (first, a @ Amounts::Percent { .. }, x),
            (second, b @ Amounts::Percent { .. }, y),
            ..,
        ] => {
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

fn advice(flow: &Flow<'_>, choice: Choice, kind: FindingKind) -> String {
    let stage = &flow.stages[choice.top];
    let main = stage
        .own
        .first()
        .map_or(Doing::Running, |(doing, _)| *doing);
    let text = match (kind, main) {
        (FindingKind::SourceBound, Doing::ReadingOutside) => {
            "Look at the program that writes to this pipeline: `fullbore top` shows what it waits for.".to_owned()
        }
        (FindingKind::SinkBound, Doing::WritingOutside) => {
            "Look at the program that reads from this pipeline: `fullbore top` shows what it waits for.".to_owned()
        }
        (_, Doing::Waiting(cause)) => cures::for_cause(cause, kind, &stage.name, stage.stage.pid),
        (_, Doing::Runnable) => String::new(),
        _ => cpu_advice(flow, choice),
    };
    let parts = [text, tuned(flow).unwrap_or_default()];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn cpu_advice(flow: &Flow<'_>, choice: Choice) -> String {
    let stage = &flow.stages[choice.top];
    let was_tuned = flow
        .record
        .tuning
        .iter()
        .any(|t| t.outcome == Outcome::Kept);
    let opening = if was_tuned {
        ""
    } else {
        "No pipe setting helps. "
    };
    let cpus = flow.record.host.cpus;
    let threads_help = cpus > 1 && (stage.stage.cpu_ns as f64) < SEVERAL_CPUS * stage.running_ns;
    let command = Command::parse(&stage.stage.command);
    if stage.stage.processes >= cures::MANY_PROCESSES {
        let processes = count(u64::from(stage.stage.processes));
        return format!(
            "{opening}{} started {processes} processes: let one program such as `awk` do the whole loop, or start fewer with `xargs`.",
            stage.name
        );
    }
    let cure = super::calls::cure_of(flow, choice.top);
    let has_input = !stage.upstream.is_empty()
        || flow
            .record
            .pipes
            .iter()
            .any(|p| p.readers.contains(&stage.stage.stage));
    let lines_can_be_shared = threads_help && has_input;
    let faster = || cures::for_cpu(&command, &stage.name, threads_help, lines_can_be_shared);
    format!("{opening}{}", cure.unwrap_or_else(faster))
}

/// What tuning did, when it did something.
fn tuned(flow: &Flow<'_>) -> Option<String> {
    let kept: Vec<_> = flow
        .record
        .tuning
        .iter()
        .filter(|t| t.outcome == Outcome::Kept)
        .collect();
    let last = kept.last()?;
    let first = kept.iter().find(|t| t.pipe == last.pipe)?;
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

fn evidence(flow: &Flow<'_>, choice: Choice) -> std::collections::BTreeMap<String, f64> {
    let stage = &flow.stages[choice.top];
    let share = |ns: f64| {
        if stage.life_ns > 0.0 {
            ns / stage.life_ns * 100.0
        } else {
            0.0
        }
    };
    let mut evidence = Evidence::default()
        .number("own_ns", stage.own_ns())
        .number("own_percent", share(stage.own_ns()))
        .number("running_percent", share(stage.running_ns))
        .number("runnable_percent", share(stage.runnable_ns))
        .number("life_ns", stage.life_ns)
        .number("elapsed_ns", flow.record.elapsed_ns as f64)
        .number(
            "bound_ns",
            super::bound_ns(&flow.record.stages, flow.record.host.cpus) as f64,
        );
    for (name, side) in [
        ("upstream", &stage.upstream),
        ("downstream", &stage.downstream),
    ] {
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
            Cause::Terminal => "waiting_for_terminal_percent",
            Cause::Sleep => "sleeping_percent",
            Cause::Lock => "waiting_for_lock_percent",
            Cause::Child => "waiting_for_children_percent",
            Cause::FifoPeer => "waiting_for_fifo_peer_percent",
            Cause::Stopped => "stopped_percent",
            Cause::Unknown => "waiting_for_unknown_percent",
        },
    })
}
