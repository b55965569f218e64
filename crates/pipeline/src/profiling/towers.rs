//! The record says how long a stage did what; stacks say where: together they are its tower.

use std::collections::BTreeMap;

use fullbore_proc::Root;
use fullbore_profile::{Kind, Names, Part, Profile, Stacks, Tower};
use fullbore_record::{Cause, CommandIs, RunRecord, StageRecord};

use crate::account::reason::Reason;
use crate::profiling::Profiling;
use crate::profiling::unwinding::{Did, Unwound};
use crate::summarise::Numbers;
use crate::topology::Topology;

/// A process's parents are looked through so far for one whose stage is known.
const GENERATIONS_MAX: usize = 16;
/// A stage whose samples stand for less than this part of its time was met by chance, and they do not stand for the rest.
const MET_ENOUGH: f64 = 0.4;
/// If so much of the waits of a stage were of one kind, its time in the kernel is probably of that kind, too.
const MOST: f64 = 0.8;

/// The stacks of one stage.
#[derive(Default)]
struct OfStage {
    ran: Stacks,
    waited: BTreeMap<Reason, Stacks>,
}

impl Profiling {
    /// The towers of a run that has ended, with this record.
    pub(crate) fn profile(
        mut self,
        record: &RunRecord,
        topology: &Topology,
        numbers: &Numbers,
    ) -> Profile {
        let kernel = std::mem::take(&mut self.kernel);
        let Unwound { tally, callers, parents, .. } = self.unwound();
        for (pid, parent) in parents {
            self.family.parents.entry(pid).or_insert(parent);
        }
        let names = Names::of(&tally, &callers, kernel);
        let mut stages: BTreeMap<u32, OfStage> = BTreeMap::new();
        for ((pid, did), stacks) in tally.all() {
            let index = self.family.stage_of(*pid);
            let Some(number) = index.and_then(|index| numbers.stage(topology, index)) else {
                continue;
            };
            let of_stage = stages.entry(number).or_default();
            match did {
                Did::Ran => of_stage.ran.join(&stacks),
                Did::Waited(reason) => of_stage.waited.entry(*reason).or_default().join(&stacks),
            }
        }
        let kernel = self.stacks.as_ref().is_some_and(|stacks| stacks.sees_kernel());
        let period_ns = self.stacks.as_ref().map(|stacks| stacks.period_ns() as f64);
        let none = OfStage::default();
        let tower = |stage: &StageRecord| {
            let of_stage = stages.get(&stage.stage).unwrap_or(&none);
            let mut parts = Parts { stage, record, numbers, list: Vec::new() };
            parts.add_running(of_stage, period_ns, kernel);
            parts.add_waits(of_stage);
            parts.add_rest();
            Tower::new(
                stage.stage,
                stage.command.clone(),
                stage.start_ns,
                &parts.list,
                &tally,
                &names,
            )
        };
        let towers = record.stages.iter().map(tower).collect();
        if self.counts.lost > 0 {
            self.notes.push(format!(
                "{} stacks on a CPU found no room and are missing (their time is not)",
                self.counts.lost
            ));
        }
        Profile {
            command: record.command.clone(),
            elapsed_ns: record.elapsed_ns,
            started_unix_ns: record.started_unix_ns,
            towers,
            samples: (self.counts.on_cpu, self.counts.waiting),
            notes: self.notes,
        }
    }
}

impl Profiling {
    /// All stacks that were taken, followed.
    fn unwound(&mut self) -> Unwound {
        let Some(unwinding) = self.unwinding.take() else { return Unwound::new(Root::system()) };
        unwinding.follow(std::mem::take(&mut self.taken));
        unwinding.finish()
    }
}

impl super::Family {
    fn stage_of(&self, pid: i32) -> Option<usize> {
        let parents = std::iter::successors(Some(pid), |pid| self.parents.get(pid).copied());
        parents.take(GENERATIONS_MAX).find_map(|pid| self.stages.get(&pid).copied())
    }
}

/// The parts of a stage's life.
struct Parts<'a> {
    stage: &'a StageRecord,
    record: &'a RunRecord,
    numbers: &'a Numbers,
    list: Vec<Part>,
}

