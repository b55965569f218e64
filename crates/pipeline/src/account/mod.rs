//! Accounting, as a pure function of what was seen: where the time of every stage and pipe went.

mod alone;
mod claims;
pub(crate) mod divide;
mod ending;
mod late;
mod naps;
mod on_cpu;
pub(crate) mod pipe;
mod process;
mod programs;
pub(crate) mod reason;
pub(crate) mod series;
pub(crate) mod stage;
mod unseen;
mod unsettled;
mod wakes;

use std::collections::{BTreeMap, BTreeSet};

use crate::account::alone::Alone;
use crate::account::divide::{Now, StageSample};
use crate::account::on_cpu::{Counted, OnCpu};
use crate::account::pipe::PipeAccount;
use crate::account::process::ProcessAccount;
use crate::account::programs::{MainProgram, Programs};
use crate::account::reason::{Reason, Starving, awaited_pipes, full_pipe, reason, within_par};
use crate::account::series::Clock;
use crate::account::stage::StageAccount;
use crate::account::unseen::likely;
use crate::account::unsettled::Rates;
use crate::account::wakes::Wakes;
use crate::sample::{Doing, Look, ProcessLook};
use crate::topology::Topology;
use crate::topology::pipes::PipeKey;
use crate::topology::process::Process;
use crate::topology::stage::Stage;
use fullbore_record::Cause;

/// The accounts of a run.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    /// One for each stage of the topology, by the same index.
    pub(crate) stages: Vec<StageAccount>,
    pub(crate) pipes: BTreeMap<PipeKey, PipeAccount>,
    processes: BTreeMap<i32, ProcessAccount>,
    pub(crate) clock: Clock,
    pub(crate) sums: Sums,
    /// Stages that were taken over by an earlier turn of their loop.
    absorbed: BTreeSet<usize>,
    starving: Starving,
    on_cpu: OnCpu,
    alone: Alone,
    last_ns: u64,
}

/// Sums over the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) samples: u64,
    /// Time in which at least one stage was running.
    pub(crate) one_runs_ns: u64,
    /// Time in which at least two stages were running.
    pub(crate) two_run_ns: u64,
    /// Time of stages that was divided, and the part of it that was counted from switches.
    pub(crate) divided_ns: u64,
    pub(crate) counted_ns: u64,
    pub(crate) cpus: u32,
}

/// No stage has this index.
const NO_STAGE: usize = usize::MAX;

/// A stage was seen to wait on something.
pub(crate) type Wait = (usize, Reason);

impl Accounts {
    /// Empty accounts of a run on this many CPUs.
    pub(crate) fn new(cpus: u32) -> Self {
        Self {
            stages: Vec::new(),
            pipes: BTreeMap::new(),
            processes: BTreeMap::new(),
            clock: Clock::new(),
            sums: Sums { cpus, ..Sums::default() },
            absorbed: BTreeSet::new(),
            starving: Starving::default(),
            on_cpu: OnCpu::default(),
            alone: Alone::default(),
            last_ns: 0,
        }
    }

    /// Why a thread of a stage waits that was seen to do this; `None` when it runs.
    pub(crate) fn reason_of(
        &self,
        doing: &Doing,
        stage: usize,
        topology: &Topology,
    ) -> Option<Reason> {
        reason(doing, stage, &topology.pipes, &self.starving)
    }

    /// Adds what was seen since the look before. The topology has taken in the look already, and still holds
    /// the processes that ended. Returns what stages wait for.
    pub(crate) fn take_in(&mut self, topology: &Topology, look: &Look) -> Vec<Wait> {
        let now_ns = look.known_until_ns().max(self.last_ns + 1);
        let series = self.stages.iter().filter(|stage| !stage.series.is_empty()).count();
        for _ in 0..self.clock.reach(now_ns, series) {
            self.stages.iter_mut().for_each(|stage| stage.series.halve());
            self.alone.halve();
        }
        self.begin_stages(topology);
        let mut samples = self.move_processes(topology, now_ns);
        let moved: BTreeSet<usize> = samples.keys().copied().collect();
        self.follow(topology);
        self.alone.follow(topology, &self.stages);
        for seen in &look.processes {
            self.add_process(topology, seen, now_ns, &mut samples);
        }
        let heirs = self.end_processes(topology, look);
        for seen in &look.processes {
            self.add_children(seen, &mut samples);
        }
        self.pass(topology, now_ns);
        self.count_io(look, heirs, now_ns);
        let counted = self.count_switches(topology, look, &moved, &mut samples);
        self.find_full_pipes(topology, &mut samples);
        self.find_likely_reasons(topology, &mut samples);
        samples.values_mut().for_each(|sample| sample.cpus = self.sums.cpus);
        let waits = self.divide(topology, &samples, now_ns);
        self.count_overlap(topology, counted.as_ref(), now_ns);
        self.sums.samples += 1;
        self.last_ns = now_ns;
        waits
    }

