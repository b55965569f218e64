//! Finding out what runs: processes, the stages they belong to, the pipes between them.

use std::collections::BTreeSet;

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, Pidfd, capacity, lend};
use fullbore_proc::Target;

use crate::observe::Watch;
use crate::pipes::{Held, Pipe};
use crate::process::{Process, Reaped};
use crate::spawn::pipe_of;
use crate::stage::{Stage, difference, sum};

/// A pipe between two processes of one stage must live this long before the stage is taken apart:
/// the `echo | sed` of a loop's body must not become two stages a turn.
const INNER_PIPE_NS: u64 = 150_000_000;
/// Stages kept apart: beyond that, repetitions of a loop become one stage.
const STAGES_MAX: usize = 256;
/// A process this old has closed the ends it does not use, even if it never calls execve (a subshell).
const SETTLED_NS: u64 = 4_000_000;
/// Stages ever begun; each takes about a kilobyte.
const STAGES_EVER_MAX: usize = 4096;
/// A stage that lived shorter and was never seen to call execve has no name of its own.
const UNNAMED_NS: f64 = 10e6;
/// The pipes are looked up anew this often, when no process began or ended.
const TOPOLOGY_INTERVAL_NS: u64 = 500_000_000;

impl Watch {
    /// Finds processes that began since the last look.
    pub(crate) fn discover(&mut self, now_ns: u64) {
        let mut changed = false;
        loop {
            let found = self.find_children();
            if found.is_empty() {
                break;
            }
            changed = true;
            for (parent, pid) in found {
                self.begin_process(parent, pid, now_ns);
            }
        }
        if changed || now_ns >= self.next_topology_ns {
            self.next_topology_ns = now_ns + TOPOLOGY_INTERVAL_NS;
            self.find_pipes(now_ns);
            if self.stages.iter().filter(|stage| stage.joined.is_none()).count() > STAGES_MAX {
                self.join_repetitions(Likeness::SameProgram);
            }
        }
    }

    /// Children of known processes that are not known themselves, each with its parent.
    fn find_children(&mut self) -> Vec<(i32, i32)> {
        let mut found = Vec::new();
        let mut children = Vec::new();
        // Threads other than the first may start processes, too; they are asked now and then.
        let all_tasks = self.sums.samples.is_multiple_of(8);
        for (pid, process) in &mut self.processes {
            children.clear();
            let tasks = if all_tasks { usize::MAX } else { 1 };
            process.read_children(tasks, &mut self.buffer, &mut children);
            process.has_children |= !children.is_empty();
            found.extend(children.iter().map(|child| (*pid, *child)));
        }
        if !self.orphans.is_open() && all_tasks {
            found.extend(self.find_by_parent());
        }
        let orphans = self.orphans.read(&mut self.buffer).unwrap_or_default();
        found.extend(
            orphans.split_ascii_whitespace().filter_map(|pid| Some((self.own, pid.parse().ok()?))),
        );
        self.zombies.retain(|zombie| found.iter().any(|(_, pid)| pid == zombie));
        found.retain(|(_, pid)| !self.processes.contains_key(pid) && !self.zombies.contains(pid));
        found
    }

    /// The same from every process's own word on its parent, for a Linux without lists of children.
    fn find_by_parent(&self) -> Vec<(i32, i32)> {
        let parents = self
            .root
            .processes()
            .into_iter()
            .filter_map(|pid| Some((self.root.stat(pid)?.parent, pid)));
        parents.filter(|(parent, _)| self.processes.contains_key(parent)).collect()
    }

    fn begin_process(&mut self, parent: i32, pid: i32, now_ns: u64) {
        let inherits = self.processes.get(&parent).filter(|process| !process.is_container);
        let stage = inherits.map(|process| process.stage).or_else(|| self.stage_when_many(parent));
        match stage {
            Some(stage) => {
                self.open_process(pid, stage, now_ns);
            }
            None => self.begin_stage(parent, pid, now_ns),
        }
    }

    /// After very many stages (a loop that runs for hours) new children count to the first of their shell.
    fn stage_when_many(&self, parent: i32) -> Option<usize> {
        let is_first = |stage: &Stage| stage.container == parent && stage.joined.is_none();
        (self.stages.len() >= STAGES_EVER_MAX)
            .then(|| self.stages.iter().position(is_first))
            .flatten()
    }

