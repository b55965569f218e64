//! The first processes of stages: how they ended, also when somebody else waits for them.

use std::collections::{BTreeMap, VecDeque};

use fullbore_process::Pidfd;

/// Processes remembered after their end; each takes a descriptor until its exit status was told.
const ENDED_MAX: usize = 32;

/// The first processes of stages, held so that their exit status can be learned.
#[derive(Debug, Default)]
pub(crate) struct Leaders {
    held: BTreeMap<i32, Pidfd>,
    /// Exit statuses of those that are held, if they were told already.
    told: BTreeMap<i32, i32>,
    /// Exit statuses of processes that are held no longer, to be told.
    left: Vec<(i32, i32)>,
    /// Those that ended, with the time at which that was seen; the last ones only.
    ended: VecDeque<(i32, u64)>,
}

impl Leaders {
    /// Takes hold of a process.
    pub(crate) fn hold(&mut self, pid: i32) {
        // Its number may have been another's.
        self.ended.retain(|(ended, _)| *ended != pid);
        if let Some(hold) = Pidfd::open(pid) {
            self.held.insert(pid, hold);
            self.told.remove(&pid);
        }
    }

    /// A process was seen to have ended, if it is one of these.
    pub(crate) fn end(&mut self, pid: i32, now_ns: u64) {
        if self.held.contains_key(&pid) {
            self.ended.push_back((pid, now_ns));
        }
        let forgotten = self.ended.len().saturating_sub(ENDED_MAX);
        for (pid, _) in self.ended.drain(..forgotten) {
            let Some(hold) = self.held.remove(&pid) else { continue };
            if self.told.remove(&pid).is_some() {
                continue;
            }
            self.left.extend(hold.wait_status().map(|status| (pid, status)));
        }
    }

    /// Exit statuses, as wait(2) encodes them, of those that have ended; each is told once.
    pub(crate) fn statuses(&mut self) -> Vec<(i32, i32)> {
        let untold = self.held.iter().filter(|(pid, _)| !self.told.contains_key(pid));
        let ended = untold.filter_map(|(pid, hold)| Some((*pid, hold.wait_status()?)));
        let ended: Vec<(i32, i32)> = ended.collect();
        self.told.extend(ended.iter().copied());
        self.left.drain(..).chain(ended).collect()
    }

    /// The exit status, as wait(2) encodes it, of one of them, if it is known.
    pub(crate) fn status_of(&self, pid: i32) -> Option<i32> {
        self.told.get(&pid).copied().or_else(|| self.held.get(&pid)?.wait_status())
    }

    /// Those that ended after `since_ns`, each with the time at which that was seen.
    pub(crate) fn ended_since(&self, since_ns: u64) -> impl Iterator<Item = (i32, u64)> {
        self.ended.iter().copied().filter(move |(_, at_ns)| *at_ns >= since_ns)
    }
}