    /// Forgets a pipe that has ended; `into` takes over its times.
    pub(crate) fn forget_pipe(&mut self, key: PipeKey, into: Option<PipeKey>) {
        let Some(account) = self.pipes.remove(&key) else { return };
        if let Some(into) = into {
            self.pipes.entry(into).or_default().absorb(&account);
        }
    }

    fn begin_stages(&mut self, topology: &Topology) {
        for stage in &topology.stages[self.stages.len()..] {
            self.stages.push(StageAccount::begin(stage.start_ns));
        }
    }

    /// Follows processes that changed stage: each takes along what it did. Returns the first samples of stages that were
    /// made of such processes; their time goes back to when their first process began.
    fn move_processes(&mut self, topology: &Topology, now_ns: u64) -> BTreeMap<usize, StageSample> {
        let mut samples: BTreeMap<usize, StageSample> = BTreeMap::new();
        let mut left = BTreeSet::new();
        for (pid, process) in &topology.processes {
            let account =
                self.processes.entry(*pid).or_insert_with(|| ProcessAccount::new(process.stage));
            let from = std::mem::replace(&mut account.stage, process.stage);
            if from == process.stage {
                continue;
            }
            let cpu_ns = account.counted_ns().min(self.stages[from].cpu_ns);
            self.stages[from].cpu_ns -= cpu_ns;
            self.stages[from].io.leave(account.own_io().unwrap_or_default());
            self.stages[from].wakes.leave(account.wakes);
            self.stages[process.stage].wakes.add(account.wakes);
            let sample = samples.entry(process.stage).or_default();
            sample.run_sum_ns += cpu_ns;
            left.insert(from);
        }
        for stage in left {
            self.be_alone(topology, stage, now_ns);
        }
        for (index, sample) in &mut samples {
            // More than one CPU's worth: how many ran at a time is not known any more.
            let stage = &mut self.stages[*index];
            let spread_ns = sample.run_sum_ns.min(now_ns.saturating_sub(stage.last_ns));
            stage.cpu_ns += sample.run_sum_ns - spread_ns;
            sample.run_sum_ns = spread_ns;
        }
        samples
    }

    /// Processes have left a stage: what is left is what its first process did by itself.
    fn be_alone(&mut self, topology: &Topology, stage: usize, now_ns: u64) {
        let Some((alone, waits)) = self.alone.take(stage) else { return };
        if topology.stages[stage].is_container {
            // What it started before its first stage (`(sleep 1; a | b)`) was its own.
            return;
        }
        waits.iter().for_each(|(reason, ns)| self.note_wait(reason, *ns));
        let first = self.processes.get(&topology.stages[stage].leader.pid);
        let moved = first.and_then(ProcessAccount::own_io).unwrap_or_default();
        let lived = [topology.stages[stage].start_ns.min(now_ns), now_ns];
        self.stages[stage].become_like(alone, moved, self.clock, lived);
    }

    /// Follows stages that turned out to be containers, and turns of loops that were joined.
    pub(crate) fn follow(&mut self, topology: &Topology) {
        for (stage, account) in topology.stages.iter().zip(&mut self.stages) {
            let is_new = stage.is_container && !account.is_container();
            let begun_ns = if is_new { topology.first_stage_ns(stage.leader.pid) } else { 0 };
            account.become_container(stage.is_container, begun_ns, self.clock);
        }
        for (index, stage) in topology.stages.iter().enumerate() {
            if let Some(first) = stage.repeats
                && self.absorbed.insert(index)
                && let Ok([first, later]) = self.stages.get_disjoint_mut([first, index])
            {
                first.absorb(later);
            }
        }
    }

