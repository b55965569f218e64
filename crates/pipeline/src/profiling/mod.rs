//! Stacks of the stages, on a CPU and while they wait: taking them, and dividing the time of the record by them.
//!
//! On a CPU, Linux samples registers and stacks (perf events). A thread that waits is where it entered the kernel: `/proc`
//! tells its stack pointer and program counter, and its stack can be read. Nothing is stopped for either.

mod files;
mod towers;

use std::collections::{HashMap, HashSet};

use fullbore_perf::{Event, Happened, Sample, Stacks};
use fullbore_proc::{Root, Wait};
use fullbore_profile::{Callers, Frame, KernelSymbols, Mapped, Stack, Tally};
use fullbore_record::Cause;

use crate::account::reason::Reason;
use crate::observed::Observed;
use crate::profiling::files::file_of;
use crate::sample::{Doing, Look};
use crate::topology::Topology;

/// Samples of each CPU a second; no multiple of a usual timer's rate, so as not to stay in step with it.
pub(crate) const HERTZ: u32 = 199;
/// So much of the stack of a thread that waits is read.
const STACK_BYTES: usize = 32 << 10;
/// So many of these stacks are read at one look, at most: with 1,000 threads, looks would become rare.
const STACKS_PER_LOOK: usize = 64;

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Did {
    Ran,
    Waited(Reason),
}

/// The stacks of a run.
#[derive(Debug)]
pub(crate) struct Profiling {
    root: Root,
    /// Those on a CPU; `None` where Linux refuses them.
    stacks: Option<Stacks>,
    callers: Callers,
    kernel: KernelSymbols,
    tally: Tally<(i32, Did)>,
    family: Family,
    /// Where each thread waits.
    blocked: HashMap<(i32, i32), Vec<Frame>>,
    /// Processes whose maps were read since the last look.
    asked: Vec<i32>,
    counts: Counts,
    last_ns: u64,
    notes: Vec<String>,
    buffer: Vec<u8>,
}

/// Where processes belong.
#[derive(Debug, Default)]
struct Family {
    /// The stage of each process, as an index, as last known.
    stages: HashMap<i32, usize>,
    /// The process that started each.
    parents: HashMap<i32, i32>,
    /// Copies of fullbore that have not called execve: what they run is no part of the pipeline.
    copies: HashSet<i32>,
}

/// What was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    on_cpu: u64,
    waiting: u64,
    lost: u64,
}

impl Profiling {
    /// `stacks` are those on a CPU, or why there are none.
    pub(crate) fn new(stacks: Result<Stacks, String>) -> Self {
        let mut notes = Vec::new();
        let stacks =
            stacks.map_err(|why| notes.push(format!("functions on a CPU are unknown: {why}"))).ok();
        if stacks.as_ref().is_some_and(|stacks| !stacks.sees_kernel()) {
            notes.push(
                "time in the kernel is one block for each stage: only root may see its functions, or everybody after \
                 `sudo sysctl kernel.perf_event_paranoid=1`"
                    .to_owned(),
            );
        }
        let reads_kernel = stacks.as_ref().is_some_and(Stacks::sees_kernel);
        let out_of_the_way = || {
            let _ = fullbore_process::run_only_when_idle();
        };
        let kernel = reads_kernel.then(|| KernelSymbols::ahead(out_of_the_way));
        Self {
            root: Root::system(),
            kernel: kernel.unwrap_or_default(),
            stacks,
            callers: Callers::default(),
            tally: Tally::default(),
            family: Family::default(),
            blocked: HashMap::new(),
            asked: Vec::new(),
            counts: Counts::default(),
            last_ns: 0,
            notes,
            buffer: vec![0; STACK_BYTES],
        }
    }

    /// Notes which process belongs to which stage, before those that have ended are forgotten.
    pub(crate) fn note_stages(&mut self, topology: &Topology) {
        for (pid, process) in &topology.processes {
            self.family.stages.insert(*pid, process.stage);
            self.family.parents.insert(*pid, process.parent);
        }
    }

    /// Takes in what ran since the last look, and where threads wait now.
    pub(crate) fn take_in(&mut self, observed: &Observed, look: &Look) {
        self.asked.clear();
        self.take_in_events();
        let passed = look.at_ns.saturating_sub(std::mem::replace(&mut self.last_ns, look.at_ns));
        self.take_in_waits(observed, look, passed as f64);
    }

