//! Everything that was observed of a run, and what follows from it: a pure function of the samples.
//!
//! The session feeds it samples as they are taken; a replay feeds it samples that were recorded. Both end in
//! the same record.

use std::collections::BTreeSet;

use fullbore_pipe::End;

use crate::account::Accounts;
use crate::account::reason::Reason;
use crate::incidents::Incidents;
use crate::sample::{Census, Look};
use crate::topology::Topology;
use crate::topology::pipes::PipeKey;
use crate::tune::{Answer, Change, Tuner};

/// Everything that was observed of a run.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) topology: Topology,
    pub(crate) accounts: Accounts,
    pub(crate) incidents: Incidents,
    pub(crate) tuner: Tuner,
    /// What could not be seen, one sentence each.
    pub(crate) gaps: BTreeSet<String>,
    /// Pipes that have ended and may be forgotten.
    ended: Vec<PipeKey>,
}

/// Pipes remembered apart from each other.
const PIPES_MAX: usize = 1024;

impl Observed {
    /// Nothing seen yet.
    pub(crate) fn new(topology: Topology, cpus: u32, tuner: Tuner) -> Self {
        Self {
            topology,
            accounts: Accounts::new(cpus),
            incidents: Incidents::default(),
            tuner,
            gaps: BTreeSet::new(),
            ended: Vec::new(),
        }
    }

    /// Takes in who is there.
    pub(crate) fn take_in_census(&mut self, census: &Census) {
        let ended = self.topology.take_in_census(census);
        self.ended.extend(ended);
    }

    /// Takes in what they did; returns the changes to pipes to make now.
    pub(crate) fn take_in_look(&mut self, look: &Look) -> Vec<Change> {
        self.topology.take_in_look(look);
        for (stage, reason) in self.accounts.take_in(&self.topology, look) {
            match reason {
                Reason::Reading(pipe) => self.topology.note_wait(stage, pipe, End::Read),
                Reason::Writing(pipe) => self.topology.note_wait(stage, pipe, End::Write),
                Reason::Other(_) => {}
            }
        }
        self.note_gaps(look);
        self.topology.bury();
        self.forget_pipes();
        self.incidents.take_in(&self.topology, &self.accounts, look.at_ns);
        self.tuner.decide(&self.topology, &self.accounts, look.at_ns)
    }

    /// Takes in what became of a change; returns the change that must follow it, if any.
    pub(crate) fn take_in_answer(
        &mut self,
        change: Change,
        answer: &Answer,
        now_ns: u64,
    ) -> Option<Change> {
        if let Answer::Granted(capacity) = answer
            && let Some(pipe) = self.topology.pipes.get_mut(change.pipe)
        {
            pipe.capacity = Some(*capacity);
        }
        self.tuner.learn(change, answer, now_ns)
    }

    /// The run is over: turns of loops become one stage, and trials end.
    pub(crate) fn finish(&mut self) {
        self.topology.join_repetitions();
        self.accounts.follow(&self.topology);
        self.tuner.finish(&self.topology);
    }

    fn note_gaps(&mut self, look: &Look) {
        for seen in look.processes.iter().filter(|seen| seen.waits_are_hidden) {
            let process = self.topology.processes.get(&seen.pid);
            let name = process.and_then(|process| process.words.first());
            let name = name.map_or("a process", String::as_str);
            let (pid, why) = (seen.pid, "another user's process, or a protected one");
            self.gaps
                .insert(format!("{name} (process {pid}): {why}: what it waits for is unknown"));
        }
    }

    /// Forgets pipes that have ended and of which the record needs nothing.
    fn forget_pipes(&mut self) {
        for key in std::mem::take(&mut self.ended) {
            let Some(pipe) = self.topology.pipes.get(key).filter(|pipe| !pipe.is_alive()) else {
                continue;
            };
            if self.tuner.knows(key) {
                continue;
            }
            let was_waited_for =
                self.accounts.pipes.get(&key).is_some_and(|account| account.was_waited_for());
            // The `echo | sed` of a loop's body.
            let is_trivial =
                !was_waited_for && !pipe.joins_stages() && !pipe.is_outside && pipe.path.is_none();
            let twin = (self.topology.pipes.count() > PIPES_MAX)
                .then(|| self.topology.pipes.earlier_twin(key))
                .flatten();
            if is_trivial || twin.is_some() {
                self.topology.pipes.forget(key);
                self.accounts.forget_pipe(key, twin);
                self.tuner.forget(key);
            }
        }
    }
}

#[cfg(test)]
mod tests;
