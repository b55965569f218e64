//! From what was watched to the record.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Host;

use crate::diagnose::bound_ns;
use crate::events::as_shell_reports;
use crate::names::text_of;
use crate::observe::Watch;
use crate::pipes::Pipe;
use crate::record::{Cause, PipeRecord, RunRecord, SCHEMA, StageRecord, Timeline, TuningRecord};
use crate::stage::Stage;
use crate::tune::Attempt;

/// A shell that only waits for its stages is no stage: it is shown above this share of the run's CPU time.
const SHELL_CPU_SHARE_MIN: f64 = 0.05;
/// … or when it waited on pipes itself for this share of its life.
const SHELL_PIPE_SHARE_MIN: f64 = 0.02;
/// A neighbour that read more than this beyond what was written got it by splice, which Linux does not count.
const UNCOUNTED_BYTES: u64 = 1 << 20;

/// What the record says about the run as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) command: &'a str,
    pub(crate) started_unix_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) exit_status: i32,
    pub(crate) host: &'a Host,
    pub(crate) attempts: &'a [Attempt],
}

/// Numbers of stages and pipes in the record, by index.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    stages: BTreeMap<usize, u32>,
    pipes: BTreeMap<usize, u32>,
    /// Pipes of the record: the first of those that are one.
    pub(crate) pipe_order: Vec<usize>,
    pub(crate) stage_order: Vec<usize>,
}

impl Watch {
    /// The record so far, without findings.
    pub(crate) fn record(&self, frame: &Frame<'_>) -> (RunRecord, Numbers) {
        let numbers = self.number();
        let labels = self.labels(&numbers.stage_order, frame.command);
        let stages: Vec<StageRecord> = numbers
            .stage_order
            .iter()
            .map(|index| self.stage_record(*index, &numbers, &labels))
            .collect();
        let pipes = self.pipe_records(&numbers);
        let mut record = RunRecord {
            schema: SCHEMA.to_owned(),
            fullbore_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: frame.command.to_owned(),
            started_unix_ns: frame.started_unix_ns,
            exit_status: frame.exit_status,
            elapsed_ns: frame.elapsed_ns,
            bound_ns: bound_ns(&stages, frame.host.cpus),
            overlap_percent: percent(self.sums.two_run_ns as f64, self.sums.one_runs_ns as f64),
            parallelism: stages.iter().map(|stage| stage.cpu_ns as f64).sum::<f64>()
                / frame.elapsed_ns.max(1) as f64,
            observer_cpu_ns: own_cpu_ns(),
            samples: self.sums.samples,
            host: frame.host.clone(),
            stages,
            pipes,
            tuning: tuning(frame.attempts, &numbers),
            incidents: self.incident_records(&numbers, frame.elapsed_ns),
            findings: Vec::new(),
            gaps: self.gaps.iter().cloned().collect(),
            timeline: self.timeline(&numbers, frame.elapsed_ns),
        };
        doubt_uncounted_bytes(&mut record);
        (record, numbers)
    }

    /// Gives numbers to the stages and pipes that belong into the record, along the flow of data.
    fn number(&self) -> Numbers {
        let mut numbers = Numbers::default();
        let mut shown: Vec<usize> =
            (0..self.stages.len()).filter(|index| self.is_shown(*index)).collect();
        if shown.is_empty() && !self.stages.is_empty() {
            shown.push(0);
        }
        numbers.stage_order = self.along_the_flow(&shown);
        for (place, index) in numbers.stage_order.iter().enumerate() {
            numbers.stages.insert(*index, u32::try_from(place + 1).unwrap_or(u32::MAX));
        }
        let mut ends: BTreeMap<(Vec<u32>, Vec<u32>), u32> = BTreeMap::new();
        let mut order: Vec<usize> = (0..self.pipes.list.len())
            .filter(|index| self.is_pipe_shown(&self.pipes.list[*index]))
            .collect();
        order.sort_by_key(|index| self.pipe_ends(&self.pipes.list[*index], &numbers));
        for index in order {
            let pipe = &self.pipes.list[index];
            let key = self.pipe_ends(pipe, &numbers);
            if key.0.is_empty() && key.1.is_empty() {
                continue;
            }
            let next = u32::try_from(numbers.pipe_order.len() + 1).unwrap_or(u32::MAX);
            // Pipes between the same stages, turn after turn of a loop, are one in the record.
            let number = if pipe.path.is_some() { next } else { *ends.entry(key).or_insert(next) };
            if number == next {
                numbers.pipe_order.push(index);
            }
            numbers.pipes.insert(index, number);
        }
        numbers
    }