    fn add_process(
        &mut self,
        topology: &Topology,
        seen: &ProcessLook,
        now_ns: u64,
        samples: &mut BTreeMap<usize, StageSample>,
    ) {
        let Some(account) = self.processes.get_mut(&seen.pid) else { return };
        let stage = &mut self.stages[account.stage];
        let sample = samples.entry(account.stage).or_default();
        let process = topology.processes.get(&seen.pid);
        let par = process.and_then(|process| process.kin.par);
        let is_container = process.is_some_and(Process::is_container);
        account.left_cpu = seen.status.left_cpu.or(account.left_cpu);
        let wakes = Wakes::of(seen, account.left_cpu);
        account.wakes.add(wakes);
        stage.wakes.add(wakes);
        for task in &seen.tasks {
            account.cpu_ns += task.running_ns;
            stage.unseen.bytes |= matches!(task.doing, Doing::Moving { .. });
            let reason = reason(&task.doing, account.stage, &topology.pipes, &self.starving);
            let reason = match (par, reason) {
                (Some(par), Some(reason)) => Some(within_par(reason, par != seen.pid)),
                // Whatever brings it news of its children (a signal, a socket), it waits for them.
                (None, Some(Reason::Other(_))) if is_container => Some(Reason::Other(Cause::Child)),
                _ => reason,
            };
            sample.add(task, reason, seen.has_ended);
            if !seen.has_ended {
                let pipes = awaited_pipes(&task.doing, account.stage, &topology.pipes);
                sample.pipes.extend(pipes);
            }
            if let Some(alone) = self.alone.sample(account.stage, seen.pid) {
                // The pipes that lead to others of its stage are pipes then.
                let reason = reason::reason(&task.doing, NO_STAGE, &topology.pipes, &self.starving);
                alone.add(task, reason, seen.has_ended);
            }
        }
        if let Some(counts) = seen.counts {
            let lost_ns = account.add_lost_threads(counts);
            sample.run_sum_ns += lost_ns;
            if let Some(alone) = self.alone.sample(account.stage, seen.pid) {
                alone.run_sum_ns += lost_ns;
            }
        }
        if !seen.has_ended {
            let tasks = u32::try_from(seen.tasks.len()).unwrap_or(u32::MAX);
            stage.processes.threads = stage.processes.threads.max(tasks);
        }
        stage.unseen.waits |= seen.waits_are_hidden || seen.waits_are_withheld;
        // What was read before it became another user's process is not all it read.
        stage.unseen.bytes |= seen.waits_are_hidden && seen.io.is_none();
        let peak_bytes = &mut stage.processes.peak_memory_bytes;
        *peak_bytes = (*peak_bytes).max(seen.status.peak_memory_bytes);
        if let Some(io) = seen.io {
            account.count_io(io, now_ns);
            if seen.has_ended {
                // That is all of it.
                account.rates = Rates::default();
            }
        }
    }

    /// The program that did the work of a stage, when it is not the one that the stage began with. With `fullbore par`, that
    /// is the command of its copies.
    pub(crate) fn main_program_of(&self, topology: &Topology, stage: usize) -> Option<MainProgram> {
        let mut programs: Programs = self.stages[stage].processes.programs.clone();
        for (pid, account) in self.processes.iter().filter(|(_, one)| one.stage == stage) {
            if let Some(process) = topology.processes.get(pid) {
                programs.add(process, account.cpu_ns);
            }
        }
        let par = topology.pars.get(&stage);
        let environment = par.and_then(|_| programs.copies(topology.stages[stage].is_par()));
        match (par, environment) {
            (Some(par), Some(environment)) => {
                let at_once = par.copies.at_once(par.children, self.sums.cpus);
                let words = par.copies.words.clone();
                Some(MainProgram { words, environment, copies: Some(at_once) })
            }
            _ if self.stages[stage].sleeps_mostly() => programs.sleeper(),
            _ => programs.main(),
        }
    }

    /// Time passes for every pipe that is held.
    fn pass(&mut self, topology: &Topology, now_ns: u64) {
        let length_ns = (now_ns - self.last_ns) as f64;
        for (key, _) in topology.pipes.iter().filter(|(_, pipe)| pipe.is_alive()) {
            let account = self.pipes.entry(key).or_default();
            account.life_ns += length_ns;
            account.samples += 1;
        }
    }

    /// `fullbore par` that waits for its copies while its reader has data waits for that reader.
    fn find_full_pipes(&self, topology: &Topology, samples: &mut BTreeMap<usize, StageSample>) {
        let with_par = |index: usize| topology.pars.contains_key(&index);
        for (index, sample) in samples.iter_mut().filter(|(index, _)| with_par(**index)) {
            if sample.running_tasks == 0 && sample.reason == Some(Reason::Other(Cause::Child)) {
                let full = full_pipe(*index, &topology.pipes, &self.starving);
                sample.reason = full.or(sample.reason);
            }
        }
    }

    /// What stages wait for that no sample has met waiting.
    fn find_likely_reasons(&self, topology: &Topology, samples: &mut BTreeMap<usize, StageSample>) {
        for (index, sample) in samples {
            if self.stages[*index].is_always_awake() {
                sample.likely = likely(*index, &topology.pipes, &self.starving);
            }
        }
    }

