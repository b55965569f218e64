//! From what was observed to the record.

mod doubt;
mod names;
mod number;

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Host;

use crate::account::stage::StageAccount;
use crate::observed::Observed;
use crate::summarise::doubt::doubt_uncounted_bytes;
use crate::summarise::names::{labels, text_of};
use crate::topology::pipes::{Pipe, PipeKey};
use fullbore_diagnose::bound_ns;
use fullbore_record::{
    Cause, CommandIs, Extra, Incident, Job, PipeRecord, RunRecord, SCHEMA, SharesFrom, StageRecord,
    Timeline, TuningRecord,
};

pub(crate) use crate::summarise::number::Numbers;

/// What the record says about the run as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) command: &'a str,
    pub(crate) started_unix_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) exit_status: Option<i32>,
    pub(crate) job: Option<&'a Job>,
    pub(crate) observer_cpu_ns: u64,
    pub(crate) host: &'a Host,
}

/// The record so far, without findings.
pub(crate) fn record(observed: &Observed, frame: &Frame<'_>) -> (RunRecord, Numbers) {
    let numbers = Numbers::of(&observed.topology, &observed.accounts);
    let summary = Summary { observed, numbers: &numbers };
    let stages = summary.stages(frame.command);
    let sums = &observed.accounts.sums;
    let cpu_ns: f64 = stages.iter().map(|stage| stage.cpu_ns as f64).sum();
    let mut record = RunRecord {
        schema: SCHEMA.to_owned(),
        fullbore_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: frame.command.to_owned(),
        started_unix_ns: frame.started_unix_ns,
        attached_at_ns: None,
        job: frame.job.cloned(),
        exit_status: frame.exit_status,
        elapsed_ns: frame.elapsed_ns,
        bound_ns: bound_ns(&stages, frame.host.cpus),
        overlap_percent: percent(sums.two_run_ns as f64, sums.one_runs_ns as f64),
        parallelism: cpu_ns / frame.elapsed_ns.max(1) as f64,
        observer_cpu_ns: frame.observer_cpu_ns,
        samples: sums.samples,
        shares_from: SharesFrom::Samples,
        host: frame.host.clone(),
        stages,
        pipes: summary.pipes(),
        tuning: summary.tuning(),
        incidents: summary.incidents(frame.elapsed_ns),
        findings: Vec::new(),
        gaps: observed.gaps.iter().cloned().collect(),
        timeline: summary.timeline(frame.elapsed_ns),
        extra: Extra::new(),
    };
    doubt_uncounted_bytes(&mut record);
    (record, numbers)
}

/// What was observed, with the numbers of stages and pipes.
struct Summary<'a> {
    observed: &'a Observed,
    numbers: &'a Numbers,
}

