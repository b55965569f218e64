//! Widening pipes while the pipeline runs, only where it helps.
//!
//! A wider pipe helps when both its sides starve in turn: the writer blocked on it at one moment, its
//! reader at another. When only one side waits, the other is the bottleneck and no size helps.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, PipeId};

use crate::observe::Watch;
use crate::pipes::{Pipe, Window};
use crate::record::Outcome;

/// What may be done to pipes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tuning {
    /// Nothing.
    Off,
    /// Grow a pipe when both its sides starve in turn; put it back when that did not help.
    #[default]
    Auto,
    /// Give every pipe this capacity as soon as it is seen.
    Fixed(Bytes),
}

/// Both sides must have been blocked for this share of the time.
const BOTH_BLOCKED_MIN: f64 = 0.08;
/// The share of blocked time (both sides together) must fall to this part of what it was.
const KEPT_MAX: f64 = 0.88;
/// A window is judged after this time and this many looks, whichever is later: the share of a state
/// seen in 50 looks is known to about ± 7 points.
const WINDOW_NS: f64 = 200e6;
const WINDOW_LOOKS: u32 = 50;
/// When both sides were blocked for this share of the time, less evidence is needed and the pipe grows to
/// its limit at once: a burst is then known to be larger than the pipe, and each step costs time
/// (bursts of 1 MiB: 1.78 times faster in steps of four, 1.82 at once; `make bench CLAIMS=bursty`).
const BOTH_BLOCKED_MUCH: f64 = 0.2;
const MUCH_NS: f64 = 80e6;
const MUCH_LOOKS: u32 = 30;
/// After a change the pipe first fills to its new size: this time is not judged.
const SETTLE_NS: f64 = 60e6;
/// A pipe that did not profit is left alone for this long.
const REST_NS: u64 = 20_000_000_000;
/// Each step of growth multiplies the capacity.
const GROWTH: u64 = 4;

/// One attempt, by index of the pipe.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) pipe: usize,
    pub(crate) at_ns: u64,
    pub(crate) from: Bytes,
    pub(crate) to: Bytes,
    pub(crate) outcome: Outcome,
    pub(crate) reason: String,
}

#[derive(Debug)]
struct Trial {
    /// Capacity to go back to.
    from: Bytes,
    started_ns: u64,
    /// Share of the time in which a side was blocked, before.
    before: f64,
    is_settling: bool,
}

#[derive(Debug)]
struct PutBack {
    trial: Trial,
    reason: String,
    next_ns: u64,
}

/// Between attempts to shrink a pipe that holds too much.
const PUT_BACK_INTERVAL_NS: u64 = 100_000_000;

/// Decides about pipes and remembers what it did.
#[derive(Debug)]
pub(crate) struct Tuner {
    tuning: Tuning,
    limits: Limits,
    trials: BTreeMap<usize, Trial>,
    /// Pipes that did not profit, but hold too much to shrink.
    to_put_back: BTreeMap<usize, PutBack>,
    resting_until_ns: BTreeMap<usize, u64>,
    /// Pipes that have been given the fixed size, or refused it.
    fixed: BTreeSet<PipeId>,
    pub(crate) attempts: Vec<Attempt>,
}

impl Window {
    fn writer_share(&self) -> f64 {
        self.writer_blocked_ns / self.length_ns.max(1.0)
    }

    fn reader_share(&self) -> f64 {
        self.reader_blocked_ns / self.length_ns.max(1.0)
    }

    fn blocked_share(&self) -> f64 {
        self.writer_share() + self.reader_share()
    }

    fn is_long_enough(&self) -> bool {
        self.length_ns >= WINDOW_NS && self.looks >= WINDOW_LOOKS
    }

    /// Whether both sides starve in turn so much that it shows at once.
    fn is_much_contested(&self) -> bool {
        let least = self.writer_share().min(self.reader_share());
        self.length_ns >= MUCH_NS && self.looks >= MUCH_LOOKS && least >= BOTH_BLOCKED_MUCH
    }

    /// Whether both sides starve in turn.
    fn is_contested(&self) -> bool {
        self.writer_share() >= BOTH_BLOCKED_MIN && self.reader_share() >= BOTH_BLOCKED_MIN
    }
}

impl Tuner {
    pub(crate) fn new(tuning: Tuning, limits: Limits) -> Self {
        Self {
            tuning,
            limits,
            trials: BTreeMap::new(),
            to_put_back: BTreeMap::new(),
            resting_until_ns: BTreeMap::new(),
            fixed: BTreeSet::new(),
            attempts: Vec::new(),
        }
    }

    /// Looks at every pipe once; call after each look at the pipeline.
    pub(crate) fn step(&mut self, watch: &mut Watch, now_ns: u64) {
        match self.tuning {
            Tuning::Off => {}
            Tuning::Auto => self.adapt(watch, now_ns),
            Tuning::Fixed(wanted) => self.fix(watch, wanted, now_ns),
        }
    }