    fn take_in_events(&mut self) {
        let Some(stacks) = &mut self.stacks else { return };
        let reading = stacks.read();
        self.counts.lost += reading.lost;
        let own = std::process::id().cast_signed();
        let mut ended = Vec::new();
        for Event { pid, tid, happened, .. } in reading.events {
            match happened {
                Happened::Mapped(mapping) => {
                    let path = if mapping.path == "//anon" { String::new() } else { mapping.path };
                    let end = mapping.start.saturating_add(mapping.length);
                    self.map(
                        pid,
                        Mapped { start: mapping.start, end, offset: mapping.offset, path },
                    );
                }
                Happened::Executed => {
                    self.family.copies.remove(&pid);
                    self.callers.clear(pid);
                }
                Happened::Begun { parent } if tid == pid => {
                    if parent == own || self.family.copies.contains(&parent) {
                        self.family.copies.insert(pid);
                    }
                    self.callers.fork(parent, pid);
                    self.family.parents.insert(pid, parent);
                }
                Happened::Ended if tid == pid => ended.push(pid),
                Happened::Sample(sample) => self.take_in_sample(pid, &sample),
                _ => {}
            }
        }
        for pid in ended {
            self.callers.clear(pid);
            self.family.copies.remove(&pid);
        }
    }

    fn map(&mut self, pid: i32, mapped: Mapped) {
        let root = &self.root;
        let of = mapped.clone();
        self.callers.map(pid, mapped, || file_of(root, pid, &of));
    }

    fn take_in_sample(&mut self, pid: i32, sample: &Sample) {
        self.counts.on_cpu += 1;
        let mut frames: Vec<Frame> = sample.kernel.iter().copied().map(Frame::Kernel).collect();
        if let Some(registers) = sample.registers.filter(|_| !self.family.copies.contains(&pid)) {
            self.learn(pid, registers.instruction);
            let stack = Stack {
                instruction: registers.instruction,
                pointer: registers.stack,
                frame: Some(registers.frame),
                link: registers.link,
                bytes: &sample.stack,
            };
            frames.extend(self.callers.of(pid, stack));
        }
        self.tally.add((pid, Did::Ran), &frames, 1.0);
    }

    /// Reads what a process has mapped, unless it is known what is at this address.
    fn learn(&mut self, pid: i32, address: u64) {
        if self.callers.knows(pid, address) || self.asked.contains(&pid) {
            return;
        }
        self.asked.push(pid);
        for code in self.root.try_mapped_code(pid).unwrap_or_default() {
            let (start, end, offset) = (code.start, code.end, code.offset);
            self.map(pid, Mapped { start, end, offset, path: code.path });
        }
    }

    fn take_in_waits(&mut self, observed: &Observed, look: &Look, passed: f64) {
        let mut left = STACKS_PER_LOOK;
        for seen in &look.processes {
            let Some(stage) = self.family.stages.get(&seen.pid).copied() else { continue };
            for task in &seen.tasks {
                let place = (seen.pid, task.tid);
                if seen.has_ended || task.doing == Doing::Running {
                    self.blocked.remove(&place);
                    continue;
                }
                let accounts = &observed.accounts;
                let Some(reason) = accounts.reason_of(&task.doing, stage, &observed.topology)
                else {
                    continue;
                };
                let has_moved = task.running_ns > 0 || task.slices > 0;
                if has_moved || !self.blocked.contains_key(&place) {
                    self.blocked.remove(&place);
                    if left == 0 {
                        continue;
                    }
                    left -= 1;
                    if let Some(frames) = self.frames_of_waiting(seen.pid, task.tid, reason) {
                        self.counts.waiting += 1;
                        self.blocked.insert(place, frames);
                    }
                }
                if let Some(frames) = self.blocked.get(&place) {
                    self.tally.add((seen.pid, Did::Waited(reason)), frames, passed);
                }
            }
        }
    }

    /// Where a thread waits; `None` when it does not wait for that any more, or where may not be seen.
    fn frames_of_waiting(&mut self, pid: i32, tid: i32, reason: Reason) -> Option<Vec<Frame>> {
        let at = self.root.try_blocked_at(pid, tid).ok()??;
        // It was looked at a moment ago, and may have gone on since.
        let sleeps_now = match at.wait {
            Wait::Sleep => true,
            Wait::Read(_) | Wait::Write(_) | Wait::Move { .. } => false,
            _ => reason == Reason::Other(Cause::Sleep),
        };
        if sleeps_now != (reason == Reason::Other(Cause::Sleep)) {
            return None;
        }
        let length = self.root.try_memory(pid, at.stack, &mut self.buffer).unwrap_or(0);
        self.learn(pid, at.instruction);
        let stack = Stack {
            instruction: at.instruction,
            pointer: at.stack,
            frame: None,
            link: 0,
            bytes: &self.buffer[..length],
        };
        Some(self.callers.of(pid, stack))
    }
}
