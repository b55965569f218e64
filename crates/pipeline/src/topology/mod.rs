//! What the pipeline consists of: processes, the stages they belong to, the pipes between them.
//!
//! This is the pure half of discovery: it takes in what the sampler found and decides what it means.

mod apart;
pub(crate) mod pipes;
pub(crate) mod process;
mod roots;
pub(crate) mod stage;

use std::collections::BTreeMap;

use fullbore_diagnose::Copies;
use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle};

use crate::sample::{Born, Census, HeldEnds, Look, PipeEnd, ProcessLook};
use crate::topology::apart::parting;
use crate::topology::pipes::{Held, PipeKey, Pipes, Purpose};
use crate::topology::process::{Process, Program, Role};
pub(crate) use crate::topology::roots::Roots;
use crate::topology::stage::{Likeness, Par, Stage, join_repetitions};

/// Stages kept apart: beyond that, repetitions of a loop become one stage.
const STAGES_MAX: usize = 256;
/// Stages ever begun; each takes about a kilobyte.
const STAGES_EVER_MAX: usize = 4096;
/// The ends of pipes are read again after this part of the time the run has lasted, when no process began or ended …
const ENDS_SHARE: u64 = 10;
/// … and between these times.
const ENDS_INTERVALS_NS: [u64; 2] = [500_000_000, 2_000_000_000];

/// Everything the pipeline consists of.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    pub(crate) roots: Roots,
    pub(crate) processes: BTreeMap<i32, Process>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) pipes: Pipes,
    /// The first `fullbore par` in each stage that has one, by the index of the stage.
    pub(crate) pars: BTreeMap<usize, Par>,
    /// When the ends of pipes should be read again.
    pub(crate) ends_due_ns: u64,
    /// Processes that have ended and are still known.
    ended: Vec<i32>,
    last_ns: u64,
}

impl Topology {
    /// Nothing found yet.
    pub(crate) fn new(roots: Roots, pipes: Pipes) -> Self {
        Self {
            roots,
            processes: BTreeMap::new(),
            stages: Vec::new(),
            pipes,
            pars: BTreeMap::new(),
            ends_due_ns: 0,
            ended: Vec::new(),
            last_ns: 0,
        }
    }

    /// Takes in who is there; returns the pipes that have ended.
    pub(crate) fn take_in_census(&mut self, census: &Census) -> Vec<PipeKey> {
        let now_ns = census.at_ns;
        let before_ns = self.last_ns.min(now_ns);
        // They began some time since the sample before, but not while all were stopped, which takes up nearly all of it.
        let begun_ns =
            if census.all_were_stopped { before_ns } else { u64::midpoint(before_ns, now_ns) };
        for born in &census.born {
            self.begin_process(born, begun_ns, now_ns);
        }
        let Some(held) = &census.ends else { return Vec::new() };
        self.note_ends(held);
        let [least_ns, most_ns] = ENDS_INTERVALS_NS;
        self.ends_due_ns = now_ns + (now_ns / ENDS_SHARE).clamp(least_ns, most_ns);
        self.find_pipes(now_ns);
        let parting = parting(&self.pipes, &self.processes, now_ns);
        self.ends_due_ns = self.ends_due_ns.min(parting.again_ns.unwrap_or(u64::MAX));
        for pid in parting.parents {
            self.part(pid, now_ns);
        }
        self.part_wrappers(now_ns);
        if self.stages.iter().filter(|stage| stage.repeats.is_none()).count() > STAGES_MAX {
            join_repetitions(&mut self.stages, Likeness::SameProgram, None);
        }
        self.pipes.retire()
    }

    /// Takes in what processes did; those that ended stay until [`Topology::bury`].
    pub(crate) fn take_in_look(&mut self, look: &Look) {
        for capacity in &look.capacities {
            let key = self.pipes.find(capacity.pipe);
            if let Some(pipe) = key.and_then(|key| self.pipes.get_mut(key)) {
                pipe.initial_capacity.get_or_insert(Bytes(capacity.bytes));
                pipe.capacity = Some(Bytes(capacity.bytes));
            }
        }
        self.note_ends(&look.ends);
        for stage in &mut self.stages {
            stage.alive = 0;
        }
        for seen in &look.processes {
            self.take_in_process(seen, look.at_ns);
        }
        self.count_copies();
        self.last_ns = look.at_ns;
    }

    fn note_ends(&mut self, held: &[HeldEnds]) {
        for HeldEnds { pid, ends } in held {
            if let Some(process) = self.processes.get_mut(pid) {
                process.ends.clone_from(ends);
            }
        }
    }