impl Summary<'_> {
    fn number(&self, stage: usize) -> Option<u32> {
        self.numbers.stage(&self.observed.topology, stage)
    }

    fn stages(&self, line: &str) -> Vec<StageRecord> {
        let order = &self.numbers.stage_order;
        let labels = labels(&self.observed.topology, order, line);
        order.iter().map(|index| self.stage(*index, labels.get(index))).collect()
    }

    fn stage(&self, index: usize, label: Option<&String>) -> StageRecord {
        let stage = &self.observed.topology.stages[index];
        let account = &self.observed.accounts.stages[index];
        let life = account.life_ns();
        let share = |ns: f64| percent(ns, life).unwrap_or(0.0);
        let seen = |ns: f64| (!account.unseen.waits).then(|| share(ns));
        let io = account.io.total.filter(|_| !account.unseen.bytes);
        StageRecord {
            stage: self.number(index).unwrap_or(0),
            pid: stage.leader,
            command: label.cloned().unwrap_or_else(|| text_of(&stage.words)),
            command_is: if label.is_some() { CommandIs::ShellText } else { CommandIs::Program },
            words: stage.words.clone(),
            processes: stage.processes,
            threads: account.threads,
            start_ns: stage.start_ns,
            life_ns: whole(life),
            cpu_ns: account.cpu_ns,
            running_percent: share(account.spent.running_ns),
            runnable_percent: share(account.spent.runnable_ns),
            blocked_reading_percent: seen(account.spent.reading_ns),
            blocked_writing_percent: seen(account.spent.writing_ns),
            blocked_other_percent: share(account.spent.other_ns),
            blocked_other_causes: causes(account, life),
            read_bytes: io.map(|io| io.read_bytes),
            written_bytes: io.map(|io| io.written_bytes),
            read_calls: io.map(|io| io.read_calls),
            write_calls: io.map(|io| io.write_calls),
            peak_memory_bytes: account.peak_memory_bytes,
            exit_status: stage.exit_status,
            extra: Extra::new(),
        }
    }

    fn pipes(&self) -> Vec<PipeRecord> {
        let order = self.numbers.pipe_order.iter().enumerate();
        let records = order.filter_map(|(place, first)| {
            let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
            let pipe = self.observed.topology.pipes.get(*first)?;
            Some(self.pipe(number, pipe))
        });
        records.collect()
    }

    fn pipe(&self, number: u32, pipe: &Pipe) -> PipeRecord {
        let topology = &self.observed.topology;
        let (mut life, mut writer, mut reader) = (0.0, 0.0, 0.0);
        for key in self.numbers.pipes_numbered(number) {
            let Some(account) = self.observed.accounts.pipes.get(&key) else { continue };
            life += account.life_ns;
            writer += account.writer_blocked_ns;
            reader += account.reader_blocked_ns;
        }
        let (writers, readers) = self.numbers.ends(topology, pipe);
        let is_opaque = |stages: &BTreeSet<usize>| {
            let accounts = &self.observed.accounts.stages;
            stages.iter().any(|index| accounts[topology.standing(*index)].unseen.waits)
        };
        let is_writer_unknown = writers.is_empty() || is_opaque(&pipe.writers);
        let is_reader_unknown = readers.is_empty() || is_opaque(&pipe.readers);
        PipeRecord {
            pipe: number,
            path: pipe.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            outside_writer: pipe.has_outside_writer(),
            outside_reader: pipe.has_outside_reader(),
            initial_capacity_bytes: pipe.initial_capacity.map(|capacity| capacity.0),
            capacity_bytes: pipe.capacity.map(|capacity| capacity.0),
            writer_blocked_percent: percent(writer, life).filter(|_| !is_writer_unknown),
            reader_blocked_percent: percent(reader, life).filter(|_| !is_reader_unknown),
            life_ns: whole(life),
            writers,
            readers,
            extra: Extra::new(),
        }
    }

    fn tuning(&self) -> Vec<TuningRecord> {
        let records = self.observed.tuner.attempts.iter().filter_map(|attempt| {
            Some(TuningRecord {
                pipe: self.numbers.pipe(attempt.pipe)?,
                at_ns: attempt.at_ns,
                from_bytes: attempt.from.0,
                to_bytes: attempt.to.0,
                outcome: attempt.outcome,
                reason: attempt.reason.clone(),
            })
        });
        records.collect()
    }

    fn incidents(&self, end_ns: u64) -> Vec<Incident> {
        let stage = |index: usize| self.number(index);
        let pipe = |key: PipeKey| self.numbers.pipe(key);
        let noted = self.observed.incidents.list.iter();
        noted.filter_map(|noted| noted.record(stage, pipe, end_ns)).collect()
    }

    fn timeline(&self, end_ns: u64) -> Timeline {
        let accounts = &self.observed.accounts;
        let series = |index: &usize| {
            let number = self.number(*index).unwrap_or(0);
            accounts.stages[*index].series.record(number, accounts.clock, end_ns)
        };
        let stages = self.numbers.stage_order.iter().map(series).collect();
        Timeline { start_ns: 0, step_ns: accounts.clock.step_ns, stages }
    }
}

fn causes(account: &StageAccount, life: f64) -> BTreeMap<Cause, f64> {
    let shares = account.causes.iter();
    let shares = shares.map(|(cause, ns)| (*cause, percent(*ns, life).unwrap_or(0.0)));
    shares.filter(|(_, share)| *share > 0.0).collect()
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
