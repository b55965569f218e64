//! From what was observed to the record.

mod dealt;
mod doubt;
mod names;
mod number;

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Host;

use crate::account::Sums;
use crate::account::stage::StageAccount;
use crate::observed::Observed;
use crate::summarise::dealt::count_at_the_ends;
use crate::summarise::doubt::{doubt_read_again, doubt_uncounted_bytes};
use crate::summarise::names::labels;
use crate::topology::pipes::{Pipe, PipeKey};
use crate::wake::{WakeUps, possible_part, waking_ns};
use fullbore_diagnose::bound_ns;
use fullbore_record::{
    Cause, CommandIs, Incident, Job, PipeRecord, RunRecord, SCHEMA, SharesFrom, StageRecord,
    Timeline, TuningRecord,
};

pub(crate) use crate::summarise::names::text_of;
pub(crate) use crate::summarise::number::Numbers;

/// What the record says about the run as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) command: &'a str,
    pub(crate) started_unix_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) exit_status: Option<i32>,
    pub(crate) job: Option<&'a Job>,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) observer_cpu_ns: u64,
    pub(crate) idle_cpu_ns: Option<u64>,
    pub(crate) wake_ups: WakeUps,
    pub(crate) host: &'a Host,
}

/// The record so far, without findings.
pub(crate) fn record(observed: &Observed, frame: &Frame<'_>) -> (RunRecord, Numbers) {
    let numbers = Numbers::of(&observed.topology, &observed.accounts);
    let mut summary =
        Summary { observed, numbers: &numbers, price_ns: frame.wake_ups.price_ns, part: 1.0 };
    summary.part = possible_part(summary.all_waking_ns(), summary.idle_ns(frame));
    let stages = summary.stages(frame.command);
    let sums = &observed.accounts.sums;
    let cpu_ns: f64 = stages.iter().map(|stage| stage.cpu_ns as f64).sum();
    let mut record = RunRecord::default();
    record.schema = SCHEMA.to_owned();
    record.fullbore_version = env!("CARGO_PKG_VERSION").to_owned();
    record.command = frame.command.to_owned();
    record.started_unix_ns = frame.started_unix_ns;
    record.job = frame.job.cloned();
    record.exit_status = frame.exit_status;
    record.elapsed_ns = frame.elapsed_ns;
    record.bound_ns = bound_ns(&stages, frame.host.cpus);
    record.overlap_percent = percent(sums.two_run_ns as f64, sums.one_runs_ns as f64);
    record.parallelism = cpu_ns / frame.elapsed_ns.max(1) as f64;
    record.cpu_ns = frame.cpu_ns;
    record.observer_cpu_ns = frame.observer_cpu_ns;
    record.idle_cpu_ns = frame.idle_cpu_ns;
    record.samples = sums.samples;
    record.shares_from = shares_from(sums);
    record.host = frame.host.clone();
    record.stages = stages;
    record.pipes = summary.pipes();
    record.tuning = summary.tuning();
    record.wake_up_price_ns = frame.wake_ups.price_ns;
    record.keep_awake.clone_from(&frame.wake_ups.keep_awake);
    record.incidents = summary.incidents(frame.elapsed_ns);
    record.gaps = observed.gaps.iter().cloned().collect();
    record.timeline = summary.timeline(frame.elapsed_ns);
    count_at_the_ends(&mut record, |stage| summary.is_spliced(stage));
    doubt_uncounted_bytes(&mut record);
    doubt_read_again(&mut record);
    (record, numbers)
}

/// What was observed, with the numbers of stages and pipes.
struct Summary<'a> {
    observed: &'a Observed,
    numbers: &'a Numbers,
    /// What a wake-up costs.
    price_ns: Option<u64>,
    /// Which part of the wake-ups can have cost that.
    part: f64,
}

