//! Stages that move their data a few bytes at a time.

use fullbore_record::{Finding, FindingKind, StageRecord};

use super::circles::{AtOnce, at_once};
use super::cures::{Direction, MANY_PROCESSES, for_small_calls, passes_on};
use super::evidence::Evidence;
use super::flow::Flow;
use super::names::Command;
use super::parts::{Advice, about, at_least, only};
use super::phrases::{count, whole};

/// Calls of fewer bytes than this cost more than the bytes they move: 4 KiB, less a margin because the last piece of
/// what a program writes in full buffers of 4 KiB (as C's stdio does on a pipe) is shorter.
const SMALL_BYTES: f64 = 0.95 * 4096.0;

/// Fewer calls than this cost nothing that matters.
const MANY_CALLS: u64 = 2_000;

/// What a call costs at least, in nanoseconds, whatever it moves …
const CALL_NS: f64 = 1000.0;
/// … and the share of the run from which that matters.
const COSTLY_SHARE: f64 = 0.02;

/// A stage that runs for less of the run than this gains nothing from larger calls.
const RELEVANT_SHARE: f64 = 0.1;

/// A reader whose reads are at least this part of what its writer writes reads what there is.
const TAKES_WHAT_COMES: f64 = 0.5;

/// Small calls of one stage in one direction.
struct SmallCalls {
    direction: Direction,
    calls: u64,
    bytes_each: f64,
}

/// One finding for each stage whose small calls matter; `bottleneck` is the index of the stage that holds back the rest.
pub(super) fn findings(flow: &Flow<'_>, bottleneck: Option<usize>) -> Vec<Finding> {
    (0..flow.stages.len())
        .filter(|&index| is_relevant(flow, index, bottleneck))
        .filter_map(|index| Some((index, worst(flow, index)?)))
        .filter(|(_, small)| small.calls as f64 * CALL_NS >= COSTLY_SHARE * flow.span_ns)
        .map(|(index, small)| finding(flow, index, &small))
        .collect()
}

/// How to make the calls of this stage larger, when they are small.
pub(super) fn cure_of(flow: &Flow<'_>, index: usize) -> Option<Advice> {
    let small = worst(flow, index)?;
    Some(advice(flow, index, small.direction)).filter(|advice| !advice.is_empty())
}

/// Whoever waits for each piece would wait longer for a larger one, and forever if it is the stage itself.
fn advice(flow: &Flow<'_>, index: usize, direction: Direction) -> Advice {
    let stage = &flow.stages[index];
    match at_once(flow, index) {
        Some(AtOnce::Circle) => only(format!(
            "{} has to write at once, because what it writes comes back to it: fewer and larger questions would help.",
            stage.name
        )),
        Some(AtOnce::Live) => Advice::new(),
        None => for_small_calls(&Command::of(stage.stage), direction),
    }
}

/// It runs a good part of the time, or makes a stage that does read in small pieces.
fn is_relevant(flow: &Flow<'_>, index: usize, bottleneck: Option<usize>) -> bool {
    let matters = |i: usize| {
        bottleneck == Some(i) || flow.stages[i].running_ns >= RELEVANT_SHARE * flow.span_ns
    };
    matters(index)
        || flow.stages[index]
            .downstream
            .iter()
            .any(|n| matters(n.stage) && follows_its_writer(flow, n.stage))
}

/// The direction with more calls, of those that are small by the stage's own doing.
fn worst(flow: &Flow<'_>, index: usize) -> Option<SmallCalls> {
    let stage = flow.stages[index].stage;
    let runs = Command::of(stage);
    if stage.processes >= MANY_PROCESSES && !runs.is_shell() {
        // The calls of many short lives (xargs): each has a few small ones, whatever it does.
        return None;
    }
    let passes_it_on = passes_on(&runs) && follows_its_writer(flow, index);
    // Every process reads the heads of its libraries: with several of them, that is not the stage's data.
    // A shell that reads a file reads a block, uses a line, and goes back to read the rest again.
    let is_fed = !flow.stages[index].upstream.is_empty();
    let reads_data = is_fed || stage.processes <= 1 && !runs.is_shell();
    let reads =
        small(stage, Direction::Reads).filter(|_| reads_data && !follows_its_writer(flow, index));
    let writes = small(stage, Direction::Writes).filter(|_| !passes_it_on);
    [reads, writes].into_iter().flatten().max_by_key(|small| small.calls)
}

/// It reads in small pieces because that is how they are written.
fn follows_its_writer(flow: &Flow<'_>, index: usize) -> bool {
    let stage = &flow.stages[index];
    let Some(reads) = bytes_each(stage.stage, Direction::Reads) else {
        return false;
    };
    stage.upstream.iter().any(|n| {
        bytes_each(flow.stages[n.stage].stage, Direction::Writes)
            .is_some_and(|writes| writes < SMALL_BYTES && reads >= TAKES_WHAT_COMES * writes)
    })
}

fn calls_and_bytes(stage: &StageRecord, direction: Direction) -> Option<(u64, u64)> {
    match direction {
        Direction::Reads => stage.read_calls.zip(stage.read_bytes),
        Direction::Writes => stage.write_calls.zip(stage.written_bytes),
    }
}

fn bytes_each(stage: &StageRecord, direction: Direction) -> Option<f64> {
    let (calls, bytes) = calls_and_bytes(stage, direction)?;
    (calls > 0 && bytes > 0).then(|| bytes as f64 / calls as f64)
}

fn small(stage: &StageRecord, direction: Direction) -> Option<SmallCalls> {
    let (calls, _) = calls_and_bytes(stage, direction)?;
    let bytes_each = bytes_each(stage, direction)?;
    (calls >= MANY_CALLS && bytes_each < SMALL_BYTES).then_some(SmallCalls {
        direction,
        calls,
        bytes_each,
    })
}

fn finding(flow: &Flow<'_>, index: usize, small: &SmallCalls) -> Finding {
    let stage = &flow.stages[index];
    let (verb, prefix) = match small.direction {
        Direction::Reads => ("reads", "read"),
        Direction::Writes => ("writes", "write"),
    };
    let size = match small.bytes_each {
        bytes if bytes < 1.5 => "1 byte".to_owned(),
        bytes => format!("{} bytes", count(whole(bytes))),
    };
    // The calls of a process after it was last seen are not counted.
    let calls = if stage.stage.processes > 1 { at_least(small.calls) } else { about(small.calls) };
    let message = format!("{} {verb} {size} at a time: {calls} calls.", stage.name);
    let evidence = Evidence::default()
        .number(&format!("{prefix}_calls_count"), small.calls as f64)
        .number(&format!("average_{prefix}_bytes"), small.bytes_each)
        .number("running_percent", stage.stage.running_percent);
    Finding::new(FindingKind::SmallCalls, message)
        .about_stage(stage.stage.stage)
        .with_advice(advice(flow, index, small.direction))
        .with_evidence(evidence.done())
}
