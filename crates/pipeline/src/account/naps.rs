//! Sampling itself wakes briefly sleeping stages; this removes that bias.

/// How often a stage was awake at a sample, and how much of the time it really was.
///
/// A sample begins with a timer, and that timer ends naps: Linux wakes a sleeper up to 50 µs early or late
/// (its timer slack, prctl(2)) together with whatever else is due, and an idle CPU takes about as long to
/// wake. So samples meet the stage awake more often than it is awake; the surplus are naps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetAwake {
    met: f64,
    was: f64,
}

/// Weight that the past keeps: about the last thousand samples count, because the surplus is a small difference.
const LONG_PAST: f64 = 0.999;

impl MetAwake {
    pub(crate) fn note(&mut self, met: f64, was: f64) {
        self.met = self.met * LONG_PAST + met;
        self.was = self.was * LONG_PAST + was;
    }

    /// The share of samples that met the stage awake which did so because they ended a nap: with m the share of samples
    /// that met it awake and w the share of time it was awake, (m − w) ÷ m.
    pub(crate) fn woken_share(&self) -> f64 {
        if self.met <= self.was { 0.0 } else { (self.met - self.was) / self.met }
    }
}