    fn adapt(&mut self, watch: &mut Watch, now_ns: u64) {
        self.put_back_later(watch, now_ns);
        for index in 0..watch.pipes.list.len() {
            let pipe = &mut watch.pipes.list[index];
            if pipe.handles.is_empty() || !pipe.joins_stages() {
                continue;
            }
            if let Some(trial) = self.trials.get_mut(&index)
                && trial.is_settling
            {
                if pipe.window.length_ns >= SETTLE_NS {
                    trial.is_settling = false;
                    pipe.window = Window::default();
                }
                continue;
            }
            let is_on_trial = self.trials.contains_key(&index);
            let is_clear = !is_on_trial && pipe.window.is_much_contested();
            if !is_clear && !pipe.window.is_long_enough() {
                continue;
            }
            let window = std::mem::take(&mut pipe.window);
            match self.trials.remove(&index) {
                Some(trial) => self.judge(watch, index, trial, window, now_ns),
                None => self.consider(watch, index, window, now_ns),
            }
        }
    }

    /// Begins a trial when both sides starve.
    fn consider(&mut self, watch: &mut Watch, index: usize, window: Window, now_ns: u64) {
        let is_resting = self.resting_until_ns.get(&index).is_some_and(|until| now_ns < *until);
        if window.is_contested() && !is_resting {
            let Some(from) = watch.pipes.list[index].capacity else { return };
            let growth = if window.is_much_contested() { u64::MAX } else { GROWTH };
            let trial = Trial {
                from,
                started_ns: now_ns,
                before: window.blocked_share(),
                is_settling: true,
            };
            self.grow(watch, index, trial, (from, growth), now_ns);
        }
    }

    /// Ends a trial: keep, try more, or put back.
    fn judge(
        &mut self,
        watch: &mut Watch,
        index: usize,
        trial: Trial,
        window: Window,
        now_ns: u64,
    ) {
        let after = window.blocked_share();
        let Some(to) = watch.pipes.list[index].capacity else { return };
        let (before_percent, after_percent) = (trial.before * 100.0, after * 100.0);
        if after <= trial.before * KEPT_MAX {
            let reason = format!(
                "its sides waited for each other {after_percent:.0} % of the time instead of {before_percent:.0} %"
            );
            self.note(index, trial.started_ns, trial.from, to, Outcome::Kept, reason);
            if window.is_contested() {
                let next = Trial { from: to, started_ns: now_ns, before: after, is_settling: true };
                self.grow(watch, index, next, (to, GROWTH), now_ns);
            }
        } else if self.larger(watch, to, GROWTH).is_some() && window.is_contested() {
            // A burst may be larger than the pipe still is: judge at the next size, against the same start.
            self.grow(watch, index, trial, (to, GROWTH), now_ns);
        } else {
            let reason = format!(
                "its sides waited for each other {after_percent:.0} % of the time, before {before_percent:.0} %"
            );
            self.put_back(watch, index, trial, reason, now_ns);
            self.resting_until_ns.insert(index, now_ns + REST_NS);
        }
    }

    /// Grows a pipe by a factor, as far as the limits go.
    fn grow(
        &mut self,
        watch: &mut Watch,
        index: usize,
        trial: Trial,
        (now_at, growth): (Bytes, u64),
        now_ns: u64,
    ) {
        let Some(to) = self.larger(watch, now_at, growth) else {
            return;
        };
        match watch.resize(index, to) {
            Some(Ok(_)) => {
                self.trials.insert(index, Trial { is_settling: true, ..trial });
            }
            Some(Err(refused)) => {
                self.note(
                    index,
                    now_ns,
                    now_at,
                    to,
                    Outcome::Refused,
                    format!("Linux refused: {refused}"),
                );
                self.resting_until_ns.insert(index, now_ns + REST_NS);
            }
            None => {}
        }
    }

    /// The next capacity for a pipe, within the limits of one pipe and the budget for all.
    fn larger(&self, watch: &Watch, from: Bytes, growth: u64) -> Option<Bytes> {
        let mut to = Bytes(from.0.saturating_mul(growth).min(self.limits.pipe_max.0));
        while to > from && !self.is_in_budget(watch, to.0 - from.0) {
            to = Bytes(to.0 / 2);
        }
        (to > from).then_some(to)
    }

    /// Half of what the user's pipes may hold together is left to others.
    fn is_in_budget(&self, watch: &Watch, more_bytes: u64) -> bool {
        let Some(soft) = self.limits.user_soft else { return true };
        let held: u64 = watch.pipes.list.iter().filter_map(Pipe::held_bytes).sum();
        held + more_bytes <= soft.0 / 2
    }

