//! Reads `/proc`: who is there ([`Sampler::census`]) and what they do ([`Sampler::look`]).
//!
//! All samples come from here. It decides nothing: what it read becomes plain values, and what they mean is decided by code
//! that can be tested without processes.

mod children;
mod ends;
mod files;
mod guests;
mod leaders;
mod members;
mod sockets;
mod switches;
mod waits;
mod withheld;

use std::collections::{BTreeMap, BTreeSet};

use fullbore_pipe::{Handle, PipeId};
use fullbore_proc::{
    Activity, Fact, Root, State, Status, Unavailable, Wait, clock_ticks_per_second,
};

use crate::sample::{
    Born, Census, Counts, Doing, Environment, HeldEnds, IoCount, LeftCpu, Look, ProcessLook,
    StatusLook, TaskLook,
};
use crate::sampler::children::{Asked, Children};
use crate::sampler::ends::{capacities, handles_of};
use crate::sampler::files::{Clockwork, ProcessFiles, TaskReading};
use crate::sampler::leaders::Leaders;
use crate::sampler::sockets::Sockets;
use crate::sampler::waits::{Sight, asleep};
use crate::sampler::withheld::Withheld;
use crate::topology::Topology;
use fullbore_record::Cause;

pub(crate) use ends::{ask, pipe_ends, pipe_of};
pub(crate) use guests::Guests;
pub(crate) use members::members;
pub(crate) use switches::SwitchReader;

/// Samples that may fail to see a process's waits (one within execve cannot be looked into) before it counts
/// as closed to us.
const UNSEEN_SAMPLES_MAX: u32 = 5;
/// So many processes keep all five files open; the others only the three that are read at every sample.
const AT_HAND_MAX: usize = 6;
/// Bytes and calls are read this often: enough for rates that are shown four times a second.
const IO_INTERVAL_NS: u64 = 50_000_000;
/// At every sample of this many, threads are counted and threads other than the first are asked for children.
const TASKS_INTERVAL: u64 = 8;

/// The open files of everything that is watched.
#[derive(Debug)]
pub(crate) struct Sampler {
    root: Root,
    processes: BTreeMap<i32, ProcessFiles>,
    /// The children of fullbore.
    children: Children,
    /// The first process of each stage, for its exit status.
    pub(crate) leaders: Leaders,
    /// CPU time of ended children, by parent, when last read.
    children_cpu_ns: BTreeMap<i32, u64>,
    looks: Looks,
    /// Where every switch is wanted.
    switches: Option<SwitchReader>,
    tick_ns: u64,
    withheld: Withheld,
    sockets: Sockets,
    /// Where the pipeline was started by somebody else.
    guests: Option<Guests>,
    buffer: Vec<u8>,
}

/// Looks so far, and what happened since the last one.
#[derive(Debug, Default)]
struct Looks {
    /// Their number.
    samples: u64,
    /// When bytes and calls are to be read next.
    io_due_ns: u64,
    /// Somebody had ended: what it did is in the counts of its parent now.
    somebody_ended: bool,
    /// What the shell and all its children read and wrote, as last read before it was waited for.
    shell_io: Option<(i32, IoCount)>,
    /// Everything was stopped, this process with it.
    all_were_stopped: bool,
}

impl Sampler {
    /// Nothing is watched yet; `own` is the process of fullbore, and `strangers` are children it had before.
    pub(crate) fn new(
        root: Root,
        own: i32,
        strangers: BTreeSet<i32>,
        switches: Option<SwitchReader>,
    ) -> Self {
        let withheld = Withheld::of(&root, own);
        Self::with(root, own, withheld, strangers, switches)
    }

    /// Watches a pipeline of this machine that somebody else started.
    #[must_use]
    pub(crate) fn of_others(own: i32, guests: Guests) -> Self {
        let withheld = Withheld::of_system(own);
        Self::with(Root::system(), own, withheld, BTreeSet::new(), None).of_guests(guests)
    }