    /// Begins a stage with its first process.
    pub(crate) fn begin_stage(&mut self, container: i32, pid: i32, now_ns: u64) {
        let index = self.stages.len();
        // It began some time since the last look.
        let start_ns = u64::midpoint(self.last_ns.min(now_ns), now_ns);
        self.stages.push(Stage::new(container, pid, Vec::new(), start_ns));
        if self.open_process(pid, index, now_ns).is_none() {
            // Gone before it was seen: no stage.
            self.stages.pop();
            return;
        }
        self.lead(pid, index);
    }

    fn open_process(&mut self, pid: i32, stage: usize, now_ns: u64) -> Option<()> {
        let Some(process) = Process::open(&self.root, pid, stage, now_ns) else {
            self.zombies.insert(pid);
            return None;
        };
        self.stages[stage].processes += 1;
        self.stages[stage].alive += 1;
        self.processes.insert(pid, process);
        Some(())
    }

    fn lead(&mut self, pid: i32, index: usize) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        process.is_leader = true;
        process.stage = index;
        self.stages[index].words.clone_from(&process.words);
        self.stages[index].first_words.clone_from(&process.first_words);
        self.stages[index].hold = Pidfd::open(pid);
    }

    /// A process has ended: what it did stays with its stage.
    pub(crate) fn end_process(&mut self, pid: i32, now_ns: u64) {
        let Some(process) = self.processes.remove(&pid) else { return };
        self.zombies.insert(pid);
        self.next_topology_ns = now_ns;
        let stage = &mut self.stages[process.stage];
        stage.leader_is_alive &= !process.is_leader;
        let io = process.io.unwrap_or_default();
        let own_io = difference(io, process.io_elsewhere);
        let of_children = process.counted_early_ns
            + process.reaped.iter().map(|child| child.counted_ns).sum::<u64>();
        let counted_ns = process.cpu_ns + process.children_cpu_ns + of_children;
        if let Some(parent) = self.processes.get_mut(&process.parent) {
            parent.has_children = true;
            parent.reaped.push(Reaped { stage: process.stage, counted_ns });
            // Linux adds what a child read and wrote to its parent when it is waited for.
            if parent.stage == process.stage {
                return;
            }
            parent.io_elsewhere = sum(parent.io_elsewhere, io);
        }
        self.stages[process.stage].ended_io = sum(self.stages[process.stage].ended_io, own_io);
    }

    /// Finds out anew who holds which pipe.
    fn find_pipes(&mut self, now_ns: u64) {
        self.pipes.forget_handles();
        let mut processes = std::mem::take(&mut self.processes);
        for process in processes.values_mut() {
            if let Some(fds) = self.root.fds(process.pid) {
                process.fds = fds;
            }
            self.learn_pipes(process, now_ns);
        }
        self.processes = processes;
        self.pipes.retire();
        self.read_capacities();
        self.take_apart(now_ns);
    }

    fn learn_pipes(&mut self, process: &Process, now_ns: u64) {
        // A copy of the shell holds ends that it closes before execve.
        let is_settled = process.words != process.first_words
            || now_ns.saturating_sub(process.first_ns) > SETTLED_NS
            || process.pid == self.shell;
        if !is_settled {
            self.next_topology_ns = self.next_topology_ns.min(now_ns + SETTLED_NS / 2);
            return;
        }
        for fd in &process.fds {
            let Some(id) = pipe_of(&fd.target) else { continue };
            // A shell that starts stages holds ends of their pipes for moments.
            if process.is_container && !self.pipes.is_outside(id) {
                continue;
            }
            let path = match &fd.target {
                Target::Fifo { path, .. } => Some(path.clone()),
                _ => None,
            };
            let index = self.pipes.learn(id, path);
            let pipe = &mut self.pipes.list[index];
            for (has_end, end) in [(fd.reads, End::Read), (fd.writes, End::Write)] {
                if has_end {
                    let handle = Handle { pid: process.pid, fd: fd.number, pipe: id, end };
                    // What leads outside is inherited by all; it is used where standard input and output lead.
                    let is_standard = fd.number == if end == End::Read { 0 } else { 1 };
                    let is_for_use = !process.is_container && (is_standard || !pipe.is_outside);
                    pipe.handles.push(Held { handle, stage: process.stage, is_for_use });
                }
            }
        }
    }

    /// Reads the capacity of pipes that are new, and notes who has an end for its use.
    fn read_capacities(&mut self) {
        for pipe in &mut self.pipes.list {
            if pipe.handles.is_empty() {
                continue;
            }
            note_users(pipe);
            if pipe.initial_capacity.is_none() {
                pipe.initial_capacity = ask(pipe, |fd| capacity(fd).ok());
                pipe.capacity = pipe.initial_capacity;
            }
        }
    }

    /// Takes a stage apart when a pipe has joined two of its processes for some time.
    fn take_apart(&mut self, now_ns: u64) {
        let mut containers = BTreeSet::new();
        let mut next_ns = u64::MAX;
        for pipe in &self.pipes.list {
            let Some((writer, reader)) = inner_pair(pipe) else { continue };
            let is_old = |pid: i32| {
                self.processes
                    .get(&pid)
                    .is_some_and(|process| now_ns > process.first_ns + INNER_PIPE_NS)
            };
            if is_old(writer) && is_old(reader) {
                containers.extend(self.common_ancestor(writer, reader));
            } else {
                // Soon it may be.
                next_ns = now_ns + INNER_PIPE_NS / 3;
            }
        }
        self.next_topology_ns = self.next_topology_ns.min(next_ns);
        for pid in containers {
            self.make_container(pid, now_ns);
        }
    }

    fn common_ancestor(&self, one: i32, two: i32) -> Option<i32> {
        let line = |pid: i32| {
            std::iter::successors(Some(pid), |pid| Some(self.processes.get(pid)?.parent))
        };
        let ancestors: Vec<i32> = line(one).collect();
        line(two).find(|pid| ancestors.contains(pid) && self.processes.contains_key(pid))
    }

    /// Makes each child of a process, with its descendants, a stage of its own.
    fn make_container(&mut self, pid: i32, now_ns: u64) {
        let Some(container) = self.processes.get_mut(&pid) else { return };
        if container.is_container {
            return;
        }
        container.is_container = true;
        let stage = container.stage;
        self.stages[stage].was_only_container |= container.is_leader;
        let children: Vec<i32> = self
            .processes
            .values()
            .filter(|process| process.parent == pid && process.stage == stage)
            .map(|process| process.pid)
            .collect();
        for child in children {
            let index = self.stages.len();
            self.stages.push(Stage::new(pid, child, Vec::new(), now_ns));
            self.move_family(child, index);
            self.lead(child, index);
        }
        self.find_pipes(now_ns);
    }

    fn move_family(&mut self, pid: i32, to: usize) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let from = std::mem::replace(&mut process.stage, to);
        if let Some(io) = process.io {
            let own = difference(io, process.io_elsewhere);
            self.stages[from].ended_io = sum(self.stages[from].ended_io, own);
            process.io_elsewhere = io;
        }
        self.stages[to].processes += 1;
        let children: Vec<i32> = self
            .processes
            .values()
            .filter(|p| p.parent == pid && p.stage == from)
            .map(|p| p.pid)
            .collect();
        for child in children {
            self.move_family(child, to);
        }
    }
}

