//! Trials of all pipes at once.
//!
//! Where light stages wake each other all the time, wider pipes have them woken less often, the busy ones, too, whose work it is
//! to wake the others. One pipe alone brings nothing there: the stages go on in the rhythm of the narrow ones. So all pipes
//! grow together, and what counts is how fast bytes move.

use crate::account::Accounts;

/// So many wake-ups in a second, of all stages together, are work that wider pipes may save: 2 % of a CPU at 2 µs each.
const WAKE_UPS: f64 = 10_000.0;
/// What stages do while they start, and while samples follow each other closely, is no measure of their speed.
const START_NS: u64 = 50_000_000;
/// A window is long enough for a trial that a pipe asks for …
const SHORT_NS: u64 = 40_000_000;
/// … and for one that none asks for.
const WINDOW_NS: u64 = 80_000_000;
/// Pipes grow to so many times their size where none asked for more.
const GROWTH: u64 = 4;
/// A window without many wake-ups ends after this time, and another one begins.
const LONG_NS: u64 = 250_000_000;
/// After a change the pipes first fill to their new size: this time is not judged.
const SETTLE_NS: u64 = 60_000_000;
/// The bytes of this time are compared with those before.
const TRIAL_NS: u64 = 120_000_000;
/// Bytes must move so many times as fast.
const KEPT_MIN: f64 = 1.04;
/// After a trial there is none for this time.
const REST_NS: u64 = 20_000_000_000;

/// What all stages together have done since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Progress {
    pub(super) at_ns: u64,
    /// Read and written.
    pub(super) bytes: u64,
    pub(super) wake_ups: f64,
}

impl Progress {
    pub(super) fn of(accounts: &Accounts, at_ns: u64) -> Self {
        let moved = accounts.stages.iter().filter_map(|stage| stage.io.total);
        Self {
            at_ns,
            bytes: moved.map(|io| io.read_bytes + io.written_bytes).sum(),
            wake_ups: accounts.stages.iter().map(|stage| stage.wakes.wake_ups).sum(),
        }
    }

    fn seconds_since(&self, then: &Self) -> f64 {
        self.at_ns.saturating_sub(then.at_ns).max(1) as f64 * 1e-9
    }

    fn bytes_per_second(&self, since: &Self) -> f64 {
        self.bytes.saturating_sub(since.bytes) as f64 / self.seconds_since(since)
    }

    fn wake_ups_per_second(&self, since: &Self) -> f64 {
        (self.wake_ups - since.wake_ups) / self.seconds_since(since)
    }
}

/// Decides when all pipes are widened, and whether they stay so.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    state: State,
    /// What was known when bytes were counted last: that is done more rarely than samples are taken.
    last: Progress,
    /// A pipe should grow in any case.
    is_asked_for: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Nothing moves yet.
    #[default]
    Idle,
    Starting {
        from: Progress,
    },
    Watching {
        from: Progress,
    },
    /// The pipes were widened at this moment; before, so many bytes were moved in a second.
    Settling {
        since_ns: u64,
        before: f64,
    },
    Trying {
        from: Progress,
        before: f64,
    },
    Resting {
        until_ns: u64,
    },
}

impl Line {
    /// Takes in what is known now; returns how many times as fast bytes move since the pipes were widened, when that is known.
    pub(super) fn take_in(&mut self, now: Progress) -> Option<f64> {
        if now.bytes == self.last.bytes {
            return None;
        }
        self.last = now;
        match self.state {
            State::Idle => self.state = State::Starting { from: now },
            State::Starting { from } => {
                if now.at_ns - from.at_ns >= START_NS {
                    self.state = State::Watching { from: now };
                }
            }
            State::Watching { from } => {
                if now.at_ns - from.at_ns >= LONG_NS {
                    self.state = State::Watching { from: now };
                }
            }
            State::Settling { since_ns, before } => {
                if now.at_ns - since_ns >= SETTLE_NS {
                    self.state = State::Trying { from: now, before };
                }
            }
            State::Trying { from, before } => {
                if now.at_ns - from.at_ns >= TRIAL_NS {
                    self.rest(now.at_ns);
                    return Some(now.bytes_per_second(&from) / before.max(1.0));
                }
            }
            State::Resting { until_ns } => {
                if now.at_ns >= until_ns {
                    self.state = State::Watching { from: now };
                }
            }
        }
        None
    }

    /// Whether all pipes may be about to be widened: a pipe that is to grow in any case asks for that, and does not grow alone.
    pub(super) fn is_asked(&mut self) -> bool {
        let (State::Starting { from } | State::Watching { from }) = self.state else {
            return false;
        };
        self.is_asked_for = self.last.wake_ups_per_second(&from) >= WAKE_UPS;
        self.is_asked_for
    }