    /// Divides the time of every stage that was looked at; returns what stages wait for.
    fn divide(
        &mut self,
        topology: &Topology,
        samples: &BTreeMap<usize, StageSample>,
        now_ns: u64,
    ) -> Vec<Wait> {
        let waiting_for_stages = waiting_for_stages(topology, samples);
        self.starving = Starving::default();
        let mut waits = Vec::new();
        for (index, sample) in samples {
            let stage = &mut self.stages[*index];
            let from_ns = stage.last_ns.min(now_ns);
            let to_ns = if waiting_for_stages.contains(index) {
                // A shell that waits for stages does nothing itself: this is no part of its life.
                stage.last_ns = now_ns;
                from_ns + (sample.run_sum_ns + sample.wait_sum_ns).min(now_ns - from_ns)
            } else if topology.stages[*index].alive > 0 {
                now_ns
            } else if let Some(counted) = sample.counted {
                counted.last_ns.clamp(from_ns, now_ns)
            } else {
                // It ended at some time since the sample before.
                u64::midpoint(from_ns, now_ns)
            };
            if to_ns == from_ns {
                continue;
            }
            stage.last_ns = from_ns;
            self.sums.divided_ns += to_ns - from_ns;
            self.sums.counted_ns += if sample.counted.is_some() { to_ns - from_ns } else { 0 };
            let divided = stage.add(sample, to_ns, now_ns, self.clock);
            self.alone.pass(*index, [from_ns, to_ns, now_ns], self.clock);
            if let Some(Now::Blocked(reason)) = stage.now {
                self.starving.note(reason);
            }
            for (reason, ns) in divided.reasons {
                self.note_wait(&reason, ns);
                // Who uses which end of a pipe follows from what was seen.
                if sample.likely != Some(reason) {
                    waits.push((*index, reason));
                }
            }
        }
        waits
    }

    fn note_wait(&mut self, reason: &Reason, ns: f64) {
        match reason {
            Reason::Reading(pipe) => self.pipes.entry(*pipe).or_default().reader_blocked_ns += ns,
            Reason::Writing(pipe) => self.pipes.entry(*pipe).or_default().writer_blocked_ns += ns,
            Reason::Other(_) => {}
        }
    }

    /// Gives every stage whose threads are all known what its switches tell; not those that were made of processes which
    /// `moved`: their interval goes back to when these began.
    fn count_switches(
        &mut self,
        topology: &Topology,
        look: &Look,
        moved: &BTreeSet<usize>,
        samples: &mut BTreeMap<usize, StageSample>,
    ) -> Option<Counted> {
        let stage_of = |pid| topology.processes.get(&pid).map(|process| process.stage);
        let counted = self.on_cpu.take_in(look.switches.as_ref()?, stage_of);
        for (stage, processes) in self.on_cpu.take_unseen() {
            self.stages[stage].processes.unseen += processes;
        }
        let counted = counted?;
        let live = look.processes.iter().filter(|seen| !seen.has_ended);
        let is_unknown =
            |seen: &&ProcessLook| seen.tasks.iter().any(|task| !self.on_cpu.knows(task.tid));
        let unknown: BTreeSet<usize> =
            live.filter(is_unknown).filter_map(|seen| stage_of(seen.pid)).collect();
        for (index, sample) in samples
            .iter_mut()
            .filter(|(index, _)| !unknown.contains(index) && !moved.contains(index))
        {
            sample.counted = Some(counted.stages.get(index).copied().unwrap_or_default());
        }
        unknown.is_empty().then_some(counted)
    }

    fn count_overlap(&mut self, topology: &Topology, counted: Option<&Counted>, now_ns: u64) {
        if let Some(counted) = counted {
            self.sums.one_runs_ns += counted.one_runs_ns;
            self.sums.two_run_ns += counted.two_run_ns;
            return;
        }
        let stages = topology.stages.iter().zip(&self.stages);
        let running = stages
            .filter(|(stage, account)| stage.alive > 0 && account.now == Some(Now::Running))
            .count();
        let length_ns = now_ns - self.last_ns;
        if running >= 1 {
            self.sums.one_runs_ns += length_ns;
        }
        if running >= 2 && self.sums.cpus >= 2 {
            self.sums.two_run_ns += length_ns;
        }
    }
}

/// Stages that wait for children which are live stages: shells, `timeout`.
fn waiting_for_stages(
    topology: &Topology,
    samples: &BTreeMap<usize, StageSample>,
) -> BTreeSet<usize> {
    let alive = topology.stages.iter().filter(|stage| stage.alive > 0);
    let container = |stage: &Stage| Some(topology.processes.get(&stage.container)?.stage);
    let busy: BTreeSet<usize> = alive.filter_map(container).collect();
    let waits = |index: usize, sample: &StageSample| {
        let for_a_child = sample.reason == Some(Reason::Other(Cause::Child));
        // Some wait in sigsuspend(2) or poll(2) for news of their children.
        let for_anything = matches!(sample.reason, Some(Reason::Other(_)));
        let is_container = topology.stages[index].is_container;
        sample.running_tasks == 0 && (for_a_child || is_container && for_anything)
    };
    let waiting =
        samples.iter().filter(|(index, sample)| waits(**index, sample) && busy.contains(index));
    waiting.map(|(index, _)| *index).collect()
}