    /// Counts the children of each `fullbore par`.
    fn count_copies(&mut self) {
        for par in self.pars.values_mut() {
            let children = self
                .processes
                .values()
                .filter(|process| process.parent == par.pid && !self.ended.contains(&process.pid));
            par.children = par.children.max(u32::try_from(children.count()).unwrap_or(u32::MAX));
        }
    }

    /// Notes whether a process is `fullbore par`, or works for one.
    fn note_par(&mut self, pid: i32) {
        let Some(process) = self.processes.get(&pid) else { return };
        let of_parent = self.processes.get(&process.parent).and_then(|parent| parent.kin.par);
        let copies = of_parent.is_none().then(|| Copies::of(&process.words)).flatten();
        let par = of_parent.or(copies.is_some().then_some(pid));
        if let Some(copies) = copies {
            self.pars.entry(process.stage).or_insert(Par { pid, copies, children: 0 });
        }
        if let Some(process) = self.processes.get_mut(&pid) {
            process.kin.par = par;
        }
    }

    fn take_in_process(&mut self, seen: &ProcessLook, now_ns: u64) {
        let Some(process) = self.processes.get_mut(&seen.pid) else { return };
        let stage = &mut self.stages[process.stage];
        // What has ended did so at some time since the look before.
        let ended_ns = u64::midpoint(self.last_ns.min(now_ns), now_ns);
        stage.last_ns = stage.last_ns.max(if seen.has_ended { ended_ns } else { now_ns });
        process.parent = seen.parent.unwrap_or(process.parent);
        if seen.has_ended {
            self.ended.push(seen.pid);
            stage.leader.is_alive &= !process.is_leader;
            self.ends_due_ns = now_ns;
            let parent = process.parent;
            if let Some(parent) = self.processes.get_mut(&parent) {
                parent.kin.has_children = true;
            }
            return;
        }
        stage.alive += 1;
        if seen.environment.is_known() || seen.words.is_some() {
            process.environment.clone_from(&seen.environment);
            if process.is_leader {
                stage.environment.clone_from(&seen.environment);
            }
        }
        let Some(words) = &seen.words else { return };
        process.words.clone_from(words);
        process.program = Program::Own;
        // It has called execve, and arranged its descriptors for that.
        self.ends_due_ns = now_ns;
        if process.is_leader {
            stage.words.clone_from(words);
            stage.is_copy = false;
        }
        // A shell that became its last command (exec) is a stage like any other.
        if process.is_container()
            && process.words != process.first_words
            && process.words != self.roots.shell_words
        {
            process.role = Role::Worker;
            stage.is_container = false;
        }
        self.note_par(seen.pid);
    }

    /// Forgets the processes that have ended.
    pub(crate) fn bury(&mut self) {
        for pid in self.ended.drain(..) {
            self.processes.remove(&pid);
        }
    }

    /// Notes the exit status of the stage that began with a process.
    pub(crate) fn note_status(&mut self, pid: i32, status: i32) {
        if let Some(stage) = self.stages.iter_mut().find(|stage| stage.leader.pid == pid) {
            stage.exit_status = Some(status);
        }
    }

    /// Joins the turns of loops at the end of the run.
    pub(crate) fn join_repetitions(&mut self) {
        let apart = self.is_one_pipeline().then_some(self.roots.shell);
        join_repetitions(&mut self.stages, Likeness::SameWords, apart);
    }

    /// Whether the line is one pipeline, and the shell started no more than its stages: none of them is another turn of an
    /// earlier one, even if that ended before it was seen to call execve.
    fn is_one_pipeline(&self) -> bool {
        let line = self.roots.line();
        let pipelines = line.and_then(|line| fullbore_shell::segments(line));
        let Some([stages]) = pipelines.as_deref() else { return false };
        let of_shell = self.stages.iter().filter(|stage| stage.container == self.roots.shell);
        of_shell.count() <= stages.len() && stages.len() > 1
    }

    /// When the first stage of a container began.
    pub(crate) fn first_stage_ns(&self, container: i32) -> u64 {
        let stages = self.stages.iter().filter(|stage| stage.container == container);
        stages.map(|stage| stage.start_ns).min().unwrap_or(0)
    }

    /// The stage that stands for this one in the record.
    pub(crate) fn standing(&self, index: usize) -> usize {
        std::iter::successors(Some(index), |index| self.stages[*index].repeats)
            .last()
            .unwrap_or(index)
    }

    /// A stage was seen to wait on a pipe, so it uses that end.
    pub(crate) fn note_wait(&mut self, stage: usize, pipe: PipeKey, end: End) {
        let Some(pipe) = self.pipes.get_mut(pipe) else { return };
        pipe.note_wait(stage, end);
    }