impl Parts<'_> {
    fn ns(&self, percent: f64) -> f64 {
        self.stage.life_ns as f64 * percent / 100.0
    }

    fn add(&mut self, ns: f64, kind: Kind, leaf: Option<String>, stacks: Stacks) {
        self.list.push(Part { ns, kind, leaf, stacks });
    }

    /// Time on a CPU. Each sample stands for `period_ns`. Where the kernel is not sampled, the rest was in the kernel. Where it
    /// is, nothing is left but for a stage that Linux hardly met, because it runs for moments only.
    fn add_running(&mut self, of: &OfStage, period_ns: Option<f64>, sees_kernel: bool) {
        let running_ns = self.ns(self.stage.running_percent);
        let met = period_ns.map_or(1.0, |period_ns| {
            (of.ran.weight() * period_ns / (self.stage.cpu_ns as f64).max(1.0)).min(1.0)
        });
        let met = if sees_kernel && met >= MET_ENOUGH { 1.0 } else { met };
        self.add(running_ns * met, Kind::User, None, of.ran.clone());
        if met < 1.0 {
            let rest_ns = running_ns * (1.0 - met);
            if sees_kernel {
                self.add(rest_ns, Kind::User, None, Stacks::default());
            } else {
                let leaf = self.kernel_name(of);
                self.add(rest_ns, Kind::Kernel, Some(leaf), Stacks::default());
            }
        }
        let runnable_ns = self.ns(self.stage.runnable_percent);
        self.add(
            runnable_ns,
            Kind::Runnable,
            Some("waits for a CPU".to_owned()),
            Stacks::default(),
        );
    }

    /// What the kernel probably did, if nearly all calls that were seen to wait were of one kind.
    fn kernel_name(&self, of: &OfStage) -> String {
        let all: f64 = of.waited.values().map(Stacks::weight).sum();
        let most = of.waited.iter().max_by(|one, two| one.1.weight().total_cmp(&two.1.weight()));
        let pipe = |pipe| {
            let (writers, readers) = self.ends(pipe).unwrap_or_default();
            let side = |stages: &[u32]| {
                stages.first().map_or_else(|| "outside".to_owned(), u32::to_string)
            };
            format!("pipe {}→{}", side(&writers), side(&readers))
        };
        match most.filter(|(_, stacks)| stacks.weight() >= all * MOST) {
            Some((Reason::Reading(key), _)) => format!("[kernel: read from {}]", pipe(*key)),
            Some((Reason::Writing(key), _)) => format!("[kernel: write to {}]", pipe(*key)),
            _ => "[kernel]".to_owned(),
        }
    }

    /// The stages at the two sides of a pipe of the record.
    fn ends(&self, key: crate::topology::pipes::PipeKey) -> Option<(Vec<u32>, Vec<u32>)> {
        let number = self.numbers.pipe(key)?;
        let pipe = self.record.pipes.iter().find(|pipe| pipe.pipe == number)?;
        Some((pipe.writers.clone(), pipe.readers.clone()))
    }

    fn add_waits(&mut self, of: &OfStage) {
        let reading = self.stage.blocked_reading_percent.unwrap_or(0.0);
        let writing = self.stage.blocked_writing_percent.unwrap_or(0.0);
        let reads = of.waited.iter().filter(|(reason, _)| matches!(reason, Reason::Reading(_)));
        let writes = of.waited.iter().filter(|(reason, _)| matches!(reason, Reason::Writing(_)));
        self.add_pipes(self.ns(reading), Kind::Reading, reads.collect());
        self.add_pipes(self.ns(writing), Kind::Writing, writes.collect());
        for (cause, percent) in &self.stage.blocked_other_causes {
            let stacks = of.waited.get(&Reason::Other(*cause)).cloned().unwrap_or_default();
            self.add(self.ns(*percent), Kind::Waiting, Some(wait_for(*cause)), stacks);
        }
    }

    /// Divides a wait among the pipes at which it was seen.
    fn add_pipes(&mut self, ns: f64, kind: Kind, seen: Vec<(&Reason, &Stacks)>) {
        let all: f64 = seen.iter().map(|(_, stacks)| stacks.weight()).sum();
        if all <= 0.0 {
            let leaf = if kind == Kind::Reading { "waits for data" } else { "waits for room" };
            self.add(ns, kind, Some(leaf.to_owned()), Stacks::default());
            return;
        }
        for (reason, stacks) in seen {
            let leaf = self.pipe_wait(*reason);
            self.add(ns * stacks.weight() / all, kind, Some(leaf), stacks.clone());
        }
    }

    fn pipe_wait(&self, reason: Reason) -> String {
        let named = |stages: &[u32]| {
            let first = stages.first()?;
            let stage = self.record.stages.iter().find(|stage| stage.stage == *first)?;
            let is_program = stage.command_is == CommandIs::Program;
            let program = stage.words.first().filter(|_| is_program);
            let name = program.map(|program| program.rsplit('/').next().unwrap_or(program));
            Some(match name {
                Some(name) => format!("{name} (stage {first})"),
                None => format!("stage {first}"),
            })
        };
        let (key, is_reading) = match reason {
            Reason::Reading(key) => (key, true),
            Reason::Writing(key) => (key, false),
            Reason::Other(cause) => return wait_for(cause),
        };
        let (writers, readers) = self.ends(key).unwrap_or_default();
        if is_reading {
            named(&writers).map_or_else(
                || "waits for its input".to_owned(),
                |writer| format!("waits for {writer}"),
            )
        } else {
            named(&readers).map_or_else(
                || "waits for the reader of its output".to_owned(),
                |reader| format!("waits for {reader} to read"),
            )
        }
    }

    /// What is left of the life of the stage.
    fn add_rest(&mut self) {
        let known: f64 = self.list.iter().map(|part| part.ns).sum();
        let rest = self.stage.life_ns as f64 - known;
        // Shares have a few decimals.
        if rest > self.stage.life_ns as f64 * 1e-3 {
            let leaf = Some("waits, for what is unknown".to_owned());
            self.add(rest, Kind::Waiting, leaf, Stacks::default());
        }
    }
}

fn wait_for(cause: Cause) -> String {
    let what = match cause {
        Cause::Disk => "waits for a disk",
        Cause::Network => "waits for the network",
        Cause::LocalSocket => "waits for a local socket",
        Cause::Peer => "waits for another stage through a socket",
        Cause::Terminal => "waits for the terminal",
        Cause::Sleep => "sleeps",
        Cause::Lock => "waits for a lock or another thread",
        Cause::Event => "waits for an event",
        Cause::Child => "waits for processes it started",
        Cause::FifoPeer => "waits for the other side of a FIFO",
        Cause::Stopped => "is stopped",
        _ => "waits, for what is unknown",
    };
    what.to_owned()
}