/// Asks a pipe something through the first descriptor that still leads to it.
pub(crate) fn ask<T>(
    pipe: &Pipe,
    question: impl Fn(std::os::fd::BorrowedFd<'_>) -> Option<T>,
) -> Option<T> {
    // A read end is asked first: to hold one for a moment delays nothing.
    let mut handles: Vec<Handle> = pipe.handles.iter().map(|held| held.handle).collect();
    handles.sort_by_key(|handle| handle.end);
    handles.into_iter().find_map(|handle| lend(handle, &question).ok().flatten())
}

/// Stages that hold an end. One that holds both is its user on the side where no other stage is.
fn note_users(pipe: &mut Pipe) {
    let (writers, readers) = (pipe.users(End::Write), pipe.users(End::Read));
    let only = |here: &BTreeSet<usize>, there: &BTreeSet<usize>| -> BTreeSet<usize> {
        let own: BTreeSet<usize> = here.difference(there).copied().collect();
        if own.is_empty() { here.clone() } else { own }
    };
    pipe.writers.extend(only(&writers, &readers));
    pipe.readers.extend(only(&readers, &writers));
}

/// A process that only writes and one that only reads the pipe, when both belong to one stage.
fn inner_pair(pipe: &Pipe) -> Option<(i32, i32)> {
    let ends = |pid: i32| {
        let of =
            |end| pipe.handles.iter().any(|held| held.handle.pid == pid && held.handle.end == end);
        (of(End::Write), of(End::Read))
    };
    let only = |wanted: (bool, bool)| {
        pipe.handles
            .iter()
            .find(|held| ends(held.handle.pid) == wanted)
            .map(|held| (held.handle.pid, held.stage))
    };
    let (writer, writing_stage) = only((true, false))?;
    let (reader, reading_stage) = only((false, true))?;
    (writing_stage == reading_stage && writer != reader).then_some((writer, reader))
}

/// When two stages are the same command again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// The same words.
    SameWords,
    /// The same program with any arguments.
    SameProgram,
}

