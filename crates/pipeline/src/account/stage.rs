//! The account of one stage: where its time went, what it moved.

use std::collections::{BTreeMap, BTreeSet};

use crate::account::divide::{Divided, Divider, Now, StageSample};
use crate::account::programs::Programs;
use crate::account::reason::Reason;
use crate::account::series::{Clock, Series, Spent};
use crate::account::unseen;
use crate::account::wakes::Wakes;
use crate::sample::IoCount;
use fullbore_record::Cause;

/// The account of one stage, over all its processes, past and present.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageAccount {
    /// CPU time of all its processes, ended children included.
    pub(crate) cpu_ns: u64,
    pub(crate) spent: Spent,
    /// `spent.other_ns`, by cause.
    pub(crate) causes: BTreeMap<Cause, f64>,
    pub(crate) series: Series,
    pub(crate) now: Option<Now>,
    /// Since when it has waited for the same thing without a break.
    pub(crate) blocked_since_ns: Option<u64>,
    /// Until when its time has been divided.
    pub(crate) last_ns: u64,
    pub(crate) io: StageIo,
    pub(crate) unseen: Unseen,
    pub(crate) processes: Processes,
    pub(crate) wakes: Wakes,
    divider: Divider,
}

/// What is known of the processes of a stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// Most threads of one process at a time.
    pub(crate) threads: u32,
    /// Every pipe that one of their threads waits for at this moment.
    pub(crate) awaited_pipes: BTreeSet<Reason>,
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Processes that came and went between two samples; only switches tell of them.
    pub(crate) unseen: u32,
    /// Processes that have ended, by what they ran.
    pub(crate) programs: Programs,
    /// They only start stages.
    are_containers: bool,
}

/// What a stage read and wrote.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageIo {
    /// Counts of processes that have ended.
    pub(crate) ended: IoCount,
    /// All that was counted so far; `None` while nothing could be read.
    pub(crate) total: Option<IoCount>,
    /// When it was last counted.
    read_ns: u64,
}

impl StageIo {
    /// A process went to another stage, with all it had read and written.
    pub(crate) fn leave(&mut self, of_process: IoCount) {
        self.total = self.total.map(|total| total.minus(of_process));
    }
}

/// What cannot be told about a stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    /// It moves data by splice, which Linux does not count, or its counts may not be read.
    pub(crate) bytes: bool,
    /// What one of its processes waits for may not be looked at.
    pub(crate) waits: bool,
}

impl Processes {
    fn absorb(&mut self, other: Self) {
        self.threads = self.threads.max(other.threads);
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
        self.unseen = self.unseen.saturating_add(other.unseen);
        self.programs.absorb(other.programs);
    }
}

impl StageAccount {
    /// An empty account of a stage that begins now.
    pub(crate) fn begin(start_ns: u64) -> Self {
        Self {
            last_ns: start_ns,
            io: StageIo { read_ns: start_ns, ..StageIo::default() },
            processes: Processes { threads: 1, ..Processes::default() },
            ..Self::default()
        }
    }

    /// How long the stage lived so far.
    pub(crate) fn life_ns(&self) -> f64 {
        self.spent.total_ns()
    }

    /// It only starts stages.
    pub(crate) fn is_container(&self) -> bool {
        self.processes.are_containers
    }

    /// No sample met it waiting, though it waits.
    pub(crate) fn is_always_awake(&self) -> bool {
        let is_woken_often = self.wakes.wake_ups >= unseen::WAKE_UPS * self.life_ns() * 1e-9;
        self.divider.is_always_awake() && self.wakes.slices > 0 && is_woken_often
    }

    /// It slept more than it did anything else of its own.
    pub(crate) fn sleeps_mostly(&self) -> bool {
        let slept_ns = self.causes.get(&Cause::Sleep).copied().unwrap_or(0.0);
        slept_ns > self.spent.running_ns && slept_ns > self.spent.other_ns / 2.0
    }