    fn with(
        root: Root,
        own: i32,
        withheld: Withheld,
        strangers: BTreeSet<i32>,
        switches: Option<SwitchReader>,
    ) -> Self {
        let tick_ns = 1_000_000_000 / clock_ticks_per_second().max(1);
        Self {
            children: Children {
                list: root.hot_file(own, &format!("task/{own}/children")),
                strangers,
                zombies: BTreeSet::new(),
            },
            withheld,
            guests: None,
            sockets: Sockets::default(),
            root,
            processes: BTreeMap::new(),
            leaders: Leaders::default(),
            children_cpu_ns: BTreeMap::new(),
            looks: Looks::default(),
            switches,
            tick_ns,
            buffer: vec![0; 4096],
        }
    }

    /// Watches a pipeline that somebody else started: everything counts from the first sample on. Nothing of its pipes is
    /// opened unless they `may_be_asked`.
    #[must_use]
    pub(crate) fn of_guests(self, guests: Guests) -> Self {
        Self { guests: Some(guests), ..self }
    }

    /// Who belongs to a pipeline of others now.
    pub(crate) fn tell(&mut self, members: Vec<(i32, i32)>) {
        self.guests.iter_mut().for_each(|guests| guests.tell(members.clone()));
    }

    /// Whether pipes may be asked for their capacity and how much is in them.
    pub(crate) fn may_ask(&self) -> bool {
        self.guests.as_ref().is_none_or(|guests| guests.pipes_may_be_asked)
    }

    /// The shell has ended: what it and its children read and wrote.
    pub(crate) fn note_shell_io(&mut self, pid: i32, io: IoCount) {
        self.looks.shell_io = Some((pid, io));
    }

    /// The whole pipeline was stopped since the last look, and this process with it, so that nobody was seen in that state:
    /// what is not known to be CPU time until the next look was that.
    pub(crate) fn all_were_stopped(&mut self) {
        self.looks.all_were_stopped = true;
    }

    /// What this Linux withholds about processes, one sentence each.
    pub(crate) fn gaps(&self) -> &[String] {
        self.withheld.gaps()
    }

    /// Finds processes that began since, and reads the ends of pipes when something changed.
    pub(crate) fn census(&mut self, topology: &Topology, now_ns: u64) -> Census {
        let all_were_stopped = self.looks.all_were_stopped;
        let mut census = Census { at_ns: now_ns, all_were_stopped, ..Census::default() };
        self.processes.values_mut().for_each(|process| process.read(&mut self.buffer));
        if self.looks.samples == 0 && topology.roots.shell != 0 {
            census.born.extend(self.begin(topology.roots.own, topology.roots.shell, now_ns));
        }
        for (parent, pid) in self.newcomers(now_ns) {
            census.born.extend(self.begin(parent, pid, now_ns));
        }
        // Then children of those that were just found, and of no others: while a shell starts one program after another, asking
        // it again would find the next one each time.
        let mut found = self.find_children(topology.roots.own, None);
        while !found.is_empty() {
            let parents: BTreeSet<i32> = found.iter().map(|(_, pid)| *pid).collect();
            for (parent, pid) in found {
                census.born.extend(self.begin(parent, pid, now_ns));
            }
            found = self.find_children(topology.roots.own, Some(&parents));
        }
        if !census.born.is_empty() || now_ns >= topology.ends_due_ns {
            census.ends = Some(self.read_ends());
        }
        self.sockets.look(&self.root, &self.processes, now_ns);
        census
    }