    fn is_shown(&self, index: usize) -> bool {
        let stage = &self.stages[index];
        if stage.joined.is_some() || stage.processes == 0 {
            return false;
        }
        if !stage.was_only_container {
            return true;
        }
        let total: u64 = self.stages.iter().map(|stage| stage.cpu_ns).sum();
        let life = stage.life_ns().max(1.0);
        stage.cpu_ns as f64 > total as f64 * SHELL_CPU_SHARE_MIN && stage.cpu_ns > 20_000_000
            || (stage.spent.reading_ns + stage.spent.writing_ns) / life > SHELL_PIPE_SHARE_MIN
    }

    fn is_pipe_shown(&self, pipe: &Pipe) -> bool {
        let standing = |stages: &BTreeSet<usize>| -> BTreeSet<usize> {
            stages.iter().map(|index| self.standing(*index)).collect()
        };
        let (writers, readers) = (standing(&pipe.writers), standing(&pipe.readers));
        writers.iter().any(|writer| readers.iter().any(|reader| reader != writer))
            || pipe.has_outside_writer()
            || pipe.has_outside_reader()
    }

    fn pipe_ends(&self, pipe: &Pipe, numbers: &Numbers) -> (Vec<u32>, Vec<u32>) {
        let of = |stages: &BTreeSet<usize>| {
            let mut found: Vec<u32> = stages
                .iter()
                .filter_map(|index| numbers.stages.get(&self.standing(*index)).copied())
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        (of(&pipe.writers), of(&pipe.readers))
    }

    /// Stages in an order in which every writer comes before its readers, as far as there is one.
    fn along_the_flow(&self, shown: &[usize]) -> Vec<usize> {
        let mut before: BTreeMap<usize, BTreeSet<usize>> =
            shown.iter().map(|index| (*index, BTreeSet::new())).collect();
        for pipe in self.pipes.list.iter().filter(|pipe| self.is_pipe_shown(pipe)) {
            for reader in pipe.readers.iter().map(|index| self.standing(*index)) {
                let Some(earlier) = before.get_mut(&reader) else { continue };
                earlier.extend(
                    pipe.writers
                        .iter()
                        .map(|index| self.standing(*index))
                        .filter(|writer| *writer != reader),
                );
            }
        }
        let mut order = Vec::with_capacity(shown.len());
        let mut left: Vec<usize> = shown.to_vec();
        while !left.is_empty() {
            // In a circle of FIFOs nobody is first: the one that began first is.
            let place = left
                .iter()
                .position(|index| !before[index].iter().any(|other| left.contains(other)))
                .unwrap_or(0);
            order.push(left.remove(place));
        }
        order
    }

    fn stage_record(
        &self,
        index: usize,
        numbers: &Numbers,
        labels: &BTreeMap<usize, String>,
    ) -> StageRecord {
        let stage = &self.stages[index];
        let life = stage.life_ns();
        let share = |ns: f64| percent(ns, life).unwrap_or(0.0);
        let io = stage.io.filter(|_| !stage.unseen.bytes);
        let seen = |ns: f64| (!stage.unseen.waits).then(|| share(ns));
        StageRecord {
            stage: numbers.stages.get(&index).copied().unwrap_or(0),
            pid: stage.leader,
            command: labels.get(&index).cloned().unwrap_or_else(|| text_of(&stage.words)),
            processes: stage.processes,
            threads: stage.threads,
            start_ns: stage.start_ns,
            life_ns: whole(life),
            cpu_ns: stage.cpu_ns,
            running_percent: share(stage.spent.running_ns),
            runnable_percent: share(stage.spent.runnable_ns),
            blocked_reading_percent: seen(stage.spent.reading_ns),
            blocked_writing_percent: seen(stage.spent.writing_ns),
            blocked_other_percent: share(stage.spent.other_ns),
            blocked_other_causes: causes(stage, life),
            read_bytes: io.map(|io| io.read_bytes),
            written_bytes: io.map(|io| io.written_bytes),
            read_calls: io.map(|io| io.read_calls),
            write_calls: io.map(|io| io.write_calls),
            peak_memory_bytes: stage.peak_memory_bytes,
            exit_status: stage
                .exit_status
                .or_else(|| stage.hold.as_ref()?.wait_status().map(as_shell_reports)),
        }
    }

    fn pipe_records(&self, numbers: &Numbers) -> Vec<PipeRecord> {
        let record = |(place, first): (usize, &usize)| {
            let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
            let same = numbers
                .pipes
                .iter()
                .filter(|(_, other)| **other == number)
                .map(|(index, _)| &self.pipes.list[*index]);
            let pipe = &self.pipes.list[*first];
            let (mut life, mut writer, mut reader) = (0.0, 0.0, 0.0);
            for part in same {
                life += part.life_ns;
                writer += part.writer_blocked_ns;
                reader += part.reader_blocked_ns;
            }
            let (writers, readers) = self.pipe_ends(pipe, numbers);
            let opaque = |stages: &BTreeSet<usize>| {
                stages.iter().any(|index| self.stages[self.standing(*index)].unseen.waits)
            };
            let writer_is_unknown = writers.is_empty() || opaque(&pipe.writers);
            let reader_is_unknown = readers.is_empty() || opaque(&pipe.readers);
            PipeRecord {
                pipe: number,
                path: pipe.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
                outside_writer: pipe.has_outside_writer(),
                outside_reader: pipe.has_outside_reader(),
                initial_capacity_bytes: pipe.initial_capacity.map(|capacity| capacity.0),
                capacity_bytes: pipe.capacity.map(|capacity| capacity.0),
                writer_blocked_percent: percent(writer, life).filter(|_| !writer_is_unknown),
                reader_blocked_percent: percent(reader, life).filter(|_| !reader_is_unknown),
                life_ns: whole(life),
                writers,
                readers,
            }
        };
        numbers.pipe_order.iter().enumerate().map(record).collect()
    }

    fn incident_records(&self, numbers: &Numbers, end_ns: u64) -> Vec<crate::record::Incident> {
        let stage = |index: usize| numbers.stages.get(&self.standing(index)).copied();
        let pipe = |index: usize| numbers.pipes.get(&index).copied();
        self.incidents.list.iter().filter_map(|noted| noted.record(stage, pipe, end_ns)).collect()
    }

    fn timeline(&self, numbers: &Numbers, end_ns: u64) -> Timeline {
        let series = |index: &usize| {
            let number = numbers.stages.get(index).copied().unwrap_or(0);
            self.stages[*index].series.record(number, self.clock, end_ns)
        };
        let stages = numbers.stage_order.iter().map(series).collect();
        Timeline { start_ns: 0, step_ns: self.clock.step_ns, stages }
    }
}

fn causes(stage: &Stage, life: f64) -> BTreeMap<Cause, f64> {
    let shares = stage.causes.iter().map(|(cause, ns)| (*cause, percent(*ns, life).unwrap_or(0.0)));
    shares.filter(|(_, share)| *share > 0.0).collect()
}

fn tuning(attempts: &[Attempt], numbers: &Numbers) -> Vec<TuningRecord> {
    let record = |attempt: &Attempt| {
        Some(TuningRecord {
            pipe: *numbers.pipes.get(&attempt.pipe)?,
            at_ns: attempt.at_ns,
            from_bytes: attempt.from.0,
            to_bytes: attempt.to.0,
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
        })
    };
    attempts.iter().filter_map(record).collect()
}

/// Splice is not counted by Linux: where neighbours disagree about what went through the pipe between
/// them, the one that shows less is unknown, not small.
fn doubt_uncounted_bytes(record: &mut RunRecord) {
    for pipe in &record.pipes {
        let ([writer], [reader]) = (&pipe.writers[..], &pipe.readers[..]) else { continue };
        let ends = |stage: u32, end: fn(&PipeRecord) -> &Vec<u32>| {
            record.pipes.iter().filter(|other| end(other).contains(&stage)).count()
        };
        if ends(*reader, |pipe| &pipe.readers) != 1 {
            continue;
        }
        let place = |stage: u32| record.stages.iter().position(|other| other.stage == stage);
        let (Some(writer), Some(reader)) = (place(*writer), place(*reader)) else { continue };
        let (written, read) =
            (record.stages[writer].written_bytes, record.stages[reader].read_bytes);
        let (Some(written), Some(read)) = (written, read) else { continue };
        let queued = pipe.capacity_bytes.unwrap_or(0);
        if read / 4 > written.saturating_add(UNCOUNTED_BYTES) {
            record.stages[writer].written_bytes = None;
            record.stages[writer].write_calls = None;
        }
        let has_read_to_the_end = record.stages[reader].exit_status == Some(0);
        if written > read.saturating_add(read / 8 + UNCOUNTED_BYTES + queued)
            && has_read_to_the_end
            && read < written / 16
        {
            record.stages[reader].read_bytes = None;
            record.stages[reader].read_calls = None;
        }
    }
}

/// `part` in percent of `whole`, rounded to a thousandth; `None` when the whole is nothing.
fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole * 100_000.0).round().clamp(0.0, 100_000.0) / 1000.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "nanoseconds of a run, never negative"
)]
fn whole(ns: f64) -> u64 {
    ns as u64
}

/// CPU time of this process.
pub(crate) fn own_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}