    fn begin_process(&mut self, born: &Born, begun_ns: u64, now_ns: u64) {
        let parent = self.processes.get_mut(&born.parent);
        let inherits = parent.and_then(|parent| {
            parent.kin.has_children = true;
            (parent.role == Role::Worker).then_some(parent.stage)
        });
        let stage = inherits.or_else(|| self.stage_when_many(born.parent));
        match stage {
            Some(stage) => self.add_process(born, stage, now_ns),
            None => self.begin_stage(born, begun_ns, now_ns),
        }
    }

    /// After very many stages (a loop that runs for hours) new children count to the stage of their shell that had most.
    fn stage_when_many(&self, parent: i32) -> Option<usize> {
        if self.stages.len() < STAGES_EVER_MAX {
            return None;
        }
        let is_of_parent = |(_, stage): &(usize, &Stage)| {
            stage.container == parent && stage.repeats.is_none() && !stage.is_container
        };
        let of_parent = self.stages.iter().enumerate().filter(is_of_parent);
        of_parent.max_by_key(|(_, stage)| stage.processes).map(|(index, _)| index)
    }

    fn begin_stage(&mut self, born: &Born, begun_ns: u64, now_ns: u64) {
        let index = self.stages.len();
        let is_shell = born.pid == self.roots.shell;
        let container = if is_shell { 0 } else { born.parent };
        // Of the shell the moment is known.
        let start_ns = if is_shell { 0 } else { begun_ns };
        self.stages.push(Stage::new(container, born, start_ns));
        self.add_process(born, index, now_ns);
        if let Some(process) = self.processes.get_mut(&born.pid) {
            process.is_leader = true;
            if is_shell && !self.roots.shell_words.is_empty() {
                process.role = Role::Container;
                self.stages[index].is_container = true;
            }
        }
    }

    fn add_process(&mut self, born: &Born, stage: usize, now_ns: u64) {
        self.stages[stage].processes += 1;
        self.stages[stage].alive += 1;
        let parent = self.processes.get(&born.parent);
        let is_copy = parent.is_some_and(|parent| parent.words == born.words);
        let program = if is_copy { Program::Parents } else { Program::Own };
        self.stages[stage].is_copy |= is_copy && self.stages[stage].processes == 1;
        self.processes.insert(born.pid, Process::new(born, stage, program, now_ns));
        self.note_par(born.pid);
    }

    /// Finds out anew who holds which pipe.
    fn find_pipes(&mut self, now_ns: u64) {
        self.pipes.forget_handles();
        for process in self.processes.values() {
            if !process.is_settled(now_ns) && process.pid != self.roots.shell {
                self.ends_due_ns = self.ends_due_ns.min(Process::settles_soon(now_ns));
                continue;
            }
            for end in &process.ends {
                hold(&mut self.pipes, process, end);
            }
        }
        for pipe in self.pipes.values_mut() {
            pipe.note_users();
            pipe.revoke_claims(|pid| self.processes.contains_key(&pid));
        }
    }

    /// Makes each child of a process, with its descendants, a stage of its own.
    fn part(&mut self, pid: i32, now_ns: u64) {
        let is_copy_of_shell = |process: &Process| process.words == self.roots.shell_words;
        let is_shell = self.processes.get(&pid).is_some_and(is_copy_of_shell);
        let role = if is_shell || self.only_hands_on(pid) { Role::Container } else { Role::Parent };
        self.make_parent(pid, role, now_ns);
    }

    /// Makes the processes above containers which do nothing but wait for them containers, too. One that holds an end for
    /// itself while it starts them is seen to be one when it has closed that.
    fn part_wrappers(&mut self, now_ns: u64) {
        let containers = self.processes.values().filter(|process| process.is_container());
        let containers: Vec<i32> = containers.map(|process| process.pid).collect();
        for container in containers {
            let mut below = container;
            while let Some(wrapper) = self.wrapper_of(below) {
                self.make_parent(wrapper, Role::Container, now_ns);
                below = wrapper;
            }
        }
    }

    /// The parent of a container, if that is all it is there for: its children are containers, and it holds no end of a
    /// pipe that they do not hold.
    fn wrapper_of(&self, pid: i32) -> Option<i32> {
        let parent = self.processes.get(&self.processes.get(&pid)?.parent)?;
        let is_wrapper = parent.role == Role::Worker
            && self.children(parent.pid).all(Process::is_container)
            && self.only_hands_on(parent.pid);
        is_wrapper.then_some(parent.pid)
    }

