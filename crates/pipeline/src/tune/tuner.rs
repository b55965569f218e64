//! Decides which pipes to widen, judges what that brought, and remembers what was done.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, PipeId};

use crate::account::Accounts;
use crate::account::pipe::PipeAccount;
use crate::topology::Topology;
use crate::topology::pipes::{Pipe, PipeKey};
use crate::tune::change::{Answer, Change, Room, Tuning, Why};
use crate::tune::line::Line;
use crate::tune::trial::{Trial, Window};
use fullbore_record::Outcome;

/// A pipe that did not profit is left alone for this long.
const REST_NS: u64 = 20_000_000_000;
/// Each step of growth multiplies the capacity.
const GROWTH: u64 = 4;
/// One part in so many of what the user's pipes may hold stays free when a pipe grows: by Linux's defaults, 256 new pipes.
const LEFT_FREE: u64 = 4;
/// Between attempts to shrink a pipe that holds too much.
const PUT_BACK_INTERVAL_NS: u64 = 100_000_000;

/// One attempt, for the record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub(crate) pipe: PipeKey,
    pub(crate) at_ns: u64,
    pub(crate) from: Bytes,
    pub(crate) to: Bytes,
    pub(crate) outcome: Outcome,
    pub(crate) reason: String,
}

#[derive(Clone, Debug)]
pub(super) struct PutBack {
    trial: Trial,
    reason: String,
    next_ns: u64,
}

/// Decides about pipes and remembers what was done.
#[derive(Clone, Debug)]
pub(crate) struct Tuner {
    tuning: Tuning,
    limits: Limits,
    /// Where the present window of each pipe began.
    pub(super) windows: BTreeMap<PipeKey, PipeAccount>,
    pub(super) trials: BTreeMap<PipeKey, Trial>,
    /// Pipes that did not profit, but hold too much to shrink.
    pub(super) to_put_back: BTreeMap<PipeKey, PutBack>,
    pub(super) resting_until_ns: BTreeMap<PipeKey, u64>,
    /// Pipes that have been given the fixed size, or refused it.
    fixed: BTreeSet<PipeId>,
    /// Trials of all pipes at once.
    pub(super) line: Line,
    pub(crate) attempts: Vec<Attempt>,
}

impl Tuner {
    pub(crate) fn new(tuning: Tuning, limits: Limits) -> Self {
        Self {
            tuning,
            limits,
            windows: BTreeMap::new(),
            trials: BTreeMap::new(),
            to_put_back: BTreeMap::new(),
            resting_until_ns: BTreeMap::new(),
            fixed: BTreeSet::new(),
            line: Line::default(),
            attempts: Vec::new(),
        }
    }

    /// The changes to make now; call after each sample.
    pub(crate) fn decide(
        &mut self,
        topology: &Topology,
        accounts: &Accounts,
        now_ns: u64,
    ) -> Vec<Change> {
        match self.tuning {
            Tuning::Off => Vec::new(),
            Tuning::Auto => self.adapt(topology, accounts, now_ns),
            Tuning::Fixed(wanted) => self.fix(topology, wanted, now_ns),
        }
    }

    /// Whether a pipe must be remembered after its end, because something was done to it.
    pub(crate) fn knows(&self, key: PipeKey) -> bool {
        self.trials.contains_key(&key)
            || self.to_put_back.contains_key(&key)
            || self.attempts.iter().any(|attempt| attempt.pipe == key)
    }

    /// Forgets a pipe of which nothing is known but its window.
    pub(crate) fn forget(&mut self, key: PipeKey) {
        self.windows.remove(&key);
    }