    /// Gives a pipe its old capacity; as long as more is queued than fits, later.
    fn put_back(
        &mut self,
        watch: &mut Watch,
        index: usize,
        trial: Trial,
        reason: String,
        now_ns: u64,
    ) {
        let Some(to) = watch.pipes.list[index].capacity else { return };
        if let Some(Err(_)) = watch.resize(index, trial.from) {
            self.to_put_back
                .insert(index, PutBack { trial, reason, next_ns: now_ns + PUT_BACK_INTERVAL_NS });
        } else {
            self.note(index, trial.started_ns, trial.from, to, Outcome::Reverted, reason);
        }
    }

    fn put_back_later(&mut self, watch: &mut Watch, now_ns: u64) {
        let due: Vec<usize> = self
            .to_put_back
            .iter()
            .filter(|(_, put_back)| now_ns >= put_back.next_ns)
            .map(|(index, _)| *index)
            .collect();
        for index in due {
            if let Some(PutBack { trial, reason, .. }) = self.to_put_back.remove(&index) {
                self.put_back(watch, index, trial, reason, now_ns);
            }
        }
    }

    /// Gives new pipes the size the user asked for.
    fn fix(&mut self, watch: &mut Watch, wanted: Bytes, now_ns: u64) {
        for index in 0..watch.pipes.list.len() {
            let pipe = &watch.pipes.list[index];
            let Some(from) = pipe.capacity else { continue };
            if self.fixed.contains(&pipe.id) || pipe.handles.is_empty() {
                continue;
            }
            self.fixed.insert(pipe.id);
            if from == wanted {
                continue;
            }
            if pipe.is_outside && watch.outside_handles(index).is_empty() {
                let reason = "its other side cannot be seen, so its size could not be put back";
                self.note(index, now_ns, from, wanted, Outcome::Refused, reason.to_owned());
                continue;
            }
            if !self.is_in_budget(watch, wanted.0.saturating_sub(from.0)) {
                let reason = "the pipes of this run would take more than half of what the user's pipes may hold (pipe-user-pages-soft)";
                self.note(index, now_ns, from, wanted, Outcome::Refused, reason.to_owned());
                continue;
            }
            match watch.resize(index, wanted) {
                Some(Ok(granted)) => {
                    self.note(index, now_ns, from, granted, Outcome::Kept, "--pipe-size".to_owned())
                }
                Some(Err(refused)) => {
                    self.note(
                        index,
                        now_ns,
                        from,
                        wanted,
                        Outcome::Refused,
                        format!("Linux refused: {refused}"),
                    );
                }
                None => {}
            }
        }
    }

    fn note(
        &mut self,
        pipe: usize,
        at_ns: u64,
        from: Bytes,
        to: Bytes,
        outcome: Outcome,
        reason: String,
    ) {
        self.attempts.push(Attempt { pipe, at_ns, from, to, outcome, reason });
    }

    /// Ends trials that had no time to show anything, and gives pipes that live on their size back.
    pub(crate) fn finish(&mut self, watch: &mut Watch) {
        for (index, trial) in std::mem::take(&mut self.trials) {
            let Some(to) = watch.pipes.list[index].capacity else { continue };
            if to != trial.from {
                let reason = "the run ended before it could be judged".to_owned();
                self.note(index, trial.started_ns, trial.from, to, Outcome::Kept, reason);
            }
        }
        for (index, PutBack { trial, reason, .. }) in std::mem::take(&mut self.to_put_back) {
            // The pipe was never empty enough until it ended.
            let to = watch.pipes.list[index].capacity.unwrap_or(trial.from);
            let reason = format!("{reason}; it held too much to shrink it before it ended");
            self.note(index, trial.started_ns, trial.from, to, Outcome::Reverted, reason);
        }
        for index in 0..watch.pipes.list.len() {
            let pipe = &watch.pipes.list[index];
            let (Some(initial), Some(capacity)) = (pipe.initial_capacity, pipe.capacity) else {
                continue;
            };
            if initial != capacity {
                watch.restore(index, initial);
            }
        }
    }

    /// Whether something was refused or could not be done, for `--strict`.
    pub(crate) fn was_refused(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.outcome == Outcome::Refused)
    }
}

impl Pipe {
    /// Memory that a live pipe may take from the user's budget.
    fn held_bytes(&self) -> Option<u64> {
        if self.handles.is_empty() { None } else { self.capacity.map(|capacity| capacity.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(writer: f64, reader: f64) -> Window {
        Window { length_ns: 1.0, writer_blocked_ns: writer, reader_blocked_ns: reader, looks: 100 }
    }

    #[test]
    fn a_pipe_is_contested_only_when_both_sides_wait() {
        assert!(window(0.4, 0.3).is_contested());
        assert!(!window(0.97, 0.0).is_contested());
        assert!(!window(0.0, 0.97).is_contested());
        assert!(!window(0.0, 0.0).is_contested());
    }
}
