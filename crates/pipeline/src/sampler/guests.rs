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
    who: Who,
    pub(crate) pipes_may_be_asked: bool,
    /// What each process had used when watching began.
    before: BTreeMap<i32, Before>,
    /// When to look for stages that began later.
    due_ns: u64,
}

/// How it is known who belongs to the pipeline.
#[derive(Debug)]
enum Who {
    /// Whoever is joined with process `named`; `own` is that of fullbore.
    Joined { named: i32, own: i32 },
    /// Those whom [`Guests::told`] says, each with its parent.
    Told(Vec<(i32, i32)>),
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
    pub(crate) fn named(named: i32, own: i32, pipes_may_be_asked: bool) -> Self {
        Self::of(Who::Joined { named, own }, pipes_may_be_asked)
    }

    /// A pipeline whose processes are known, each with its parent; without those whose parent is one of them. None of its
    /// pipes is opened.
    pub(crate) fn told(members: Vec<(i32, i32)>) -> Self {
        Self::of(Who::Told(members), false)
    }

    fn of(who: Who, pipes_may_be_asked: bool) -> Self {
        Self { who, pipes_may_be_asked, before: BTreeMap::new(), due_ns: 0 }
    }

    /// Who belongs to the pipeline now.
    pub(crate) fn tell(&mut self, members: Vec<(i32, i32)>) {
        self.who = Who::Told(members);
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
        let mut found = match &mut self.who {
            Who::Told(members) => std::mem::take(members),
            Who::Joined { named, own } => {
                let seeds = if known.is_empty() { BTreeSet::from([*named]) } else { known.clone() };
                members(root, &seeds, *own)
            }
        };
        found.retain(|(parent, pid)| !known.contains(pid) && !known.contains(parent));
        if matches!(self.who, Who::Told(_)) {
            return found;
        }
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
