//! Whether several copies would be faster than one.

use std::time::{Duration, Instant};

use crate::par::crew::{Crew, Jobs};

/// A command that takes more bytes in a second of CPU time is not dealt out with [`Caution`](crate::par::Caution): cutting
/// the input, looking at it and putting the output together would cost as much again.
pub const FAST_BYTES_PER_SECOND: f64 = 300e6;

/// Over less CPU time the speed says little.
const WORTH_A_LOOK: Duration = Duration::from_millis(10);

/// A copy that is on a CPU for this share of the time is what the pipeline waits for.
const BUSY: f64 = 0.7;

/// What is seen of a copy at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Its CPU time.
    pub(super) cpu: Duration,
    /// Bytes that it has taken.
    pub(super) bytes: u64,
}

/// What to do with the rest of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Unknown,
    /// One copy is fast enough.
    Fast,
    /// So many would be faster.
    Slow(usize),
}

/// Watches the first copy.
#[derive(Debug)]
pub(super) struct Judge {
    crew: Crew,
    /// So many are to run, whatever the CPUs do.
    told: Option<usize>,
    /// When it had begun to read.
    first: Option<Seen>,
    last: (Instant, Seen),
}

impl Judge {
    pub(super) fn new(jobs: Jobs, now: Instant) -> Self {
        let told = match jobs {
            Jobs::Exactly(copies) => Some(copies),
            Jobs::UpTo(_) => None,
        };
        Self { crew: Crew::new(jobs), told, first: None, last: (now, Seen::default()) }
    }

    /// What is known now; looks at the copy from time to time.
    pub(super) fn verdict(&mut self, now: Instant, look: impl FnOnce() -> Option<Seen>) -> Verdict {
        let (then, before) = self.last;
        let passed = now.duration_since(then);
        if passed < WORTH_A_LOOK {
            return Verdict::Unknown;
        }
        let Some(seen) = look().filter(|seen| seen.bytes > 0) else { return Verdict::Unknown };
        self.last = (now, seen);
        let Some(first) = self.first else {
            self.first = Some(seen);
            return Verdict::Unknown;
        };
        let ran = seen.cpu.saturating_sub(first.cpu);
        let may_run = self.crew.may_run(1, now);
        if ran < WORTH_A_LOOK {
            return Verdict::Unknown;
        }
        if (seen.bytes - first.bytes) as f64 > ran.as_secs_f64() * FAST_BYTES_PER_SECOND {
            return Verdict::Fast;
        }
        if let Some(copies) = self.told {
            return Verdict::Slow(copies);
        }
        let busy = seen.cpu.saturating_sub(before.cpu).as_secs_f64() / passed.as_secs_f64();
        if busy >= BUSY && may_run > 1 { Verdict::Slow(may_run) } else { Verdict::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known after each look, of a copy that is on a CPU for a share of the time and takes so many bytes in a
    /// second of CPU time.
    fn verdicts(bytes_per_second: f64, busy: f64) -> Vec<Verdict> {
        let start = Instant::now();
        let mut judge = Judge::new(Jobs::UpTo(2), start);
        judge.crew = Crew::with_idle_cpus(2);
        let look = |at: Duration| {
            let cpu = at.mul_f64(busy);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let bytes = (cpu.as_secs_f64() * bytes_per_second) as u64;
            Some(Seen { cpu, bytes })
        };
        (1..10)
            .map(|n| Duration::from_millis(11) * n)
            .map(|at| judge.verdict(start + at, || look(at)))
            .collect()
    }

    #[test]
    fn a_fast_copy_stays_alone_however_busy_it_is() {
        for busy in [1.0, 0.5] {
            let found = verdicts(1e9, busy);
            assert_eq!(found[0], Verdict::Unknown);
            assert!(found.contains(&Verdict::Fast), "{found:?}");
            assert!(!found.contains(&Verdict::Slow(2)));
        }
    }

    #[test]
    fn a_slow_copy_is_joined_by_others_only_if_the_pipeline_waits_for_it() {
        assert!(verdicts(50e6, 0.95).contains(&Verdict::Slow(2)));
        assert!(verdicts(50e6, 0.5).iter().all(|found| *found == Verdict::Unknown));
    }

    #[test]
    fn a_copy_that_takes_nothing_is_not_judged() {
        assert!(verdicts(0.0, 1.0).iter().all(|found| *found == Verdict::Unknown));
    }
}