    /// Looks at every task once.
    pub(crate) fn look(&mut self, topology: &Topology, now_ns: u64) -> Look {
        let mut look = Look { at_ns: now_ns, ..Look::default() };
        look.switches = self.switches.as_mut().map(SwitchReader::read);
        let is_io_due = now_ns >= self.looks.io_due_ns;
        let is_shell = |pid: i32| pid == topology.roots.shell;
        let settles = std::mem::take(&mut self.looks.somebody_ended);
        let mut processes = std::mem::take(&mut self.processes);
        for process in processes.values_mut() {
            let mut seen = self.look_at(topology, process, now_ns);
            let is_young = now_ns.saturating_sub(process.first_ns) < IO_INTERVAL_NS;
            let has_waited = settles && is_shell(process.pid);
            let is_due = (is_io_due || is_young || has_waited) && process.news.io_may_have_grown;
            if seen.has_ended {
                // Until somebody waits for it, its counts are there, and are all.
                let last =
                    self.looks.shell_io.filter(|(pid, _)| *pid == process.pid).map(|(_, io)| io);
                seen.io = process.read_io(&mut self.buffer).or(last).or(seen.io);
            } else if is_due && seen.io.is_none() {
                seen.io = process.read_io(&mut self.buffer);
            }
            look.processes.push(seen);
        }
        for seen in look.processes.iter().filter(|seen| seen.words.is_some()) {
            let process = processes.get_mut(&seen.pid);
            look.ends.extend(process.and_then(|process| process.read_ends(&self.root)));
        }
        self.processes = processes;
        look.io_was_due = is_io_due;
        if is_io_due {
            self.looks.io_due_ns = now_ns + IO_INTERVAL_NS;
        }
        // After the ends: a parent's count has grown by what its ended children used.
        self.read_children_times(topology, &mut look);
        for seen in look.processes.iter().filter(|seen| seen.has_ended) {
            self.processes.remove(&seen.pid);
            self.children_cpu_ns.remove(&seen.pid);
            self.children.zombies.insert(seen.pid);
            self.leaders.end(seen.pid, now_ns);
            self.looks.somebody_ended = true;
        }
        if self.may_ask() {
            look.capacities = capacities(topology);
        }
        if let Some(guests) = &mut self.guests {
            look.processes.iter_mut().for_each(|seen| guests.forget_before(seen));
        }
        self.looks.samples += 1;
        self.looks.all_were_stopped = false;
        look
    }

    /// Processes of a pipeline of others that are not watched yet, each with its parent.
    fn newcomers(&mut self, now_ns: u64) -> Vec<(i32, i32)> {
        let Some(guests) = &mut self.guests else { return Vec::new() };
        guests.newcomers(&self.root, self.processes.keys().copied(), now_ns)
    }

    /// Descriptors anywhere on the machine that lead to a pipe and are not of the pipeline, as far as they
    /// may be seen.
    pub(crate) fn outside_handles(&self, own: i32, pipe: PipeId) -> Vec<Handle> {
        let others = self.root.processes().into_iter();
        let others = others.filter(|pid| !self.processes.contains_key(pid) && *pid != own);
        handles_of(others, &self.root, pipe)
    }

    fn clockwork(&self) -> Clockwork {
        if self.withheld.lacks(Fact::Times) {
            Clockwork::Ticks(self.tick_ns)
        } else {
            Clockwork::Scheduler
        }
    }

    fn begin(&mut self, parent: i32, pid: i32, now_ns: u64) -> Option<Born> {
        let stat = self.root.stat(pid).filter(|stat| stat.state != State::Ended);
        let Some(stat) = stat else {
            self.children.zombies.insert(pid);
            return None;
        };
        let is_frugal = self.processes.len() >= AT_HAND_MAX;
        let mut process = ProcessFiles::open(&self.root, self.clockwork(), pid, now_ns, is_frugal);
        process.read(&mut self.buffer);
        if self.looks.samples == 0
            && let Some(guests) = &mut self.guests
        {
            guests.note_before(&self.root, pid, &stat, self.tick_ns);
            process.count_from_now(&self.root, &mut self.buffer);
        }
        let words = if process.tasks.is_empty() { Vec::new() } else { self.root.command_line(pid) };
        // A kernel thread or a zombie has no words: its name in brackets, as ps prints it.
        let words = if words.is_empty() { vec![format!("[{}]", stat.comm)] } else { words };
        let ends = pipe_ends(&process.fds);
        self.processes.insert(pid, process);
        Some(Born { pid, parent, words, ends })
    }