    fn adapt(&mut self, topology: &Topology, accounts: &Accounts, now_ns: u64) -> Vec<Change> {
        let mut changes = self.due_put_backs(topology, now_ns);
        changes.extend(self.judge_together(topology, accounts, now_ns));
        let mut grown = Vec::new();
        for (key, pipe) in topology.pipes.iter() {
            if !pipe.is_alive() {
                self.end_trial_of_ended_pipe(key, pipe);
                continue;
            }
            let (Some(account), Some(capacity), true) =
                (accounts.pipes.get(&key), pipe.capacity, pipe.joins_stages())
            else {
                continue;
            };
            let window = Window(account.since(self.windows.entry(key).or_default()));
            let trial = self.trials.get_mut(&key);
            if trial.as_ref().is_some_and(|trial| trial.is_of_line) {
                continue;
            }
            if let Some(trial) = trial
                && trial.is_settling
            {
                if window.has_settled() {
                    trial.is_settling = false;
                    self.windows.insert(key, *account);
                }
                continue;
            }
            let is_clear = !self.trials.contains_key(&key) && window.is_much_contested();
            if !is_clear && !window.is_long_enough() {
                continue;
            }
            self.windows.insert(key, *account);
            match self.trials.remove(&key) {
                Some(trial) => {
                    changes.extend(self.judge(topology, (key, capacity), trial, window, now_ns));
                }
                None => grown.extend(self.consider(topology, (key, capacity), window, now_ns)),
            }
        }
        changes.extend(self.grow_together(topology, grown, now_ns));
        changes
    }

    /// Begins a trial when both sides starve.
    fn consider(
        &self,
        topology: &Topology,
        (pipe, now_at): (PipeKey, Bytes),
        window: Window,
        now_ns: u64,
    ) -> Option<Change> {
        let is_resting = self.resting_until_ns.get(&pipe).is_some_and(|until| now_ns < *until);
        if !window.is_contested() || is_resting {
            return None;
        }
        let growth = if window.is_much_contested() { u64::MAX } else { GROWTH };
        let to = self.larger(topology, now_at, growth)?;
        let before = window.blocked_share();
        let trial = Trial {
            from: now_at,
            started_ns: now_ns,
            before,
            is_settling: true,
            is_of_line: false,
        };
        Some(self.grow(pipe, to, trial, now_at))
    }

    /// Ends a trial: keep, try more, or put back.
    fn judge(
        &mut self,
        topology: &Topology,
        (pipe, now_at): (PipeKey, Bytes),
        trial: Trial,
        window: Window,
        now_ns: u64,
    ) -> Option<Change> {
        let after = window.blocked_share();
        let (before_percent, after_percent) = (trial.before * 100.0, after * 100.0);
        let larger = self.larger(topology, now_at, GROWTH).filter(|_| window.is_contested());
        if trial.has_helped(&window) {
            let reason = format!(
                "its sides waited for each other {after_percent:.0} % of the time instead of {before_percent:.0} %"
            );
            self.note(pipe, &trial, now_at, Outcome::Kept, reason);
            let trial = Trial {
                from: now_at,
                started_ns: now_ns,
                before: after,
                is_settling: true,
                is_of_line: false,
            };
            return Some(self.grow(pipe, larger?, trial, now_at));
        }
        if let Some(to) = larger {
            // A burst may be larger than the pipe still is: judge at the next size, against the same start.
            return Some(self.grow(pipe, to, trial, now_at));
        }
        let reason = format!(
            "its sides waited for each other {after_percent:.0} % of the time, before {before_percent:.0} %"
        );
        Some(put_back(pipe, trial, now_at, reason))
    }

    /// Learns what became of a change; returns the change that must follow it, if any.
    pub(crate) fn learn(&mut self, change: Change, answer: &Answer, now_ns: u64) -> Option<Change> {
        let Change { pipe, to, why, room: _ } = change;
        match why {
            Why::Grow { trial, now_at } => {
                self.learn_growth(pipe, to, trial, now_at, answer, now_ns)
            }
            Why::PutBack { trial, grown, reason } => {
                self.resting_until_ns.insert(pipe, now_ns + REST_NS);
                match answer {
                    Answer::Refused(_) => {
                        let next_ns = now_ns + PUT_BACK_INTERVAL_NS;
                        self.to_put_back.insert(pipe, PutBack { trial, reason, next_ns });
                    }
                    Answer::Granted(_) | Answer::Crowded | Answer::Gone | Answer::Unseen => {
                        self.note(pipe, &trial, grown, Outcome::Reverted, reason);
                    }
                }
                None
            }
            Why::Fix { from } => {
                let (outcome, to, reason) = match answer {
                    Answer::Granted(granted) => (Outcome::Kept, *granted, "--pipe-size".to_owned()),
                    Answer::Refused(words) => (Outcome::Refused, to, refused(words)),
                    Answer::Unseen => (Outcome::Refused, to, UNSEEN.to_owned()),
                    Answer::Crowded => (Outcome::Refused, to, CROWDED.to_owned()),
                    Answer::Gone => return None,
                };
                self.attempts.push(Attempt { pipe, at_ns: now_ns, from, to, outcome, reason });
                None
            }
        }
    }

