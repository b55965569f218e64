//! Looking at the pipeline again and again: who runs, who waits, and for what.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_proc::{Activity, HotFile, Root, Wait, clock_ticks_per_second};

use crate::Command;
use crate::incidents::Incidents;
use crate::pipes::Pipes;
use crate::process::{Process, TaskLook};
use crate::reason::reason;
use crate::record::Cause;
use crate::spawn::Started;
use crate::stage::{Now, Reason, Stage, StageLook, sum};
use crate::timeline::Clock;

/// Everything known about a running pipeline.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) root: Root,
    /// Process of the shell, or of the command.
    pub(crate) shell: i32,
    /// Words of a shell that was given a line; its copies have them, too. Empty for a command.
    pub(crate) shell_words: Vec<String>,
    /// This process: the parent of those whose parent ended.
    pub(crate) own: i32,
    /// Its list of children: processes whose parent ended.
    pub(crate) orphans: HotFile,
    pub(crate) processes: BTreeMap<i32, Process>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) pipes: Pipes,
    pub(crate) clock: Clock,
    pub(crate) incidents: Incidents,
    pub(crate) gaps: BTreeSet<String>,
    /// Processes that ended and were not yet waited for.
    pub(crate) zombies: BTreeSet<i32>,
    pub(crate) sums: Sums,
    /// When last looked at, from the start of the run.
    pub(crate) last_ns: u64,
    pub(crate) next_topology_ns: u64,
    tick_ns: u64,
    pub(crate) buffer: Vec<u8>,
}

/// Looks that may fail (a process within execve cannot be looked into) before a process counts as closed to us.
const UNSEEN_LOOKS_MAX: u32 = 5;

/// Bytes and calls are read this often: enough for rates that are shown four times a second.
const IO_INTERVAL_NS: u64 = 50_000_000;
/// Threads are counted at every look of this many.
const TASKS_INTERVAL: u64 = 8;

/// Sums over the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) samples: u64,
    /// Time in which at least one stage was running, and at least two.
    pub(crate) one_runs_ns: u64,
    pub(crate) two_run_ns: u64,
    pub(crate) cpus: u32,
}

impl Watch {
    /// Begins to watch what was started.
    pub(crate) fn begin(started: &Started, command: &Command, cpus: u32) -> Self {
        let shell_words = match command {
            Command::Line { .. } => {
                command.words().iter().map(|word| word.to_string_lossy().into_owned()).collect()
            }
            Command::Words { .. } => Vec::new(),
        };
        let is_shell_line = !shell_words.is_empty();
        let root = Root::system();
        let own = std::process::id().cast_signed();
        let mut watch = Self {
            shell: started.pid,
            shell_words,
            own,
            orphans: root.hot_file(own, &format!("task/{own}/children")),
            processes: BTreeMap::new(),
            stages: Vec::new(),
            pipes: Pipes::new(started.outside.clone()),
            clock: Clock::new(),
            incidents: Incidents::default(),
            gaps: started.gaps.iter().cloned().collect(),
            zombies: BTreeSet::new(),
            sums: Sums { cpus, ..Sums::default() },
            last_ns: 0,
            next_topology_ns: 0,
            tick_ns: 1_000_000_000 / clock_ticks_per_second().max(1),
            buffer: vec![0; 4096],
            root,
        };
        watch.begin_stage(0, started.pid, 0);
        if let Some(process) = watch.processes.get_mut(&started.pid) {
            process.is_container = is_shell_line;
            watch.stages[0].was_only_container = is_shell_line;
        }
        watch
    }