    /// Children of these watched processes, or of all and of fullbore, that are not watched themselves, each with its parent.
    fn find_children(&mut self, own: i32, only: Option<&BTreeSet<i32>>) -> Vec<(i32, i32)> {
        let all_tasks = self.looks.samples.is_multiple_of(TASKS_INTERVAL);
        let asked = Asked { own, only, all_tasks };
        self.children.find(&self.root, &self.processes, asked, &mut self.buffer)
    }

    fn read_ends(&mut self) -> Vec<HeldEnds> {
        let mut all = Vec::with_capacity(self.processes.len());
        for process in self.processes.values_mut() {
            if !std::mem::take(&mut process.news.fds_may_have_changed) {
                continue;
            }
            all.extend(process.read_ends(&self.root));
        }
        all
    }

    fn look_at(
        &mut self,
        topology: &Topology,
        process: &mut ProcessFiles,
        now_ns: u64,
    ) -> ProcessLook {
        let mut seen = ProcessLook {
            pid: process.pid,
            waits_are_withheld: self.withheld.lacks(Fact::Wait),
            ..ProcessLook::default()
        };
        let is_stopped = self.looks.all_were_stopped || process.is_stopped(&mut self.buffer);
        let readings = process.take_tasks();
        seen.has_ended = readings.is_empty();
        for TaskReading { tid, running_ns, waiting_ns, slices, activity } in readings {
            let doing = match activity {
                _ if self.looks.all_were_stopped => Some(Doing::Waiting(Cause::Stopped)),
                Some(Activity::Blocked(_)) if is_stopped => Some(Doing::Waiting(Cause::Stopped)),
                Some(Activity::Running) => Some(Doing::Running),
                Some(Activity::Blocked(wait)) => self.doing(topology, process, wait),
                None => self.guess(process, &mut seen),
            };
            seen.has_ended |= doing.is_none();
            // It has ended, but what it did until then counts.
            let doing = doing.unwrap_or(Doing::Waiting(Cause::Unknown));
            seen.tasks.push(TaskLook { tid, running_ns, waiting_ns, slices, doing });
        }
        if seen.has_ended {
            return seen;
        }
        if self.looks.samples.is_multiple_of(TASKS_INTERVAL) {
            self.count_threads(process, &mut seen);
        }
        if now_ns >= process.rare_due_ns {
            self.look_rarely(topology, process, &mut seen, now_ns);
        }
        seen
    }

    fn doing(
        &mut self,
        topology: &Topology,
        process: &mut ProcessFiles,
        wait: Wait,
    ) -> Option<Doing> {
        let may_ask = self.may_ask();
        let (root, pipes, sockets) = (&self.root, &topology.pipes, &self.sockets);
        let mut sight = Sight { root, pipes, sockets, may_ask, buffer: &mut self.buffer };
        sight.doing(process, wait)
    }

    /// What a process does whose wait cannot be seen (another user's, or any where this Linux withholds waits): its
    /// state letter is all there is.
    fn guess(&mut self, process: &mut ProcessFiles, seen: &mut ProcessLook) -> Option<Doing> {
        process.unseen_samples += 1;
        // Where this Linux shows nobody's waits, there is nothing special about this process.
        if process.unseen_samples == UNSEEN_SAMPLES_MAX && !seen.waits_are_withheld {
            seen.waits_are_hidden = true;
            seen.io = process.read_io(&mut self.buffer);
        }
        if process.read_stat(&mut self.buffer).is_ok_and(|stat| stat.state == State::Running) {
            return Some(Doing::Running);
        }
        asleep(process, &mut self.buffer)
    }

