//! What the numbers of Linux and the looks get wrong in a known way, and how it is made good.

/// Times that the scheduler counts late: of a thread that runs, up to a tick is missing, and of one
/// that waits for a CPU, all until it gets one. What comes late is carried over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Late {
    /// Counted, but not yet given out.
    running_ns: f64,
    runnable_ns: f64,
    /// Given out, but not yet counted.
    advance_ns: f64,
}

/// A tick of the scheduler with CONFIG_HZ=250, the default of most distributions.
const TICK_NS: f64 = 4e6;

impl Late {
    /// Running time to give out for a time of `length`.
    pub(crate) fn running(&mut self, counted: f64, length: f64) -> f64 {
        let counted = counted + self.running_ns;
        let repaid = counted.min(self.advance_ns);
        self.advance_ns -= repaid;
        let running = (counted - repaid).min(length);
        self.running_ns = counted - repaid - running;
        running
    }

    /// Time of waiting for a CPU to give out, at most `room`.
    pub(crate) fn runnable(&mut self, counted: f64, room: f64) -> f64 {
        let counted = counted + self.runnable_ns;
        let runnable = counted.min(room);
        self.runnable_ns = counted - runnable;
        runnable
    }

    /// Running time given out before it is counted, for a thread that is running now.
    pub(crate) fn advance(&mut self, room: f64) -> f64 {
        let advance = (TICK_NS - self.advance_ns).clamp(0.0, room);
        self.advance_ns += advance;
        advance
    }
}

/// How often a stage was awake when looked at, and how much of the time it really was.
///
/// A look begins with a timer, and that ends naps: Linux wakes a sleeper up to 50 µs early or late
/// (its timer slack, prctl(2)) together with whatever else is due, and an idle CPU takes as long to
/// wake. A stage is then met awake more often than it is awake; the surplus are naps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetAwake {
    looks: f64,
    met: f64,
    was: f64,
}

/// Weight that the past keeps here: about the last thousand looks, for the surplus is a small difference.
const LONG_PAST: f64 = 0.999;

impl MetAwake {
    pub(crate) fn note(&mut self, met: f64, was: f64) {
        self.looks = self.looks * LONG_PAST + 1.0;
        self.met = self.met * LONG_PAST + met;
        self.was = self.was * LONG_PAST + was;
    }

    /// Of the time not spent awake around the looks that met it awake, the part that was naps ended by
    /// the look. The rest of that time is like the time around other looks.
    ///
    /// With m met and w was awake: the surplus m − w, out of m (1 − w).
    pub(crate) fn woken_share(&self) -> f64 {
        let (met, was) = (self.met / self.looks, self.was / self.looks);
        if met <= was { 0.0 } else { ((met - was) / (met * (1.0 - was))).min(1.0) }
    }
}
