//! The state of a buffer, for display.

use std::time::Duration;

use fullbore_measure::{Bytes, BytesPerSecond, Share};

pub use super::waits::Waits;

/// The state of a buffer at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Time since the start.
    pub elapsed: Duration,
    /// Bytes read from the input.
    pub read: Bytes,
    /// Bytes written to the output.
    pub written: Bytes,
    /// Bytes that wait, in memory and on disk.
    pub queued: Bytes,
    /// Memory that they take up; at most the limit.
    pub memory: Bytes,
    /// Bytes of them on disk.
    pub spilled: Bytes,
    /// Most memory that they may take up.
    pub limit: Bytes,
    /// How long the two threads have waited so far, and for what.
    pub waits: Waits,
}

/// Which side holds up the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The consumer waits for the producer.
    Producer,
    /// The producer waits for the consumer, or would without the buffer.
    Consumer,
    /// Both wait for the rate limit.
    Rate,
    /// Nothing has been written, because the fill has not reached the start watermark.
    Watermark,
    /// Neither waits much.
    Neither,
}

/// Least share of the time that counts as waiting.
const MUCH: f64 = 0.25;

impl Status {
    /// Returns the memory taken up, as a share of the limit.
    #[must_use]
    pub fn fill(&self) -> Share {
        Share::of(self.memory.0 as f64, self.limit.0 as f64)
    }

    /// Returns how many bytes per second were written since `earlier`.
    #[must_use]
    pub fn rate_since(&self, earlier: &Self) -> BytesPerSecond {
        let time = self.elapsed.saturating_sub(earlier.elapsed);
        BytesPerSecond::over(Bytes(self.written.0.saturating_sub(earlier.written.0)), time)
    }

    /// Returns the time left until `size` bytes are written at this rate; `None` when nothing moves.
    #[must_use]
    pub fn time_left(&self, size: Bytes, rate: BytesPerSecond) -> Option<Duration> {
        let left = size.0.saturating_sub(self.written.0) as f64;
        (rate.0 > 0.0).then(|| Duration::try_from_secs_f64(left / rate.0).ok()).flatten()
    }

    /// Returns what share of the time since `earlier` each wait took, 0 to 1.
    #[must_use]
    pub fn shares_since(&self, earlier: &Self) -> WaitShares {
        let time_ns = self.elapsed.saturating_sub(earlier.elapsed).as_nanos() as f64;
        let share = |now: u64, before: u64| Share::of(now.saturating_sub(before) as f64, time_ns);
        WaitShares {
            input: share(self.waits.input_ns, earlier.waits.input_ns),
            room: share(self.waits.room_ns, earlier.waits.room_ns),
            data: share(self.waits.data_ns, earlier.waits.data_ns),
            output: share(self.waits.output_ns, earlier.waits.output_ns),
            rate: share(self.waits.rate_ns, earlier.waits.rate_ns),
        }
    }

    /// Tells which side held up the other since `earlier`.
    #[must_use]
    pub fn verdict_since(&self, earlier: &Self) -> Verdict {
        let shares = self.shares_since(earlier);
        let moved = self.written.0 > earlier.written.0;
        match shares {
            WaitShares { rate, .. } if rate.0 >= MUCH => Verdict::Rate,
            WaitShares { output, input, .. } if output.0 >= MUCH && output.0 >= input.0 => {
                Verdict::Consumer
            }
            _ if self.queued.0 > 0 && !moved && shares.data.0 >= MUCH => Verdict::Watermark,
            WaitShares { input, .. } if input.0 >= MUCH => Verdict::Producer,
            _ => Verdict::Neither,
        }
    }
}

/// How much of a stretch of time the two threads waited, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitShares {
    /// Share that the reader waited for the producer.
    pub input: Share,
    /// Share that the reader waited for room.
    pub room: Share,
    /// Share that the writer waited for something to write.
    pub data: Share,
    /// Share that the writer waited for the consumer.
    pub output: Share,
    /// Share that the writer waited for the rate limit.
    pub rate: Share,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: u64, waits: Waits) -> Status {
        Status {
            elapsed: Duration::from_secs(seconds),
            waits,
            written: Bytes(1000),
            ..Status::default()
        }
    }

    #[test]
    fn the_verdict_names_the_side_that_holds_up_the_other() {
        let second = 1_000_000_000;
        let none = Waits::default();
        let cases = [
            (Waits { input_ns: 9 * second, data_ns: 9 * second, ..none }, Verdict::Producer),
            (Waits { output_ns: 9 * second, room_ns: 8 * second, ..none }, Verdict::Consumer),
            (Waits { output_ns: 9 * second, input_ns: 5 * second, ..none }, Verdict::Consumer),
            (Waits { rate_ns: 9 * second, room_ns: 9 * second, ..none }, Verdict::Rate),
            (Waits { input_ns: second, output_ns: second, ..none }, Verdict::Neither),
        ];
        for (waits, verdict) in cases {
            assert_eq!(after(10, waits).verdict_since(&Status::default()), verdict, "{waits:?}");
        }
        let waiting = Status {
            queued: Bytes(500),
            written: Bytes(0),
            ..after(10, Waits { data_ns: 9 * second, input_ns: 9 * second, ..none })
        };
        assert_eq!(waiting.verdict_since(&Status::default()), Verdict::Watermark);
    }

    #[test]
    fn the_time_left_follows_from_the_rate() {
        let status = after(1, Waits::default());
        let left = status.time_left(Bytes(3000), BytesPerSecond(100.0));
        assert_eq!(left, Some(Duration::from_secs(20)));
        assert_eq!(status.time_left(Bytes(3000), BytesPerSecond(0.0)), None);
        assert_eq!(status.time_left(Bytes(10), BytesPerSecond(1.0)), Some(Duration::ZERO));
    }
}
