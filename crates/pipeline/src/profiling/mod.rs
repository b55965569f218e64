//! Stacks of the stages, on a CPU and while they wait: taking them, and dividing the time of the record by them.
//!
//! On a CPU, Linux samples registers and stacks (perf events). A thread that waits is where it entered the kernel: `/proc`
//! tells its stack pointer and program counter, and its stack can be read. Nothing is stopped for either.

mod files;
mod towers;
mod unwinding;

use std::collections::{HashMap, HashSet};

use fullbore_perf::{Happened, Stacks};
use fullbore_proc::{Root, Target, Wait};
use fullbore_profile::KernelSymbols;
use fullbore_record::Cause;

use crate::account::reason::Reason;
use crate::observed::Observed;
use crate::profiling::unwinding::{Place, Seen, Snapshot, Taken, Unwinding, Waiting};
use crate::sample::{Doing, Look};
use crate::topology::Topology;

/// Samples of each CPU a second; no multiple of a usual timer's rate, so as not to stay in step with it.
pub(crate) const HERTZ: u32 = 199;
/// So much of the stack of a thread that waits is read, as on a CPU. `wc -l` has 33 KiB below `main`.
const STACK_BYTES: usize = 40 << 10;
/// So many of these stacks are read at one look, at most: with 1,000 threads, looks would become rare.
const STACKS_PER_LOOK: usize = 64;

/// The stacks of a run.
#[derive(Debug)]
pub(crate) struct Profiling {
    root: Root,
    /// Those on a CPU; `None` where Linux refuses them.
    stacks: Option<Stacks>,
    kernel: KernelSymbols,
    /// Who follows them; `None` where Linux refuses a thread.
    unwinding: Option<Unwinding>,
    /// What was not handed to it yet.
    taken: Taken,
    family: Family,
    /// Threads that wait where their last stack was taken.
    blocked: HashSet<Place>,
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
        let unwinding = Unwinding::start(Root::system());
        let unwinding = unwinding
            .map_err(|why| {
                notes.push(format!("functions are unknown: no thread to find them: {why}"))
            })
            .ok();
        let reads_kernel = stacks.as_ref().is_some_and(Stacks::sees_kernel);
        let out_of_the_way = || {
            let _ = fullbore_process::run_only_when_idle();
        };
        let kernel = reads_kernel.then(|| KernelSymbols::ahead(out_of_the_way));
        Self {
            root: Root::system(),
            kernel: kernel.unwrap_or_default(),
            stacks,
            unwinding,
            taken: Taken::default(),
            family: Family::default(),
            blocked: HashSet::new(),
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

    /// Takes what ran since the last look, and where threads wait now.
    pub(crate) fn take_in(&mut self, observed: &Observed, look: &Look) {
        let has_room = self.unwinding.as_ref().is_some_and(Unwinding::has_room);
        self.take_events(has_room);
        let passed = look.at_ns.saturating_sub(std::mem::replace(&mut self.last_ns, look.at_ns));
        self.take_waits(observed, look, passed as f64, if has_room { STACKS_PER_LOOK } else { 0 });
        if self.taken.is_due() {
            let taken = std::mem::take(&mut self.taken);
            if let Some(unwinding) = &self.unwinding {
                unwinding.follow(taken);
            }
        }
    }

    fn take_events(&mut self, has_room: bool) {
        let Some(stacks) = &mut self.stacks else { return };
        let reading = stacks.read();
        self.counts.lost += reading.lost;
        for event in reading.events {
            let is_sample = matches!(event.happened, Happened::Sample(_));
            self.counts.on_cpu += u64::from(is_sample && has_room);
            self.counts.lost += u64::from(is_sample && !has_room);
            if has_room || !is_sample {
                self.taken.events.push(event);
            }
        }
    }

    /// Takes at most `left` stacks of threads that wait.
    fn take_waits(&mut self, observed: &Observed, look: &Look, passed: f64, mut left: usize) {
        for seen in &look.processes {
            let Some(stage) = self.family.stages.get(&seen.pid).copied() else { continue };
            for task in &seen.tasks {
                let place = (seen.pid, task.tid);
                if seen.has_ended || task.doing == Doing::Running {
                    self.forget(place);
                    continue;
                }
                let accounts = &observed.accounts;
                let Some(reason) = accounts.reason_of(&task.doing, stage, &observed.topology)
                else {
                    continue;
                };
                let has_moved = task.running_ns > 0 || task.slices > 0;
                let mut stack = None;
                if has_moved || !self.blocked.contains(&place) {
                    self.forget(place);
                    if left == 0 {
                        continue;
                    }
                    left -= 1;
                    stack = self.stack_of_waiting(place, reason);
                    if stack.is_some() {
                        self.counts.waiting += 1;
                        self.blocked.insert(place);
                    }
                }
                if self.blocked.contains(&place) {
                    let wait = Waiting { place, reason, ns: passed, stack };
                    self.taken.waits.push(Seen::Waits(wait));
                }
            }
        }
    }

    fn forget(&mut self, place: Place) {
        if self.blocked.remove(&place) {
            self.taken.waits.push(Seen::Gone(place));
        }
    }

    /// The stack of a thread that waits; `None` when it does not wait for that any more, or its stack may not be seen.
    fn stack_of_waiting(&mut self, (pid, tid): Place, reason: Reason) -> Option<Snapshot> {
        let at = self.root.try_blocked_at(pid, tid).ok()??;
        // It was looked at a moment ago, and may have gone on since.
        let sleeps_now = match at.wait {
            Wait::Sleep => true,
            // Reading a timer is sleeping.
            Wait::Read(fd) if reason == Reason::Other(Cause::Sleep) => {
                self.root.fd(pid, fd).is_some_and(|fd| fd.target == Target::Timer)
            }
            Wait::Read(_) | Wait::Write(_) | Wait::Move { .. } => false,
            _ => reason == Reason::Other(Cause::Sleep),
        };
        if sleeps_now != (reason == Reason::Other(Cause::Sleep)) {
            return None;
        }
        let length = self.root.try_memory(pid, at.stack, &mut self.buffer).unwrap_or(0);
        let bytes = self.buffer[..length].to_vec();
        Some(Snapshot { instruction: at.instruction, pointer: at.stack, bytes })
    }
}
