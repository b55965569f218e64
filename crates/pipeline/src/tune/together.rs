//! What the tuner does with all pipes at once.

use crate::account::Accounts;
use crate::topology::Topology;
use crate::tune::change::Change;
use crate::tune::line::{Line, Progress};
use crate::tune::trial::Trial;
use crate::tune::tuner::{Tuner, put_back};
use fullbore_record::Outcome;

impl Tuner {
    /// Takes in how far the stages are; ends a trial of all pipes when it is known what that brought.
    pub(super) fn judge_together(
        &mut self,
        topology: &Topology,
        accounts: &Accounts,
        now_ns: u64,
    ) -> Vec<Change> {
        let Some(times) = self.line.take_in(Progress::of(accounts, now_ns)) else {
            return Vec::new();
        };
        let keys: Vec<_> = self.trials.iter().filter(|(_, trial)| trial.is_of_line).collect();
        let keys: Vec<_> = keys.into_iter().map(|(key, _)| *key).collect();
        let mut changes = Vec::new();
        for key in keys {
            let now_at = topology.pipes.get(key).and_then(|pipe| pipe.capacity);
            let (Some(trial), Some(now_at)) = (self.trials.remove(&key), now_at) else { continue };
            // What its sides wait for is counted anew.
            self.windows.insert(key, accounts.pipes.get(&key).copied().unwrap_or_default());
            let reason = format!(
                "with all pipes wider, the stages moved {times:.2} times as many bytes in a second"
            );
            if Line::has_helped(times) {
                self.note(key, &trial, now_at, Outcome::Kept, reason);
            } else {
                changes.push(put_back(key, trial, now_at, reason));
            }
        }
        changes
    }

    /// Has all pipes grow at once where that may help; otherwise those grow that are to grow in any case.
    pub(super) fn grow_together(
        &mut self,
        topology: &Topology,
        wanted: Vec<Change>,
        now_ns: u64,
    ) -> Vec<Change> {
        if self.trials.values().any(|trial| !trial.is_of_line) {
            return wanted;
        }
        let waits = !wanted.is_empty() && self.line.is_asked();
        let Some(growth) = self.line.is_worth_a_trial() else {
            return if waits { Vec::new() } else { wanted };
        };
        let mut all = Vec::new();
        for (key, pipe) in topology.pipes.iter().filter(|(_, pipe)| pipe.is_alive()) {
            let is_left_alone = self.to_put_back.contains_key(&key)
                || self.resting_until_ns.get(&key).is_some_and(|until_ns| now_ns < *until_ns);
            let Some(now_at) = pipe.capacity.filter(|_| pipe.joins_stages() && !is_left_alone)
            else {
                continue;
            };
            let Some(to) = self.larger(topology, now_at, growth) else { continue };
            let trial = Trial {
                from: now_at,
                started_ns: now_ns,
                before: 0.0,
                is_settling: true,
                is_of_line: true,
            };
            all.push(self.grow(key, to, trial, now_at));
        }
        if all.is_empty() {
            self.line.rest(now_ns);
            return wanted;
        }
        self.line.begin_trial(now_ns);
        all
    }
}
