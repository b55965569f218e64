//! A pipeline that somebody else started: who belongs to it, and what it did before it was watched.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use fullbore_proc::{Root, Stat};

use crate::sample::{IoCount, LeftCpu, ProcessLook};
use crate::sampler::members::members;
use crate::sampler::status_look;

/// The processes of others that are watched.
#[derive(Debug)]
pub(crate) struct Guests {
    /// The process that was named; its pipeline is what is watched.
    named: i32,
    /// The process of fullbore.
    own: i32,
    pub(crate) pipes_may_be_asked: bool,
    /// What each process had used when watching began.
    before: BTreeMap<i32, Before>,
    /// When to look for stages that began later.
    due_ns: u64,
}

/// What a process had used when watching began.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    cpu_ns: u64,
    children_cpu_ns: u64,
    io: IoCount,
    left_cpu: Option<LeftCpu>,
}

/// Stages that begin later are looked for this often …
const INTERVAL_NS: u64 = 500_000_000;

/// … but for this part of the time at most.
const SHARE: u64 = 200;

impl Guests {
    /// The pipeline of process `named`.
    pub(crate) fn new(named: i32, own: i32, pipes_may_be_asked: bool) -> Self {
        Self { named, own, pipes_may_be_asked, before: BTreeMap::new(), due_ns: 0 }
    }

    /// Processes of the pipeline that are not among those `known`, each with its parent: only those whose parent is not of
    /// the pipeline.
    pub(super) fn newcomers(
        &mut self,
        root: &Root,
        known: impl Iterator<Item = i32>,
        now_ns: u64,
    ) -> Vec<(i32, i32)> {
        if now_ns < self.due_ns {
            return Vec::new();
        }
        let begin = Instant::now();
        let known: BTreeSet<i32> = known.collect();
        let seeds = if known.is_empty() { BTreeSet::from([self.named]) } else { known.clone() };
        let mut found = members(root, &seeds, self.own);
        found.retain(|(parent, pid)| !known.contains(pid) && !known.contains(parent));
        let cost_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.due_ns = now_ns + INTERVAL_NS.max(cost_ns.saturating_mul(SHARE));
        found
    }

    /// Watching begins: notes what a process has used so far.
    pub(super) fn note_before(&mut self, root: &Root, pid: i32, stat: &Stat, tick_ns: u64) {
        let before = Before {
            cpu_ns: stat.cpu_ticks * tick_ns,
            children_cpu_ns: stat.children_cpu_ticks * tick_ns,
            io: root.io(pid).map(IoCount::from).unwrap_or_default(),
            left_cpu: root.status(pid).and_then(|status| status_look(status).left_cpu),
        };
        self.before.insert(pid, before);
    }

    /// Takes away from what was counted for a process what it had used before watching began.
    pub(super) fn forget_before(&mut self, seen: &mut ProcessLook) {
        let Some(before) = self.before.get(&seen.pid) else { return };
        if let Some(counts) = &mut seen.counts {
            counts.cpu_ns = counts.cpu_ns.saturating_sub(before.cpu_ns);
        }
        if let Some(cpu_ns) = &mut seen.children_cpu_ns {
            *cpu_ns = cpu_ns.saturating_sub(before.children_cpu_ns);
        }
        seen.io = seen.io.map(|io| io.minus(before.io));
        if let (Some(now), Some(then)) = (&mut seen.status.left_cpu, before.left_cpu) {
            now.to_wait = now.to_wait.saturating_sub(then.to_wait);
            now.to_another = now.to_another.saturating_sub(then.to_another);
        }
        if seen.has_ended {
            self.before.remove(&seen.pid);
        }
    }
}