    fn learn_growth(
        &mut self,
        pipe: PipeKey,
        to: Bytes,
        trial: Trial,
        now_at: Bytes,
        answer: &Answer,
        now_ns: u64,
    ) -> Option<Change> {
        let had_grown = trial.from != now_at;
        match answer {
            Answer::Granted(_) => {
                self.trials.insert(pipe, Trial { is_settling: true, ..trial });
                None
            }
            Answer::Gone | Answer::Unseen => {
                if had_grown {
                    self.note(pipe, &trial, now_at, Outcome::Kept, ENDED_ON_TRIAL.to_owned());
                }
                None
            }
            Answer::Refused(_) | Answer::Crowded => {
                let reason = match answer {
                    Answer::Refused(words) => refused(words),
                    _ => CROWDED.to_owned(),
                };
                self.resting_until_ns.insert(pipe, now_ns + REST_NS);
                let outcome = Outcome::Refused;
                let attempt = Attempt { pipe, at_ns: now_ns, from: now_at, to, outcome, reason };
                self.attempts.push(attempt);
                // The size so far did not help, and there is no larger one.
                let reason = "it did not help, and no larger size was to be had".to_owned();
                had_grown.then(|| put_back(pipe, trial, now_at, reason))
            }
        }
    }

    /// A pipe ended while it was on trial: what was done to it is recorded all the same.
    fn end_trial_of_ended_pipe(&mut self, key: PipeKey, pipe: &Pipe) {
        if let Some(trial) = self.trials.remove(&key) {
            let to = pipe.capacity.unwrap_or(trial.from);
            self.note(key, &trial, to, Outcome::Kept, ENDED_ON_TRIAL.to_owned());
        }
        if let Some(PutBack { trial, reason, .. }) = self.to_put_back.remove(&key) {
            let to = pipe.capacity.unwrap_or(trial.from);
            let reason = format!("{reason}; it held too much to shrink it before it ended");
            self.note(key, &trial, to, Outcome::Reverted, reason);
        }
    }

    /// A change that grows a pipe, if a quarter of what the user's pipes may hold stays free for other programs: the budget
    /// of this run knows nothing of other runs and other programs.
    pub(super) fn grow(&self, pipe: PipeKey, to: Bytes, trial: Trial, now_at: Bytes) -> Change {
        Change { pipe, to, why: Why::Grow { trial, now_at }, room: self.room(now_at, to) }
    }

    /// What the user's pipes must be able to take before one grows; `None` if it does not grow, or if there is no limit.
    fn room(&self, from: Bytes, to: Bytes) -> Option<Room> {
        let limits = self.limits;
        let left_free = limits.user_soft.filter(|_| to > from)?.0 / LEFT_FREE;
        Some(Room { more: Bytes((to.0 - from.0).saturating_add(left_free)), limits })
    }

    /// The next capacity for a pipe, within the limits of one pipe and the budget for all.
    pub(super) fn larger(&self, topology: &Topology, from: Bytes, growth: u64) -> Option<Bytes> {
        let mut to = Bytes(from.0.saturating_mul(growth).min(self.limits.pipe_max.0));
        while to > from && !self.is_in_budget(topology, to.0 - from.0) {
            to = Bytes(to.0 / 2);
        }
        (to > from).then_some(to)
    }

