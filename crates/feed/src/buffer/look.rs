//! What a buffer shows of itself.

use std::time::Duration;

use fullbore_measure::{Bytes, BytesPerSecond, Share};

pub use super::waits::Waits;

/// The state of a buffer at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Time since the start.
    pub elapsed: Duration,
    /// Bytes taken from the input.
    pub read: Bytes,
    /// Bytes handed to the output.
    pub written: Bytes,
    /// Bytes that wait, in memory and on disk.
    pub queued: Bytes,
    /// Memory that is taken up by them; at most the limit.
    pub memory: Bytes,
    /// Bytes of them that are on disk.
    pub spilled: Bytes,
    /// The most memory that may be taken up.
    pub limit: Bytes,
    /// What the two threads waited for so far.
    pub waits: Waits,
}

/// Which side holds the other one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The consumer waits for the producer.
    Producer,
    /// The producer waits for the consumer, or would without the buffer.
    Consumer,
    /// Both wait for the rate limit.
    Rate,
    /// Nothing moved out yet because the start watermark was not reached.
    Watermark,
    /// Neither waits much.
    Neither,
}

/// A side that waits less than this share of the time does not wait for anyone to speak of.
const MUCH: f64 = 0.25;

impl Look {
    /// Memory taken up, as a share of the limit.
    #[must_use]
    pub fn fill(&self) -> Share {
        Share::of(self.memory.0 as f64, self.limit.0 as f64)
    }

    /// Bytes handed to the output per second since `earlier`.
    #[must_use]
    pub fn rate_since(&self, earlier: &Self) -> BytesPerSecond {
        let time = self.elapsed.saturating_sub(earlier.elapsed);
        BytesPerSecond::over(Bytes(self.written.0.saturating_sub(earlier.written.0)), time)
    }

    /// Time to go until `size` bytes are handed on at this rate; `None` when nothing moves.
    #[must_use]
    pub fn time_left(&self, size: Bytes, rate: BytesPerSecond) -> Option<Duration> {
        let left = size.0.saturating_sub(self.written.0) as f64;
        (rate.0 > 0.0).then(|| Duration::try_from_secs_f64(left / rate.0).ok()).flatten()
    }

    /// Share of the time since `earlier` that went into each wait, 0 to 1.
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

    /// Who held whom up since `earlier`.
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

/// What the two threads waited for in a stretch of time, as shares of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitShares {
    /// The reader, for the producer.
    pub input: Share,
    /// The reader, for room.
    pub room: Share,
    /// The writer, for something to hand on.
    pub data: Share,
    /// The writer, for the consumer.
    pub output: Share,
    /// The writer, for the rate limit.
    pub rate: Share,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: u64, waits: Waits) -> Look {
        Look {
            elapsed: Duration::from_secs(seconds),
            waits,
            written: Bytes(1000),
            ..Look::default()
        }
    }

    #[test]
    fn the_verdict_names_the_side_that_is_waited_for() {
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
            assert_eq!(after(10, waits).verdict_since(&Look::default()), verdict, "{waits:?}");
        }
        let waiting = Look {
            queued: Bytes(500),
            written: Bytes(0),
            ..after(10, Waits { data_ns: 9 * second, input_ns: 9 * second, ..none })
        };
        assert_eq!(waiting.verdict_since(&Look::default()), Verdict::Watermark);
    }

    #[test]
    fn what_is_left_takes_as_long_as_the_rate_says() {
        let look = after(1, Waits::default());
        let left = look.time_left(Bytes(3000), BytesPerSecond(100.0));
        assert_eq!(left, Some(Duration::from_secs(20)));
        assert_eq!(look.time_left(Bytes(3000), BytesPerSecond(0.0)), None);
        assert_eq!(look.time_left(Bytes(10), BytesPerSecond(1.0)), Some(Duration::ZERO));
    }
}
