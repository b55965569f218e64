//! How often a point is visited, and how long it may take.

use crate::Estimate;
use crate::record::{Effort, Stopped};

/// Time of a suite with `--quick`: under a minute with the start of the last point.
const QUICK_NS: u64 = 48_000_000_000;

/// Time of a suite: a few minutes.
const USUAL_NS: u64 = 240_000_000_000;

/// Time after which a single trial is given up with `--quick`.
const QUICK_TRIAL_NS: u64 = 20_000_000_000;

/// Passes over all points of a suite: with two, that they agree may be an accident; each more costs files made anew.
const PASSES: u32 = 3;

/// Rounds of a point in every pass, however long they take.
const LEAST: u32 = 2;

/// The same with `--quick`: what passes differ by says more than what the rounds of one do, so that it is
/// better to come again than to stay.
const QUICK_LEAST: u32 = 1;

/// Rounds in one pass after which more would hardly change an interval.
const MOST: u32 = 20;

/// Half a width, as a logarithm, at which rounds are tight with `--quick`: about ± 8 %.
const QUICK_TIGHT: f64 = 0.08;

/// The same without `--quick`: about ± 3 %, a little above the floor.
const USUAL_TIGHT: f64 = 0.03;

/// A suite that has taken this many times its time in its first pass leaves out the rest of its points.
const OVERDRAWN: u64 = 2;

/// The time of a suite, shared by the visits to its points: one a point and pass.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    effort: Effort,
    began_ns: u64,
    whole_ns: u64,
    visits: usize,
    visits_left: usize,
    pass: u32,
}

/// The rule for one visit to a point.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    effort: Effort,
    until_ns: u64,
    next_look: u32,
    pass: u32,
}

/// How often the points of a suite are visited.
pub(super) fn passes(effort: Effort) -> u32 {
    match effort {
        Effort::Quick | Effort::Usual => PASSES,
        Effort::Runs(rounds) => rounds.clamp(1, PASSES),
    }
}

fn least(effort: Effort) -> u32 {
    if effort == Effort::Quick { QUICK_LEAST } else { LEAST }
}

impl Budget {
    pub(super) fn new(effort: Effort, now_ns: u64, points: usize) -> Self {
        let whole_ns = if effort == Effort::Quick { QUICK_NS } else { USUAL_NS };
        let visits = points * passes(effort) as usize;
        Self { effort, began_ns: now_ns, whole_ns, visits, visits_left: visits, pass: 0 }
    }

    /// Another pass begins.
    pub(super) fn begin_pass(&mut self) {
        self.pass += 1;
    }

    /// What a visit takes when nothing is known yet.
    pub(super) fn usual_visit_ns(&self) -> u64 {
        self.whole_ns / self.visits.max(1) as u64
    }

    /// The share of the next visit in what is left; `None` when there is no time for it: a first visit is left out only
    /// when the suite is far over its time, a later one, whose rounds take about `round_ns`, as soon as it
    /// would take the suite over its time.
    pub(super) fn next(&mut self, now_ns: u64, round_ns: u64) -> Option<Limit> {
        let left = self.visits_left.max(1) as u64;
        self.visits_left = self.visits_left.saturating_sub(1);
        let taken_ns = now_ns.saturating_sub(self.began_ns);
        let has_budget = !matches!(self.effort, Effort::Runs(_));
        let is_over = if self.pass <= 1 {
            taken_ns > self.whole_ns.saturating_mul(OVERDRAWN)
        } else {
            taken_ns.saturating_add(round_ns.saturating_mul(least(self.effort).into()))
                > self.whole_ns
        };
        if has_budget && is_over {
            return None;
        }
        let share_ns = self.whole_ns.saturating_sub(taken_ns) / left;
        let until_ns = now_ns + share_ns;
        Some(Limit { effort: self.effort, until_ns, next_look: 0, pass: self.pass })
    }

    /// Time after which a single trial is given up.
    pub(super) fn trial_limit_ns(&self) -> u64 {
        if self.effort == Effort::Quick { QUICK_TRIAL_NS } else { self.whole_ns }
    }
}

impl Limit {
    /// Whether to stop after `rounds` in this pass, the next of which takes about `round_ns`. `estimates`, of the rounds
    /// of all passes so far, is asked only now and then: an interval that is looked at after every round looks tight
    /// by accident sooner or later.
    pub(super) fn stops(
        &mut self,
        rounds: u32,
        now_ns: u64,
        round_ns: u64,
        estimates: impl FnOnce() -> Vec<Estimate>,
    ) -> Option<Stopped> {
        if let Effort::Runs(wanted) = self.effort {
            return (rounds >= self.share(wanted)).then_some(Stopped::Rounds);
        }
        if rounds < least(self.effort) {
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
        let tight = if self.effort == Effort::Quick { QUICK_TIGHT } else { USUAL_TIGHT };
        // The passes to come will bring as many rounds each, and the error falls with the root of their number.
        let tight = tight * (f64::from(passes(self.effort)) / f64::from(self.pass.max(1))).sqrt();
        let is_tight =
            |estimate: &Estimate| estimate.half_width().is_some_and(|half| half <= tight);
        estimates().iter().all(is_tight).then_some(Stopped::Tight)
    }

    /// The rounds of this pass, when all passes together make `wanted`.
    fn share(&self, wanted: u32) -> u32 {
        let passes = passes(self.effort);
        wanted / passes + u32::from(self.pass <= wanted % passes)
    }
}
