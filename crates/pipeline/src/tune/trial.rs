//! Trials: a pipe has been grown, and what its sides wait for now shows whether that helps.

use fullbore_measure::Bytes;

use crate::account::pipe::PipeAccount;

/// Both sides must have been blocked for this share of the time.
const BOTH_BLOCKED_MIN: f64 = 0.08;
/// The share of blocked time (both sides together) must fall to this part of what it was.
const KEPT_MAX: f64 = 0.88;
/// A window is judged after this time and this many samples, whichever is later: the share of a state
/// seen in 50 samples is known to about ± 7 points.
const WINDOW_NS: f64 = 200e6;
const WINDOW_SAMPLES: u64 = 50;
/// When both sides were blocked for this share of the time, less evidence is needed and the pipe grows to
/// its limit at once: a burst is then known to be larger than the pipe, and each step costs time
/// (bursts of 1 MiB: 1.78 times faster in steps of four, 1.82 at once; `make bench CLAIMS=bursty`).
const BOTH_BLOCKED_MUCH: f64 = 0.2;
const MUCH_NS: f64 = 80e6;
const MUCH_SAMPLES: u64 = 30;
/// After a change the pipe first fills to its new size: this time is not judged.
const SETTLE_NS: f64 = 60e6;

/// A trial of a larger capacity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// Capacity to go back to.
    pub(crate) from: Bytes,
    pub(crate) started_ns: u64,
    /// Share of the time in which a side was blocked, before.
    pub(crate) before: f64,
    /// The pipe still fills to its new size.
    pub(crate) is_settling: bool,
    /// All pipes grew at once, and are judged together.
    pub(crate) is_of_line: bool,
}

/// Waits on a pipe over some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window(pub(crate) PipeAccount);

impl Window {
    fn writer_share(&self) -> f64 {
        self.0.writer_blocked_ns / self.0.life_ns.max(1.0)
    }

    fn reader_share(&self) -> f64 {
        self.0.reader_blocked_ns / self.0.life_ns.max(1.0)
    }

    /// Share of the time in which a side was blocked, both sides together.
    pub(crate) fn blocked_share(&self) -> f64 {
        self.writer_share() + self.reader_share()
    }

    pub(crate) fn is_long_enough(&self) -> bool {
        self.0.life_ns >= WINDOW_NS && self.0.samples >= WINDOW_SAMPLES
    }

    pub(crate) fn has_settled(&self) -> bool {
        self.0.life_ns >= SETTLE_NS
    }

    /// Whether both sides starve in turn so much that it shows at once.
    pub(crate) fn is_much_contested(&self) -> bool {
        let least = self.writer_share().min(self.reader_share());
        self.0.life_ns >= MUCH_NS && self.0.samples >= MUCH_SAMPLES && least >= BOTH_BLOCKED_MUCH
    }

    /// Whether both sides starve in turn.
    pub(crate) fn is_contested(&self) -> bool {
        self.writer_share() >= BOTH_BLOCKED_MIN && self.reader_share() >= BOTH_BLOCKED_MIN
    }
}

impl Trial {
    /// Whether the larger capacity helped.
    pub(crate) fn has_helped(&self, after: &Window) -> bool {
        after.blocked_share() <= self.before * KEPT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(writer: f64, reader: f64) -> Window {
        Window(PipeAccount {
            life_ns: 1.0,
            writer_blocked_ns: writer,
            reader_blocked_ns: reader,
            samples: 100,
        })
    }

    #[test]
    fn a_pipe_is_contested_only_when_both_sides_wait() {
        assert!(window(0.4, 0.3).is_contested());
        assert!(!window(0.97, 0.0).is_contested());
        assert!(!window(0.0, 0.97).is_contested());
        assert!(!window(0.0, 0.0).is_contested());
    }

    #[test]
    fn a_larger_pipe_must_take_an_eighth_off_the_waits() {
        let trial = Trial {
            from: Bytes(65_536),
            started_ns: 0,
            before: 0.8,
            is_settling: false,
            is_of_line: false,
        };
        assert!(trial.has_helped(&window(0.4, 0.3)));
        assert!(!trial.has_helped(&window(0.4, 0.35)));
    }
}
