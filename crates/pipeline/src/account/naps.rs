//! Sampling itself wakes briefly sleeping stages; this removes that bias.

/// How often a stage was awake at a sample, and how much of the time it really was.
///
/// A sample begins with a timer, and that timer ends naps: Linux wakes a sleeper up to 50 µs early or late
/// (its timer slack, prctl(2)) together with whatever else is due, and an idle CPU takes about as long to
/// wake. So samples meet the stage awake more often than it is awake; the surplus is time it napped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetAwake {
    samples: f64,
    met: f64,
    was: f64,
}

/// Weight that the past keeps: about the last thousand samples count, because the surplus is a small difference.
const LONG_PAST: f64 = 0.999;

impl MetAwake {
    pub(crate) fn note(&mut self, met: f64, was: f64) {
        self.samples = self.samples * LONG_PAST + 1.0;
        self.met = self.met * LONG_PAST + met;
        self.was = self.was * LONG_PAST + was;
    }

    /// The share of the sleeping time around samples that met the stage awake in which the sample ended a nap.
    /// The rest of that time is like the time around other samples.
    ///
    /// With m the share of samples that met it awake and w the share of time it was awake: (m − w) ÷ m (1 − w).
    pub(crate) fn woken_share(&self) -> f64 {
        let (met, was) = (self.met / self.samples, self.was / self.samples);
        if met <= was { 0.0 } else { ((met - was) / (met * (1.0 - was))).min(1.0) }
    }
}