    /// Counts threads, and finds those that began since.
    fn count_threads(&mut self, process: &mut ProcessFiles, seen: &mut ProcessLook) {
        let Ok(stat) = process.read_stat(&mut self.buffer) else { return };
        if stat.threads as usize != process.tasks.len() {
            process.find_tasks(&self.root);
        }
        seen.parent = Some(stat.parent);
        seen.counts = Some(Counts { threads: stat.threads, cpu_ns: stat.cpu_ticks * self.tick_ns });
    }

    /// Reads what costs more than it changes: what the process runs, its memory.
    fn look_rarely(
        &mut self,
        topology: &Topology,
        process: &mut ProcessFiles,
        seen: &mut ProcessLook,
        now_ns: u64,
    ) {
        let known = topology.processes.get(&process.pid).map(|process| &process.words);
        let words = self.root.command_line(process.pid);
        // A process that is ending has no words any more.
        seen.words = (!words.is_empty() && known != Some(&words)).then_some(words);
        let is_first = !std::mem::replace(&mut process.environment_is_known, true);
        if is_first || seen.words.is_some() {
            let fullbore_proc::Environment { locale, buffering } =
                self.root.environment(process.pid);
            seen.environment = Environment { locale, buffering };
        }
        let status = self.root.status(process.pid);
        seen.status = status.map(status_look).unwrap_or_default();
        seen.io = process.read_io(&mut self.buffer);
        // A process calls execve and opens its files soon after its start: look often then.
        let age_ns = now_ns.saturating_sub(process.first_ns);
        process.rare_due_ns = now_ns + age_ns.clamp(1_000_000, 500_000_000);
    }

    /// Reads the CPU time of ended children, of processes that have any.
    fn read_children_times(&mut self, topology: &Topology, look: &mut Look) {
        let bereaved: BTreeSet<i32> = look
            .processes
            .iter()
            .filter(|seen| seen.has_ended)
            .filter_map(|seen| Some(topology.processes.get(&seen.pid)?.parent))
            .collect();
        let mut grown = BTreeSet::new();
        for seen in look.processes.iter_mut().filter(|seen| !seen.has_ended) {
            let known = topology.processes.get(&seen.pid);
            if !bereaved.contains(&seen.pid) && !known.is_some_and(|known| known.kin.has_children) {
                continue;
            }
            let files = self.processes.get(&seen.pid);
            let files = files.filter(|files| files.news.has_run || bereaved.contains(&seen.pid));
            if let Some(Ok(stat)) = files.map(|files| files.read_stat(&mut self.buffer)) {
                seen.parent = Some(stat.parent);
                let children_cpu_ns = stat.children_cpu_ticks * self.tick_ns;
                seen.children_cpu_ns = Some(children_cpu_ns);
                if self.children_cpu_ns.insert(seen.pid, children_cpu_ns) != Some(children_cpu_ns) {
                    grown.insert(seen.pid);
                }
            }
        }
        // A child that ended during this look is part of the count already: it must count as ended, too, or its
        // CPU time would be taken for that of children nobody saw.
        for seen in look.processes.iter_mut().filter(|seen| !seen.has_ended) {
            let parent = topology.processes.get(&seen.pid).map_or(0, |process| process.parent);
            let files = self.processes.get(&seen.pid).filter(|_| grown.contains(&parent));
            let stat = files.map(|files| files.read_stat(&mut self.buffer));
            seen.has_ended = matches!(stat, Some(Err(Unavailable::Gone)));
        }
    }
}

fn status_look(status: Status) -> StatusLook {
    let left = status.voluntary_switches.zip(status.involuntary_switches);
    let left_cpu = left.map(|(to_wait, to_another)| LeftCpu { to_wait, to_another });
    StatusLook { peak_memory_bytes: status.peak_memory_bytes, left_cpu }
}

#[cfg(test)]
mod tests;