    /// Adds the time until `to_ns`; the sample was taken at `now_ns`.
    pub(crate) fn add(
        &mut self,
        sample: &StageSample,
        to_ns: u64,
        now_ns: u64,
        clock: Clock,
    ) -> Divided {
        let from_ns = self.last_ns.min(now_ns);
        self.note(sample.now(), now_ns);
        self.processes.awaited_pipes.clone_from(&sample.pipes);
        let divided = self.divider.divide(sample, to_ns - from_ns);
        for (reason, ns) in &divided.reasons {
            if let Reason::Other(cause) = reason {
                *self.causes.entry(*cause).or_default() += ns;
            }
        }
        self.cpu_ns += sample.run_sum_ns;
        self.spent.add(&divided.spent, 1.0);
        self.series.spend(clock, from_ns, to_ns, &divided.spent);
        self.last_ns = now_ns;
        divided
    }

    /// When it turns out that it only starts stages: what was seen since the first of them began was theirs. `(sleep 1; a | b)`
    /// slept before.
    pub(crate) fn become_container(&mut self, is_container: bool, begun_ns: u64, clock: Clock) {
        if is_container && !self.processes.are_containers {
            self.series.keep_until(clock, begun_ns);
            let spent = self.series.sum();
            let kept =
                if self.spent.other_ns > 0.0 { spent.other_ns / self.spent.other_ns } else { 0.0 };
            self.causes.values_mut().for_each(|ns| *ns *= kept.min(1.0));
            self.spent = spent;
            self.divider = Divider::default();
            self.wakes = Wakes::default();
        }
        self.processes.are_containers = is_container;
    }

    /// Other processes have left it: takes over the times of an account without them, and what the one that stays has moved.
    pub(crate) fn become_like(
        &mut self,
        alone: Self,
        moved: IoCount,
        clock: Clock,
        [begun_ns, now_ns]: [u64; 2],
    ) {
        self.spent = alone.spent;
        self.causes = alone.causes;
        self.series = alone.series;
        self.divider = alone.divider;
        self.series.forget_moved();
        self.series.moved(clock, begun_ns, now_ns, moved.read_bytes, moved.written_bytes);
    }

    fn note(&mut self, now: Option<Now>, now_ns: u64) {
        if !matches!(now, Some(Now::Blocked(_))) || now != self.now {
            self.blocked_since_ns = matches!(now, Some(Now::Blocked(_))).then_some(now_ns);
        }
        self.now = now;
    }

    /// Takes over the counts of the live processes; puts the growth into the series.
    pub(crate) fn count_io(&mut self, live: IoCount, clock: Clock, now_ns: u64) {
        let total = self.io.ended.plus(live);
        let grown = total.minus(self.io.total.unwrap_or_default());
        let from_ns = self.io.read_ns.min(now_ns);
        self.series.moved(clock, from_ns, now_ns, grown.read_bytes, grown.written_bytes);
        self.io.total = Some(total);
        self.io.read_ns = now_ns;
    }

    /// Takes over everything that another turn of the same command did.
    pub(crate) fn absorb(&mut self, other: &mut Self) {
        self.cpu_ns += other.cpu_ns;
        self.processes.absorb(std::mem::take(&mut other.processes));
        self.last_ns = self.last_ns.max(other.last_ns);
        self.spent.add(&other.spent, 1.0);
        for (cause, ns) in std::mem::take(&mut other.causes) {
            *self.causes.entry(cause).or_default() += ns;
        }
        self.series.absorb(&std::mem::take(&mut other.series));
        self.wakes.add(other.wakes);
        self.io.ended = self.io.ended.plus(other.io.ended);
        self.io.total = match (self.io.total, other.io.total) {
            (Some(one), Some(two)) => Some(one.plus(two)),
            (one, two) => one.or(two),
        };
        self.unseen.bytes |= other.unseen.bytes;
        self.unseen.waits |= other.unseen.waits;
    }
}
