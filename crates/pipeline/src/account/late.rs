//! Times that Linux counts late, carried over to the sample in which they were spent.

/// Time that the scheduler has not counted yet, or that was given out before it was counted.
///
/// Linux adds to a running thread's CPU time once a tick, and to the waiting time of a thread only when
/// that thread gets its CPU.
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