    /// Whether every end of a pipe that a process holds is held by one that it started, too (it has them for these), or is
    /// of a pipe that it has for itself.
    fn only_hands_on(&self, pid: i32) -> bool {
        let Some(process) = self.processes.get(&pid) else { return false };
        let which = |end: &PipeEnd| (end.pipe, end.reads, end.writes);
        let is_handed_on = |end: &PipeEnd| {
            let is_same = |other: &PipeEnd| which(other) == which(end);
            self.is_held_below(pid, &is_same)
        };
        // By a pipe of which it holds both ends, a program wakes itself.
        let has = |end: &PipeEnd, reads: bool| {
            process.ends.iter().any(|other| {
                other.pipe == end.pipe && if reads { other.reads } else { other.writes }
            })
        };
        let is_for_itself = |end: &PipeEnd| has(end, true) && has(end, false);
        process.ends.iter().all(|end| is_for_itself(end) || is_handed_on(end))
    }

    /// Whether a descendant of a process holds such an end; `fullbore run` itself has put its own away.
    fn is_held_below(&self, pid: i32, is_such: &dyn Fn(&PipeEnd) -> bool) -> bool {
        self.children(pid)
            .any(|child| child.ends.iter().any(is_such) || self.is_held_below(child.pid, is_such))
    }

    fn make_parent(&mut self, pid: i32, role: Role, now_ns: u64) {
        let Some(parent) = self.processes.get_mut(&pid) else { return };
        if parent.role != Role::Worker {
            return;
        }
        parent.role = role;
        let stage = parent.stage;
        self.stages[stage].is_container |= parent.is_leader && role == Role::Container;
        for child in self.family(pid, stage) {
            let Some(process) = self.processes.get(&child) else { continue };
            let index = self.stages.len();
            // It was there before it was a stage, and takes along what it did (see `Accounts::move_processes`).
            let (words, environment) = (process.words.clone(), process.environment.clone());
            let is_copy = process.program == Program::Parents;
            let leader = Born { pid: child, parent: pid, words, ends: Vec::new() };
            let start_ns = process.first_ns.min(now_ns);
            let stage = Stage::new(pid, &leader, start_ns);
            self.stages.push(Stage { environment, is_copy, ..stage });
            self.move_family(child, index);
            if let Some(process) = self.processes.get_mut(&child) {
                process.is_leader = true;
                self.stages[index].is_container = process.is_container();
            }
        }
        self.find_pipes(now_ns);
        // What others of the stage held, they have taken with them.
        self.pipes.values_mut().for_each(|pipe| pipe.forget_holder(stage));
    }

    fn children(&self, parent: i32) -> impl Iterator<Item = &Process> {
        self.processes.values().filter(move |process| process.parent == parent)
    }

    /// The children of a process that belong to this stage.
    fn family(&self, parent: i32, stage: usize) -> Vec<i32> {
        let children = self.children(parent).filter(|process| process.stage == stage);
        children.map(|process| process.pid).collect()
    }

    fn move_family(&mut self, pid: i32, to: usize) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let from = std::mem::replace(&mut process.stage, to);
        self.stages[from].alive = self.stages[from].alive.saturating_sub(1);
        self.stages[to].processes += 1;
        self.stages[to].alive += 1;
        self.note_par(pid);
        for child in self.family(pid, from) {
            self.move_family(child, to);
        }
    }
}

/// Notes that a process holds an end of a pipe.
fn hold(pipes: &mut Pipes, process: &Process, held: &PipeEnd) {
    // A shell that starts stages holds ends of their pipes for moments. One that runs a loop in their midst reads and writes by
    // its standard input and output, as nobody else does then.
    let is_of_shell = process.is_container() && !pipes.is_outside(held.pipe);
    if is_of_shell && held.fd > 1 {
        return;
    }
    let key = pipes.learn(held.pipe, held.path.clone());
    let Some(pipe) = pipes.get_mut(key) else { return };
    for (has_end, end) in [(held.reads, End::Read), (held.writes, End::Write)] {
        if has_end {
            let handle = Handle { pid: process.pid, fd: held.fd, pipe: held.pipe, end };
            // What leads outside is inherited by all; it is used where standard input and output lead.
            let is_standard = held.fd == if end == End::Read { 0 } else { 1 };
            let purpose = if is_of_shell && is_standard {
                Purpose::Leaked
            } else if process.is_container() || pipe.is_outside && !is_standard {
                Purpose::Other
            } else if process.may_have_by_mistake(held.fd) {
                Purpose::Leaked
            } else {
                Purpose::Use
            };
            let (stage, is_copy) = (process.stage, process.program == Program::Parents);
            pipe.handles.push(Held { handle, stage, purpose, is_copy });
        }
    }
}

#[cfg(test)]
mod tests;
