//! An engine that takes part at a point, and what was taken from it.

use crate::TrialResult;
use crate::executor::Trial;
use crate::record::Outcome;
use crate::suite::Engine;

/// An engine at this point, and what is known about it so far.
pub(super) struct Entrant<'a> {
    pub(super) engine: &'a Engine,
    pub(super) trial: Option<Trial>,
    pub(super) taken: Taken,
    /// `None` as long as it may go on.
    pub(super) out: Option<Outcome>,
}

/// What was taken from an engine so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// The trial that was checked and not timed.
    pub(super) check: Option<TrialResult>,
    /// The right answer, when there is one.
    pub(super) expected: Option<String>,
    /// One a round, in the unit of the case.
    pub(super) values: Vec<f64>,
    pub(super) samples: Vec<TrialResult>,
}

impl Taken {
    pub(super) fn add(&mut self, value: f64, sample: TrialResult) {
        self.values.push(value);
        self.samples.push(sample);
    }

    /// What the last trial took; 0 when there was none.
    pub(super) fn last_ns(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.elapsed_ns)
    }

    /// Forgets all rounds after the first `rounds`.
    pub(super) fn keep(&mut self, rounds: u32) {
        self.values.truncate(rounds as usize);
        self.samples.truncate(rounds as usize);
    }
}