    /// This run leaves half of what the user's pipes may hold together to others.
    fn is_in_budget(&self, topology: &Topology, more_bytes: u64) -> bool {
        let Some(soft) = self.limits.user_soft else { return true };
        let live = topology.pipes.iter().filter(|(_, pipe)| pipe.is_alive());
        let held: u64 = live.filter_map(|(_, pipe)| Some(pipe.capacity?.0)).sum();
        held.saturating_add(more_bytes) <= soft.0 / 2
    }

    /// Pipes that held too much to shrink when that was tried last.
    fn due_put_backs(&mut self, topology: &Topology, now_ns: u64) -> Vec<Change> {
        let due = self.to_put_back.iter().filter(|(key, put_back)| {
            now_ns >= put_back.next_ns && topology.pipes.get(**key).is_some_and(Pipe::is_alive)
        });
        let due: Vec<PipeKey> = due.map(|(key, _)| *key).collect();
        due.into_iter()
            .filter_map(|key| {
                let PutBack { trial, reason, .. } = self.to_put_back.remove(&key)?;
                let grown = topology.pipes.get(key)?.capacity.unwrap_or(trial.from);
                Some(put_back(key, trial, grown, reason))
            })
            .collect()
    }

    /// Gives new pipes the size the user asked for.
    fn fix(&mut self, topology: &Topology, wanted: Bytes, now_ns: u64) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, pipe) in topology.pipes.iter().filter(|(_, pipe)| pipe.is_alive()) {
            let Some(from) = pipe.capacity else { continue };
            if !self.fixed.insert(pipe.id) || from == wanted {
                continue;
            }
            if self.is_in_budget(topology, wanted.0.saturating_sub(from.0)) {
                let (why, room) = (Why::Fix { from }, self.room(from, wanted));
                changes.push(Change { pipe: key, to: wanted, why, room });
                continue;
            }
            let outcome = Outcome::Refused;
            let reason = OVER_BUDGET.to_owned();
            let attempt = Attempt { pipe: key, at_ns: now_ns, from, to: wanted, outcome, reason };
            self.attempts.push(attempt);
        }
        changes
    }

    pub(super) fn note(
        &mut self,
        pipe: PipeKey,
        trial: &Trial,
        to: Bytes,
        outcome: Outcome,
        reason: String,
    ) {
        let (at_ns, from) = (trial.started_ns, trial.from);
        self.attempts.push(Attempt { pipe, at_ns, from, to, outcome, reason });
    }

    /// Ends trials that had no time to show anything.
    pub(crate) fn finish(&mut self, topology: &Topology) {
        for (key, trial) in std::mem::take(&mut self.trials) {
            let to = topology.pipes.get(key).and_then(|pipe| pipe.capacity);
            if let Some(to) = to.filter(|to| *to != trial.from) {
                let reason = "the run ended before it could be judged".to_owned();
                self.note(key, &trial, to, Outcome::Kept, reason);
            }
        }
        for (key, pipe) in topology.pipes.iter() {
            self.end_trial_of_ended_pipe(key, pipe);
        }
    }

    /// Whether something was refused or could not be done, for `--strict`.
    pub(crate) fn was_refused(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.outcome == Outcome::Refused)
    }
}

const ENDED_ON_TRIAL: &str = "the pipe ended before it could be judged";
const UNSEEN: &str = "its other side cannot be seen, so its size could not be put back";
const CROWDED: &str = "all pipes of this user together would leave less than a quarter of what they may hold (pipe-user-pages-soft)";
const OVER_BUDGET: &str = "the pipes of this run would take more than half of what the user's pipes may hold (pipe-user-pages-soft)";

fn refused(words: &str) -> String {
    format!("Linux refused: {words}")
}

pub(super) fn put_back(pipe: PipeKey, trial: Trial, grown: Bytes, reason: String) -> Change {
    let to = trial.from;
    let why = Why::PutBack { trial, grown, reason };
    Change { pipe, to, why, room: None }
}