impl Watch {
    /// Joins stages of one shell that ran one after the other and are alike: repetitions of a loop.
    pub(crate) fn join_repetitions(&mut self, likeness: Likeness) {
        for index in 0..self.stages.len() {
            if self.stages[index].joined.is_some() || self.stages[index].alive > 0 {
                continue;
            }
            let Some(first) = (0..index).find(|first| self.is_repetition(*first, index, likeness))
            else {
                continue;
            };
            let (before, after) = self.stages.split_at_mut(index);
            before[first].join(&mut after[0]);
            after[0].joined = Some(first);
        }
    }

    fn is_repetition(&self, first: usize, later: usize, likeness: Likeness) -> bool {
        let (first, later) = (&self.stages[first], &self.stages[later]);
        // A child of a loop that was never seen to call execve: one of its siblings, only shorter.
        let is_unnamed = later.words == later.first_words
            && later.life_ns() < UNNAMED_NS
            && first.words != first.first_words;
        let is_alike = match likeness {
            Likeness::SameWords => first.words == later.words,
            Likeness::SameProgram => first.words.first() == later.words.first(),
        };
        (is_alike || is_unnamed)
            && first.joined.is_none()
            && first.alive == 0
            && first.container == later.container
            && first.last_ns <= later.start_ns
    }

    /// The stage that stands for this one in the record.
    pub(crate) fn standing(&self, index: usize) -> usize {
        let mut index = index;
        while let Some(joined) = self.stages[index].joined {
            index = joined;
        }
        index
    }

    /// Gives a pipe that lives on the capacity it had.
    pub(crate) fn restore(&self, index: usize, capacity: Bytes) {
        let pipe = &self.pipes.list[index];
        let own = pipe.handles.iter().map(|held| held.handle);
        let shrink = |handle: Handle| {
            // More may be queued than fits: then to the next size that does.
            let sizes = (0..10).map(|doublings| Bytes(capacity.0 << doublings));
            lend(handle, |fd| {
                sizes.into_iter().any(|size| fullbore_pipe::set_capacity(fd, size).is_ok())
            })
            .unwrap_or(false)
        };
        if !own.into_iter().any(shrink) && (pipe.is_outside || pipe.path.is_some()) {
            let _ = self.outside_handles(index).into_iter().any(shrink);
        }
    }

    /// Descriptors anywhere on the machine that lead to a pipe, as far as they may be seen.
    pub(crate) fn outside_handles(&self, index: usize) -> Vec<Handle> {
        let pipe = self.pipes.list[index].id;
        let mut handles = Vec::new();
        for pid in self.root.processes() {
            if self.processes.contains_key(&pid) || pid == self.own {
                continue;
            }
            for fd in self.root.fds(pid).unwrap_or_default() {
                if pipe_of(&fd.target) == Some(pipe) {
                    let end = if fd.reads { End::Read } else { End::Write };
                    handles.push(Handle { pid, fd: fd.number, pipe, end });
                }
            }
        }
        handles
    }

    /// Raises or lowers the capacity of a pipe; `None` when nobody holds it any more.
    pub(crate) fn resize(
        &mut self,
        index: usize,
        wanted: Bytes,
    ) -> Option<Result<Bytes, fullbore_pipe::Refused>> {
        let pipe = &mut self.pipes.list[index];
        let answer = ask(pipe, |fd| Some(fullbore_pipe::set_capacity(fd, wanted)))?;
        if let Ok(granted) = answer {
            pipe.capacity = Some(granted);
        }
        Some(answer)
    }
}