impl Summary<'_> {
    fn number(&self, stage: usize) -> Option<u32> {
        self.numbers.stage(&self.observed.topology, stage)
    }

    fn stages(&self, line: &str) -> Vec<StageRecord> {
        let order = &self.numbers.stage_order;
        let life_ns = |index: usize| self.observed.accounts.stages[index].life_ns();
        let labels = labels(&self.observed.topology, life_ns, order, line);
        order.iter().map(|index| self.stage(*index, labels.get(index))).collect()
    }

    /// Whether the stage of this number moves data by splice.
    fn is_spliced(&self, number: u32) -> bool {
        let mut order = self.numbers.stage_order.iter();
        let index = order.find(|index| self.number(**index) == Some(number));
        index.is_some_and(|index| self.observed.accounts.stages[*index].unseen.bytes)
    }

    fn stage(&self, index: usize, label: Option<&String>) -> StageRecord {
        let stage = &self.observed.topology.stages[index];
        let account = &self.observed.accounts.stages[index];
        let life = account.life_ns();
        let share = |ns: f64| percent(ns, life).unwrap_or(0.0);
        let seen = |ns: f64| (!account.unseen.waits).then(|| share(ns));
        let main = self.observed.accounts.main_program_of(&self.observed.topology, index);
        let is_par = main.as_ref().is_some_and(|main| main.copies.is_some());
        let io = account.io.total.filter(|_| !account.unseen.bytes || is_par);
        let mut record = StageRecord::default();
        record.stage = self.number(index).unwrap_or(0);
        record.pid = stage.leader.pid;
        // Of what ended before its words were read, Linux told the name.
        let name = stage.name_in_brackets().map(str::to_owned);
        record.command = label.cloned().or(name).unwrap_or_else(|| text_of(&stage.words));
        record.command_is = if label.is_some() { CommandIs::ShellText } else { CommandIs::Program };
        record.words = stage.words.clone();
        let environment = main.as_ref().map_or(&stage.environment, |main| &main.environment);
        record.locale = environment.locale.clone();
        record.buffering = environment.buffering.clone();
        record.copies = main.as_ref().and_then(|main| main.copies);
        record.main_words = main.map(|main| main.words).unwrap_or_default();
        record.processes = stage.processes.saturating_add(account.processes.unseen);
        record.threads = account.processes.threads;
        record.start_ns = stage.start_ns;
        record.life_ns = whole(life);
        record.cpu_ns = account.cpu_ns;
        record.running_percent = share(account.spent.running_ns);
        record.runnable_percent = share(account.spent.runnable_ns);
        record.blocked_reading_percent = seen(account.spent.reading_ns);
        record.blocked_writing_percent = seen(account.spent.writing_ns);
        record.blocked_other_percent = share(account.spent.other_ns);
        record.blocked_other_causes = causes(account, life);
        record.read_bytes = io.map(|io| io.read_bytes);
        record.written_bytes = io.map(|io| io.written_bytes);
        record.read_calls = io.map(|io| io.read_calls);
        record.write_calls = io.map(|io| io.write_calls);
        record.wake_ups = (account.wakes.slices > 0).then(|| whole(account.wakes.wake_ups));
        record.waking_percent = self.waking_ns(account).and_then(|ns| percent(ns, life));
        record.peak_memory_bytes = account.processes.peak_memory_bytes;
        record.exit_status = stage.exit_status;
        record
    }

    fn waking_ns(&self, account: &StageAccount) -> Option<f64> {
        let price_ns = self.price_ns.filter(|_| !account.unseen.waits)?;
        let waited_ns = account.spent.waited_to_go_on_ns();
        let waking_ns = || self.part * waking_ns(waited_ns, account.wakes.wake_ups, price_ns);
        (account.wakes.slices > 0).then(waking_ns)
    }

    /// How long CPUs that the run may use had nothing to do.
    fn idle_ns(&self, frame: &Frame<'_>) -> Option<u64> {
        let idle_ns = frame.idle_cpu_ns?;
        let accounts = self.observed.accounts.stages.iter();
        let used_ns: u64 = accounts.map(|account| account.cpu_ns).sum();
        let there_is_ns = u64::from(frame.host.cpus).saturating_mul(frame.elapsed_ns);
        Some(idle_ns.min(there_is_ns.saturating_sub(used_ns)))
    }

    fn all_waking_ns(&self) -> f64 {
        let stages = self.numbers.stage_order.iter();
        let accounts = stages.map(|index| &self.observed.accounts.stages[*index]);
        accounts.filter_map(|account| self.waking_ns(account)).sum()
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
        let mut record = PipeRecord::default();
        record.pipe = number;
        record.path = pipe.path.as_ref().map(|path| path.to_string_lossy().into_owned());
        record.writers = writers;
        record.readers = readers;
        record.outside_writer = pipe.has_outside_writer();
        record.outside_reader = pipe.has_outside_reader();
        record.initial_capacity_bytes = pipe.initial_capacity.map(|capacity| capacity.0);
        record.capacity_bytes = pipe.capacity.map(|capacity| capacity.0);
        record.writer_blocked_percent = percent(writer, life).filter(|_| !is_writer_unknown);
        record.reader_blocked_percent = percent(reader, life).filter(|_| !is_reader_unknown);
        record.life_ns = whole(life);
        record
    }

    fn tuning(&self) -> Vec<TuningRecord> {
        let records = self.observed.tuner.attempts.iter().filter_map(|attempt| {
            let pipe = self.numbers.pipe(attempt.pipe)?;
            let (from_bytes, to_bytes) = (attempt.from.0, attempt.to.0);
            let record =
                TuningRecord::new(pipe, attempt.at_ns, from_bytes, to_bytes, attempt.outcome);
            Some(record.with_reason(&attempt.reason))
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
        let mut timeline = Timeline::default();
        timeline.step_ns = accounts.clock.step_ns;
        timeline.stages = self.numbers.stage_order.iter().map(series).collect();
        timeline
    }
}

/// Switches, when they tell of practically all the time that was divided.
fn shares_from(sums: &Sums) -> SharesFrom {
    if sums.counted_ns > 0 && sums.divided_ns - sums.counted_ns <= sums.divided_ns / 50 {
        SharesFrom::Switches
    } else {
        SharesFrom::Samples
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
