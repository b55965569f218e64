//! Measures how long the two threads wait, and for what.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A reason to wait. The reader waits for `Input` and `Room`, the writer for `Data`, `Output` and `Rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Input,
    Room,
    Data,
    Output,
    Rate,
}

const REASONS: usize = 5;

/// Time spent waiting, by reason, in nanoseconds. Compare each with the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How long the reader waited for the producer.
    pub input_ns: u64,
    /// How long the reader waited for room below the limit.
    pub room_ns: u64,
    /// How long the writer waited for something to write or for the start watermark.
    pub data_ns: u64,
    /// How long the writer waited for the consumer.
    pub output_ns: u64,
    /// How long the writer waited for the rate limit.
    pub rate_ns: u64,
}

/// Adds up waits, including the part of a wait that still lasts.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    total_ns: [AtomicU64; REASONS],
    /// When each current wait began, in nanoseconds after the start, plus 1; 0 means no wait.
    since_ns: [AtomicU64; REASONS],
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), total_ns: Default::default(), since_ns: Default::default() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Runs `work`, which waits for this reason.
    pub(super) fn wait<T>(&self, reason: Reason, work: impl FnOnce() -> T) -> T {
        let reason = reason as usize;
        let before = self.now_ns();
        self.since_ns[reason].store(before + 1, Ordering::Relaxed);
        let result = work();
        self.since_ns[reason].store(0, Ordering::Relaxed);
        self.total_ns[reason].fetch_add(self.now_ns() - before, Ordering::Relaxed);
        result
    }

    pub(super) fn waits(&self) -> Waits {
        let of = |reason: Reason| {
            let reason = reason as usize;
            let total = self.total_ns[reason].load(Ordering::Relaxed);
            match self.since_ns[reason].load(Ordering::Relaxed) {
                0 => total,
                since => total + self.now_ns().saturating_sub(since - 1),
            }
        };
        Waits {
            input_ns: of(Reason::Input),
            room_ns: of(Reason::Room),
            data_ns: of(Reason::Data),
            output_ns: of(Reason::Output),
            rate_ns: of(Reason::Rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_wait_counts_while_it_lasts_and_once_when_it_is_over() {
        let clock = Clock::start();
        let (sender, receiver) = channel::<()>();
        let (started, is_started) = channel::<()>();
        std::thread::scope(|scope| {
            let clock = &clock;
            let waiting = scope.spawn(move || {
                clock.wait(Reason::Room, || {
                    started.send(()).unwrap();
                    receiver.recv().unwrap();
                });
            });
            is_started.recv().unwrap();
            let early = clock.waits().room_ns;
            while clock.waits().room_ns <= early {
                std::thread::yield_now();
            }
            sender.send(()).unwrap();
            waiting.join().unwrap();
        });
        let after = clock.waits();
        assert_eq!(after, clock.waits());
        assert!(after.room_ns > 0 && after.input_ns == 0);
    }
}
