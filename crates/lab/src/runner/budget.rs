//! How long a point may take.

use crate::Estimate;
use crate::record::{Effort, Stopped};

/// Time of a suite with `--quick`: under a minute with the start of the last point.
const QUICK_NS: u64 = 48_000_000_000;

/// Time of a suite: a few minutes.
const USUAL_NS: u64 = 240_000_000_000;

/// Time after which a single trial is given up with `--quick`.
const QUICK_TRIAL_NS: u64 = 20_000_000_000;

/// Rounds of every point, however long they take: with fewer, an interval says nothing.
const QUICK_LEAST: u32 = 4;

/// The same without `--quick`.
const USUAL_LEAST: u32 = 5;

/// Rounds after which more would hardly change an interval.
const MOST: u32 = 60;

/// Half a width, as a logarithm, at which an interval is tight with `--quick`: about ± 8 %.
const QUICK_TIGHT: f64 = 0.08;

/// The same without `--quick`: about ± 3 %, a little above the floor.
const USUAL_TIGHT: f64 = 0.03;

/// A suite that has taken this many times its time leaves out the rest of its points.
const OVERDRAWN: u64 = 2;

/// The time of a suite, shared by its points.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    effort: Effort,
    began_ns: u64,
    whole_ns: u64,
    points: usize,
    points_left: usize,
}

/// The rule for one point.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    effort: Effort,
    until_ns: u64,
    next_look: u32,
}

impl Budget {
    pub(super) fn new(effort: Effort, now_ns: u64, points: usize) -> Self {
        let whole_ns = if effort == Effort::Quick { QUICK_NS } else { USUAL_NS };
        Self { effort, began_ns: now_ns, whole_ns, points, points_left: points }
    }

    /// What a point takes when nothing is known yet.
    pub(super) fn usual_point_ns(&self) -> u64 {
        self.whole_ns / self.points.max(1) as u64
    }

    /// The share of the next point in what is left; `None` when too much was taken already.
    pub(super) fn next(&mut self, now_ns: u64) -> Option<Limit> {
        let taken_ns = now_ns.saturating_sub(self.began_ns);
        let has_budget = !matches!(self.effort, Effort::Runs(_));
        if has_budget && taken_ns > self.whole_ns.saturating_mul(OVERDRAWN) {
            return None;
        }
        let left_ns = self.whole_ns.saturating_sub(taken_ns);
        let share_ns = left_ns / self.points_left.max(1) as u64;
        self.points_left = self.points_left.saturating_sub(1);
        Some(Limit { effort: self.effort, until_ns: now_ns + share_ns, next_look: 0 })
    }

    /// Time after which a single trial is given up.
    pub(super) fn trial_limit_ns(&self) -> u64 {
        if self.effort == Effort::Quick { QUICK_TRIAL_NS } else { self.whole_ns }
    }
}

impl Limit {
    /// Whether to stop after `rounds`, the next of which takes about `round_ns`. `estimates` is asked only now and
    /// then: an interval that is looked at after every round looks tight by accident sooner or later.
    pub(super) fn stops(
        &mut self,
        rounds: u32,
        now_ns: u64,
        round_ns: u64,
        estimates: impl FnOnce() -> Vec<Estimate>,
    ) -> Option<Stopped> {
        if let Effort::Runs(wanted) = self.effort {
            return (rounds >= wanted).then_some(Stopped::Rounds);
        }
        let is_quick = self.effort == Effort::Quick;
        let least = if is_quick { QUICK_LEAST } else { USUAL_LEAST };
        if rounds < least {
            return None;
        }
        if rounds >= MOST {
            return Some(Stopped::Rounds);
        }
        if now_ns.saturating_add(round_ns) > self.until_ns {
            return Some(Stopped::Budget);
        }
        if rounds < self.next_look {
            return None;
        }
        self.next_look = rounds + rounds.div_ceil(3);
        let tight = if is_quick { QUICK_TIGHT } else { USUAL_TIGHT };
        let is_tight =
            |estimate: &Estimate| estimate.half_width().is_some_and(|half| half <= tight);
        estimates().iter().all(is_tight).then_some(Stopped::Tight)
    }
}