    /// How wide all pipes should be now, if that should be tried: so many times as wide.
    pub(super) fn is_worth_a_trial(&self) -> Option<u64> {
        let State::Watching { from } = self.state else { return None };
        let length_ns = self.last.at_ns - from.at_ns;
        let is_woken_often = self.last.wake_ups_per_second(&from) >= WAKE_UPS;
        match self.is_asked_for {
            true if is_woken_often && length_ns >= SHORT_NS => Some(u64::MAX),
            false if is_woken_often && length_ns >= WINDOW_NS => Some(GROWTH),
            _ => None,
        }
    }

    /// All pipes have been widened.
    pub(super) fn begin_trial(&mut self, now_ns: u64) {
        let State::Watching { from } = self.state else { return };
        let before = self.last.bytes_per_second(&from);
        self.state = State::Settling { since_ns: now_ns, before };
        self.is_asked_for = false;
    }

    /// Nothing is tried for a while.
    pub(super) fn rest(&mut self, now_ns: u64) {
        self.state = State::Resting { until_ns: now_ns + REST_NS };
    }

    /// Whether pipes stay as wide as they are, if bytes move so many times as fast.
    pub(super) fn has_helped(times: f64) -> bool {
        times >= KEPT_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples every 10 ms of stages that move so many bytes and are woken so often in a second.
    fn go_on(line: &mut Line, from: Progress, for_ms: u64, speed: u64, wake_ups: f64) -> Progress {
        let mut now = from;
        for _ in 0..for_ms / 10 {
            now.at_ns += 10_000_000;
            now.bytes += speed / 100;
            now.wake_ups += wake_ups / 100.0;
            assert_eq!(line.take_in(now), None);
        }
        now
    }

    #[test]
    fn stages_that_are_woken_all_the_time_get_a_trial_and_others_do_not() {
        for (wake_ups, is_tried) in [(9_000.0, false), (11_000.0, true)] {
            let mut line = Line::default();
            let now = go_on(&mut line, Progress::default(), 110, 1_000_000_000, wake_ups);
            assert_eq!(line.is_worth_a_trial(), None, "too early");
            go_on(&mut line, now, 40, 1_000_000_000, wake_ups);
            assert_eq!(line.is_worth_a_trial(), is_tried.then_some(4));
        }
    }

    #[test]
    fn a_pipe_that_is_to_grow_waits_for_the_others_where_stages_are_woken_all_the_time() {
        for (wake_ups, waits) in [(9_000.0, false), (11_000.0, true)] {
            let mut line = Line::default();
            let now = go_on(&mut line, Progress::default(), 30, 1_000_000_000, wake_ups);
            assert_eq!(line.is_asked(), waits);
            go_on(&mut line, now, 80, 1_000_000_000, wake_ups);
            assert_eq!(line.is_worth_a_trial(), waits.then_some(u64::MAX));
        }
    }

    #[test]
    fn nothing_is_tried_while_nothing_moves() {
        let mut line = Line::default();
        go_on(&mut line, Progress::default(), 300, 0, 50_000.0);
        assert!(!line.is_asked());
        assert_eq!(line.is_worth_a_trial(), None);
    }

    #[test]
    fn a_trial_tells_how_much_faster_bytes_move_once_the_pipes_are_full() {
        let mut line = Line::default();
        // Slow while it starts: that is no measure.
        let now = go_on(&mut line, Progress::default(), 60, 300_000_000, 50_000.0);
        let now = go_on(&mut line, now, 90, 1_000_000_000, 50_000.0);
        line.begin_trial(now.at_ns);
        assert!(!line.is_asked() && line.is_worth_a_trial().is_none(), "one at a time");
        // While they fill, more is written than read.
        let now = go_on(&mut line, now, 60, 5_000_000_000, 50_000.0);
        let mut now = go_on(&mut line, now, 110, 1_500_000_000, 5_000.0);
        now.at_ns += 10_000_000;
        now.bytes += 15_000_000;
        let times = line.take_in(now).unwrap();
        assert!((times - 1.5).abs() < 0.01, "{times}");
        assert!(Line::has_helped(times) && !Line::has_helped(1.03));
        // It rests for 20 s.
        let now = go_on(&mut line, now, 19_000, 1_000_000_000, 50_000.0);
        assert_eq!(line.is_worth_a_trial(), None);
        go_on(&mut line, now, 1_200, 1_000_000_000, 50_000.0);
        assert!(line.is_worth_a_trial().is_some());
    }
}
