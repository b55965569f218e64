//! The record turned into absolute times: what each stage did with its own time, and who waited for it.

use fullbore_record::{Cause, PipeRecord, RunRecord, StageRecord};

use super::names::stage_names;
use super::sockets;

/// What a stage does when it does not wait for another stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// On a CPU.
    Running,
    /// Waiting for a CPU.
    Runnable,
    /// Waiting for something that is neither a stage nor a CPU.
    Waiting(Cause),
    /// Reading a pipe whose writer is not part of the pipeline.
    ReadingOutside,
    /// Writing a pipe whose reader is not part of the pipeline.
    WritingOutside,
}

/// A stage on the other side of a pipe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    /// Index of the stage.
    pub(super) stage: usize,
    /// How long the neighbour was blocked on that pipe.
    pub(super) waits_ns: f64,
}

/// One stage, in nanoseconds.
pub(super) struct StageFlow<'a> {
    pub(super) stage: &'a StageRecord,
    pub(super) name: String,
    pub(super) life_ns: f64,
    pub(super) running_ns: f64,
    pub(super) runnable_ns: f64,
    /// Time in which it did not wait for another stage, by what it did; the largest part first.
    pub(super) own: Vec<(Doing, f64)>,
    /// Stages it reads from.
    pub(super) upstream: Vec<Neighbour>,
    /// Stages it writes to.
    pub(super) downstream: Vec<Neighbour>,
}

impl StageFlow<'_> {
    /// Time in which it did not wait for another stage.
    pub(super) fn own_ns(&self) -> f64 {
        self.own.iter().map(|(_, ns)| ns).sum()
    }

    /// The same with as many CPUs as it wants.
    pub(super) fn needed_ns(&self) -> f64 {
        self.own_ns() - self.runnable_ns
    }

    /// The longest that one neighbour waited for it.
    pub(super) fn waited_for_ns(&self) -> f64 {
        self.neighbours().map(|n| n.waits_ns).fold(0.0, f64::max)
    }

    /// When it began, from the start of the run.
    pub(super) fn begin_ns(&self) -> f64 {
        self.stage.start_ns as f64
    }

    /// When it ended.
    pub(super) fn end_ns(&self) -> f64 {
        self.begin_ns() + self.life_ns
    }

    /// How long both lived at the same time; negative: what lay between their lives.
    pub(super) fn together_ns(&self, other: &Self) -> f64 {
        self.end_ns().min(other.end_ns()) - self.begin_ns().max(other.begin_ns())
    }

    /// All neighbours, upstream first.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.upstream.iter().chain(&self.downstream)
    }
}

/// The whole pipeline.
pub(super) struct Flow<'a> {
    pub(super) record: &'a RunRecord,
    /// Length of the run.
    pub(super) span_ns: f64,
    pub(super) stages: Vec<StageFlow<'a>>,
}

impl<'a> Flow<'a> {
    pub(super) fn of(record: &'a RunRecord) -> Self {
        let mut stages: Vec<StageFlow<'a>> = stage_names(&record.stages)
            .into_iter()
            .enumerate()
            .map(|(index, name)| stage_flow(record, index, name))
            .collect();
        let longest_ns = stages.iter().map(|s| s.life_ns).fold(0.0, f64::max);
        let elapsed_ns = if record.elapsed_ns > 0 { record.elapsed_ns as f64 } else { longest_ns };
        let span_ns = elapsed_ns - forget_common_stop(&mut stages);
        Self { record, span_ns, stages }
    }

    /// Index of the stage with this number.
    pub(super) fn stage_index(&self, number: u32) -> Option<usize> {
        stage_index(self.record, number)
    }

    /// The pipe with this number.
    pub(super) fn pipe(&self, number: u32) -> Option<&'a PipeRecord> {
        self.record.pipes.iter().find(|pipe| pipe.pipe == number)
    }

    /// What a pipe is called in a sentence: `the pipe from jq to sort`.
    pub(super) fn pipe_name(&self, pipe: &PipeRecord) -> String {
        let name = |numbers: &[u32]| {
            numbers
                .iter()
                .find_map(|&n| self.stage_index(n))
                .map(|index| self.stages[index].name.as_str())
                // A stage that sleeps more than it does anything else: its bytes come from the rest of it.
                .map(|name| {
                    name.strip_prefix("sleep (in ")
                        .and_then(|it| it.strip_suffix(')'))
                        .unwrap_or(name)
                })
        };
        match (name(&pipe.writers), name(&pipe.readers)) {
            (Some(writer), Some(reader)) => format!("the pipe from {writer} to {reader}"),
            (None, Some(reader)) => format!("the pipe into {reader}"),
            (Some(writer), None) => format!("the pipe out of {writer}"),
            (None, None) => format!("pipe {}", pipe.pipe),
        }
    }
}