    /// Looks at everything once.
    pub(crate) fn look(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.last_ns + 1);
        for _ in 0..self.clock.reach(now_ns) {
            self.stages.iter_mut().for_each(|stage| stage.series.halve());
        }
        self.discover(now_ns);
        let mut looks = BTreeMap::new();
        let ended = self.look_at_processes(now_ns, &mut looks);
        // Children before their parents, which have higher numbers as a rule.
        for pid in ended.into_iter().rev() {
            self.end_process(pid, now_ns);
        }
        // After the ends: a parent's count has grown by what its ended children used.
        self.count_all_children(&mut looks);
        self.pipes.pass((now_ns - self.last_ns) as f64);
        self.divide(now_ns, &looks);
        self.count_overlap(now_ns);
        self.sums.samples += 1;
        self.last_ns = now_ns;
        self.note_incidents(now_ns);
    }

    /// Looks at every process; returns those that have ended.
    fn look_at_processes(
        &mut self,
        now_ns: u64,
        looks: &mut BTreeMap<usize, StageLook>,
    ) -> Vec<i32> {
        let mut processes = std::mem::take(&mut self.processes);
        let mut ended = Vec::new();
        let mut tasks = Vec::new();
        for stage in &mut self.stages {
            stage.alive = 0;
        }
        for (pid, process) in &mut processes {
            if self.look_at(process, &mut tasks, now_ns, looks).is_none() {
                ended.push(*pid);
            } else {
                let stage = &mut self.stages[process.stage];
                stage.alive += 1;
                stage.threads =
                    stage.threads.max(u32::try_from(process.tasks.len()).unwrap_or(u32::MAX));
            }
        }
        self.processes = processes;
        ended
    }

    /// Looks at one process; `None` when it has ended.
    fn look_at(
        &mut self,
        process: &mut Process,
        tasks: &mut Vec<TaskLook>,
        now_ns: u64,
        looks: &mut BTreeMap<usize, StageLook>,
    ) -> Option<()> {
        process.look(&mut self.buffer, tasks)?;
        let mut look = looks.get(&process.stage).copied().unwrap_or_default();
        let mut lives = Some(());
        for task in tasks.iter() {
            look.run_sum_ns += task.running_ns;
            look.run_max_ns = look.run_max_ns.max(task.running_ns);
            look.wait_sum_ns += task.waiting_ns;
            let wait = match task.activity {
                Some(Activity::Running) => {
                    look.running_tasks += 1;
                    continue;
                }
                Some(Activity::Blocked(wait)) => Some(wait),
                None => self.guess_wait(process, &mut look),
            };
            let Some(reason) = wait.and_then(|wait| self.reason(process, wait)) else {
                // It has ended, but what it did until then counts.
                lives = None;
                break;
            };
            if look.reason.is_none_or(|other| reason.rank() > other.rank()) {
                look.reason = Some(reason);
            }
        }
        if self.sums.samples.is_multiple_of(TASKS_INTERVAL) {
            look.run_sum_ns += self.follow_tasks(process).unwrap_or(0);
        }
        looks.insert(process.stage, look);
        lives?;
        if now_ns >= process.next_rare_ns {
            self.look_rarely(process, now_ns)?;
        }
        Some(())
    }

    /// Finds threads that began since; returns the CPU time of those that ended unseen.
    fn follow_tasks(&mut self, process: &mut Process) -> Option<u64> {
        let stat = process.read_stat(&mut self.buffer)?;
        if stat.threads as usize != process.tasks.len() {
            process.most_threads = process.most_threads.max(stat.threads);
            process.find_tasks(&self.root);
        }
        // Threads take their times with them; the sum for the process, in ticks, keeps them.
        let lost_ns = (stat.cpu_ticks * self.tick_ns).saturating_sub(process.cpu_ns);
        if process.most_threads < 2 {
            return None;
        }
        process.cpu_ns += lost_ns;
        Some(lost_ns)
    }

    /// The process may not be looked into (another user's): its state letter is all there is.
    fn guess_wait(&mut self, process: &mut Process, look: &mut StageLook) -> Option<Wait> {
        use fullbore_proc::State;
        let stat = process.read_stat(&mut self.buffer)?;
        process.unseen_looks += 1;
        if process.unseen_looks == UNSEEN_LOOKS_MAX {
            self.stages[process.stage].unseen.waits = true;
            let name = process.words.first().cloned().unwrap_or_default();
            self.gaps.insert(format!(
                "{name} (process {}) may not be looked into (another user's, or protected): what it waits for is unknown",
                process.pid
            ));
        }
        if stat.state == State::Running {
            look.running_tasks += 1;
        }
        Some(if stat.state == State::DiskSleep { Wait::Sync } else { Wait::Other })
    }

    fn reason(&mut self, process: &mut Process, wait: Wait) -> Option<Reason> {
        let reason = reason(&self.root, process, wait, &self.pipes, &mut self.buffer)?;
        let stage = process.stage;
        if matches!(wait, Wait::Move { .. }) {
            self.stages[stage].unseen.bytes = true;
        }
        let (Reason::Reading(pipe) | Reason::Writing(pipe)) = reason else { return Some(reason) };
        let pipe = &self.pipes.list[pipe];
        // A pipe within a stage (a program and its helper) is the stage's own affair.
        let is_inner = pipe.writers.len() == 1
            && pipe.writers == pipe.readers
            && pipe.writers.contains(&stage);
        Some(if is_inner { Reason::Other(Cause::Child) } else { reason })
    }

    fn count_all_children(&mut self, looks: &mut BTreeMap<usize, StageLook>) {
        let mut processes = std::mem::take(&mut self.processes);
        for process in processes.values_mut().filter(|process| process.has_children) {
            if let Some(stat) = process.read_stat(&mut self.buffer) {
                self.count_children(process, stat.children_cpu_ticks * self.tick_ns, looks);
            }
        }
        self.processes = processes;
    }

    /// Gives children's CPU time to the stages they belonged to.
    fn count_children(
        &mut self,
        process: &mut Process,
        children_cpu_ns: u64,
        looks: &mut BTreeMap<usize, StageLook>,
    ) {
        let grown = children_cpu_ns.saturating_sub(process.children_cpu_ns);
        process.children_cpu_ns = children_cpu_ns;
        let reaped = std::mem::take(&mut process.reaped);
        let counted =
            process.counted_early_ns + reaped.iter().map(|child| child.counted_ns).sum::<u64>();
        let mut unseen = grown.saturating_sub(counted);
        process.counted_early_ns = counted.saturating_sub(grown);
        // What nobody saw is theirs: their last moments, threads that ended, siblings too short to be seen.
        let heirs = reaped.len() as u64;
        for (place, child) in reaped.iter().enumerate() {
            let share = unseen / (heirs - place as u64);
            unseen -= share;
            // Its stage may be over: then only the sum of CPU time grows.
            match looks.get_mut(&child.stage) {
                Some(look) => look.run_sum_ns += share,
                None => self.stages[child.stage].cpu_ns += share,
            }
        }
        looks.entry(process.stage).or_default().run_sum_ns += unseen;
    }

    /// Reads what costs more than it changes; `None` when the process has ended.
    fn look_rarely(&mut self, process: &mut Process, now_ns: u64) -> Option<()> {
        let words = process.words.clone();
        process.read_rarely(&self.root);
        if process.words != words {
            // It has called execve, and arranged its descriptors for that.
            self.next_topology_ns = now_ns;
        }
        process.read_io(&mut self.buffer);
        let stage = &mut self.stages[process.stage];
        stage.peak_memory_bytes = stage.peak_memory_bytes.max(process.peak_memory_bytes);
        if process.is_leader {
            stage.words.clone_from(&process.words);
        }
        // A shell that became its last command (exec) is a stage like any other.
        if process.is_container
            && process.words != process.first_words
            && process.words != self.shell_words
        {
            process.is_container = false;
            stage.was_only_container = false;
        }
        // A process calls execve and opens its files soon after its start: look often then.
        let age_ns = now_ns.saturating_sub(process.first_ns);
        process.next_rare_ns = now_ns + age_ns.clamp(1_000_000, 500_000_000);
        Some(())
    }

    /// Adds what the looks found to the stages and pipes.
    fn divide(&mut self, now_ns: u64, looks: &BTreeMap<usize, StageLook>) {
        self.read_io(now_ns);
        let is_waiting_for_stages = self.waiting_for_stages(looks);
        for (index, look) in looks {
            let stage = &mut self.stages[*index];
            let from_ns = stage.last_ns.min(now_ns);
            // A stage that ended did so some time since the last look.
            let to_ns = if is_waiting_for_stages.contains(index) {
                // A shell that waits for stages does nothing itself: this is no part of its life.
                stage.last_ns = now_ns;
                from_ns + (look.run_sum_ns + look.wait_sum_ns).min(now_ns - from_ns)
            } else if stage.alive > 0 {
                now_ns
            } else {
                u64::midpoint(from_ns, now_ns)
            };
            if to_ns == from_ns {
                continue;
            }
            let divided = stage.divide(look, to_ns - from_ns, now_ns);
            stage.series.spend(self.clock, from_ns, to_ns, &divided.spent);
            match stage.now {
                Some(Now::Blocked(Reason::Reading(pipe))) => {
                    self.pipes.list[pipe].reader_waits = true
                }
                Some(Now::Blocked(Reason::Writing(pipe))) => {
                    self.pipes.list[pipe].writer_waits = true
                }
                _ => {}
            }
            for (reason, ns) in divided.reasons {
                match reason {
                    Reason::Reading(pipe) => self.pipes.reader_blocked(pipe, *index, ns),
                    Reason::Writing(pipe) => self.pipes.writer_blocked(pipe, *index, ns),
                    Reason::Other(_) => {}
                }
            }
        }
    }

    /// Shells that wait for a child which is a live stage.
    fn waiting_for_stages(&self, looks: &BTreeMap<usize, StageLook>) -> BTreeSet<usize> {
        let busy: BTreeSet<i32> = self
            .stages
            .iter()
            .filter(|stage| stage.alive > 0)
            .map(|stage| stage.container)
            .collect();
        let waits = |look: &StageLook| {
            look.running_tasks == 0 && look.reason == Some(Reason::Other(Cause::Child))
        };
        let looks = looks
            .iter()
            .filter(|(index, look)| waits(look) && busy.contains(&self.stages[**index].leader));
        looks.map(|(index, _)| *index).collect()
    }

    /// Reads bytes and calls of all processes: what one did after the last look before its end is lost.
    fn read_io(&mut self, now_ns: u64) {
        let mut due: BTreeMap<usize, fullbore_proc::Io> = BTreeMap::new();
        for process in self.processes.values_mut() {
            let stage = &self.stages[process.stage];
            let is_young = now_ns.saturating_sub(stage.start_ns) < IO_INTERVAL_NS;
            if !is_young && now_ns < stage.io_read_ns + IO_INTERVAL_NS {
                continue;
            }
            process.read_io(&mut self.buffer);
            if let Some(io) = process.io {
                let own = crate::stage::difference(io, process.io_elsewhere);
                let total = due.entry(process.stage).or_default();
                *total = sum(*total, own);
            }
        }
        for (index, live) in due {
            self.stages[index].count_io(live, self.clock, now_ns);
        }
    }

    fn count_overlap(&mut self, now_ns: u64) {
        let is_running = |stage: &&Stage| stage.alive > 0 && stage.now == Some(Now::Running);
        let running = self.stages.iter().filter(is_running).count();
        let length_ns = now_ns - self.last_ns;
        if running >= 1 {
            self.sums.one_runs_ns += length_ns;
        }
        if running >= 2 && self.sums.cpus >= 2 {
            self.sums.two_run_ns += length_ns;
        }
    }
}

impl Stage {
    /// Takes over the bytes and calls of the live processes; puts the growth into the timeline.
    fn count_io(&mut self, live: fullbore_proc::Io, clock: Clock, now_ns: u64) {
        let total = sum(self.ended_io, live);
        let before = self.io.unwrap_or_default();
        let grown = crate::stage::difference(total, before);
        self.series.moved(
            clock,
            self.io_read_ns.min(now_ns),
            now_ns,
            grown.read_bytes,
            grown.written_bytes,
        );
        self.io = Some(total);
        self.io_read_ns = now_ns;
    }
}