/// Takes out the time in which several stages were stopped together (Ctrl-Z): it is nobody's; returns its length.
fn forget_common_stop(stages: &mut [StageFlow<'_>]) -> f64 {
    const STOPPED: Doing = Doing::Waiting(Cause::Stopped);
    let stopped: Vec<f64> = stages
        .iter()
        .flat_map(|s| &s.own)
        .filter(|(doing, _)| *doing == STOPPED)
        .map(|(_, ns)| *ns)
        .collect();
    if stopped.len() < 2 {
        return 0.0;
    }
    let common_ns = stopped.into_iter().fold(f64::INFINITY, f64::min);
    for stage in stages {
        for (_, ns) in stage.own.iter_mut().filter(|(doing, _)| *doing == STOPPED) {
            *ns -= common_ns;
            stage.life_ns = (stage.life_ns - common_ns).max(0.0);
        }
        stage.own.retain(|(_, ns)| *ns > 0.0);
        stage.own.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    common_ns
}

fn stage_index(record: &RunRecord, number: u32) -> Option<usize> {
    record.stages.iter().position(|stage| stage.stage == number)
}

/// `percent` of `whole_ns`; what is not a percentage counts as none.
pub(super) fn part_ns(percent: f64, whole_ns: f64) -> f64 {
    if percent.is_finite() { percent.clamp(0.0, 100.0) / 100.0 * whole_ns } else { 0.0 }
}

/// How long the stage was on a CPU.
pub(super) fn running_ns(stage: &StageRecord) -> f64 {
    part_ns(stage.running_percent, stage.life_ns as f64)
}

fn stage_flow(record: &RunRecord, index: usize, name: String) -> StageFlow<'_> {
    let stage = &record.stages[index];
    let upstream = neighbours(record, index, |p| &p.readers, |p| &p.writers);
    let downstream = neighbours(record, index, |p| &p.writers, |p| &p.readers);
    let mut flow = StageFlow {
        stage,
        name,
        life_ns: stage.life_ns as f64,
        running_ns: running_ns(stage),
        runnable_ns: part_ns(stage.runnable_percent, stage.life_ns as f64),
        own: Vec::new(),
        upstream,
        downstream,
    };
    flow.own = own_parts(record, &flow);
    flow.own.sort_by(|a, b| b.1.total_cmp(&a.1));
    flow
}

/// The stages on the other side of the pipes that `index` uses on the near side, with their waits.
fn neighbours(
    record: &RunRecord,
    index: usize,
    near: impl Fn(&PipeRecord) -> &Vec<u32>,
    far: impl Fn(&PipeRecord) -> &Vec<u32>,
) -> Vec<Neighbour> {
    let number = record.stages[index].stage;
    let mut found = Vec::new();
    for pipe in record.pipes.iter().filter(|pipe| near(pipe).contains(&number)) {
        for &other in far(pipe).iter().filter(|&&other| other != number) {
            let Some(stage) = stage_index(record, other) else {
                continue;
            };
            let far_writes = pipe.writers.contains(&other);
            let there = &record.stages[stage];
            let (on_pipe, on_all) = if far_writes {
                (pipe.writer_blocked_percent, there.blocked_writing_percent)
            } else {
                (pipe.reader_blocked_percent, there.blocked_reading_percent)
            };
            let life_ns = there.life_ns as f64;
            let waits_ns = match (on_pipe, on_all) {
                (Some(percent), _) => part_ns(percent, pipe.life_ns as f64).min(life_ns),
                (None, Some(percent)) => part_ns(percent, life_ns),
                (None, None) => 0.0,
            };
            found.push(Neighbour { stage, waits_ns });
        }
    }
    found
}

/// What the stage did while it did not wait for another stage.
fn own_parts(record: &RunRecord, flow: &StageFlow<'_>) -> Vec<(Doing, f64)> {
    let (stage, life_ns) = (flow.stage, flow.life_ns);
    let mut own = vec![(Doing::Running, flow.running_ns), (Doing::Runnable, flow.runnable_ns)];
    // Time whose reason could not be seen, or that may be another stage's fault, is own only as far as neighbours waited.
    let (mut hidden_ns, mut fifo_ns, mut socket_ns, mut caused_ns) = (0.0, 0.0, 0.0, 0.0);
    for (&cause, &percent) in &stage.blocked_other_causes {
        let ns = part_ns(percent, life_ns);
        caused_ns += ns;
        match cause {
            Cause::Unknown => hidden_ns += ns,
            Cause::FifoPeer => fifo_ns += ns,
            // The other side may be a stage (ksh93 joins its stages by socket pairs), or a server.
            Cause::LocalSocket if sockets::is_for_a_stage(record, stage, ns, running_ns) => {}
            Cause::LocalSocket => socket_ns += ns,
            // That is another stage's time.
            Cause::Peer => {}
            _ => own.push((Doing::Waiting(cause), ns)),
        }
    }
    hidden_ns += (part_ns(stage.blocked_other_percent, life_ns) - caused_ns).max(0.0);
    for side in [Side::Reading, Side::Writing] {
        let blocked = if side == Side::Reading {
            stage.blocked_reading_percent
        } else {
            stage.blocked_writing_percent
        };
        let blocked_ns = blocked.map_or(0.0, |percent| part_ns(percent, life_ns));
        let (outside_ns, inside_ns, unseen_ns) = split_pipe_waits(record, stage, side, blocked_ns);
        let outside =
            if side == Side::Reading { Doing::ReadingOutside } else { Doing::WritingOutside };
        own.push((outside, outside_ns));
        own.push((Doing::Waiting(Cause::Child), inside_ns));
        hidden_ns += unseen_ns;
    }
    if stage.blocked_reading_percent.is_none() && stage.blocked_writing_percent.is_none() {
        let seen_ns =
            flow.running_ns + flow.runnable_ns + part_ns(stage.blocked_other_percent, life_ns);
        hidden_ns += (life_ns - seen_ns).max(0.0);
    }
    let known_ns: f64 = own.iter().map(|(_, ns)| ns).sum();
    let unexplained_ns = (flow.waited_for_ns() - known_ns).max(0.0);
    let fifo_ns = f64::min(fifo_ns, unexplained_ns);
    own.push((Doing::Waiting(Cause::FifoPeer), fifo_ns));
    let socket_ns = f64::min(socket_ns, unexplained_ns - fifo_ns);
    own.push((Doing::Waiting(Cause::LocalSocket), socket_ns));
    let left_ns = unexplained_ns - fifo_ns - socket_ns;
    own.push((Doing::Waiting(Cause::Unknown), hidden_ns.min(left_ns)));
    merged(own)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Reading,
    Writing,
}

/// Splits the waits of a stage on pipes into those on the outside, on its own processes, and on pipes nobody saw.
fn split_pipe_waits(
    record: &RunRecord,
    stage: &StageRecord,
    side: Side,
    blocked_ns: f64,
) -> (f64, f64, f64) {
    let (mut outside_ns, mut inside_ns, mut between_pipes, mut pipes) = (0.0, 0.0, 0, 0);
    for pipe in &record.pipes {
        let (near, far, is_outside, percent) = match side {
            Side::Reading => {
                (&pipe.readers, &pipe.writers, pipe.outside_writer, pipe.reader_blocked_percent)
            }
            Side::Writing => {
                (&pipe.writers, &pipe.readers, pipe.outside_reader, pipe.writer_blocked_percent)
            }
        };
        if !near.contains(&stage.stage) {
            continue;
        }
        pipes += 1;
        let ns = percent.map_or(blocked_ns, |percent| part_ns(percent, pipe.life_ns as f64));
        if far.iter().any(|&other| other != stage.stage) {
            between_pipes += 1;
        } else if is_outside {
            outside_ns += ns;
        } else if !far.is_empty() {
            inside_ns += ns;
        }
    }
    if pipes == 0 {
        return (0.0, 0.0, blocked_ns);
    }
    if between_pipes == 0 && inside_ns == 0.0 && outside_ns > 0.0 {
        return (blocked_ns, 0.0, 0.0);
    }
    let outside_ns = f64::min(outside_ns, blocked_ns);
    (outside_ns, f64::min(inside_ns, blocked_ns - outside_ns), 0.0)
}

/// Adds up equal activities and leaves out empty ones.
fn merged(parts: Vec<(Doing, f64)>) -> Vec<(Doing, f64)> {
    let mut sums: Vec<(Doing, f64)> = Vec::new();
    for (doing, ns) in parts {
        match sums.iter_mut().find(|(known, _)| *known == doing) {
            Some((_, sum)) => *sum += ns,
            None => sums.push((doing, ns)),
        }
    }
    sums.retain(|(_, ns)| *ns > 0.0);
    sums
}
