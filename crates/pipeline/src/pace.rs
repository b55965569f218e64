//! How closely samples follow each other.

use std::time::Duration;

use crate::account::Accounts;
use crate::sample::Look;

/// Samples follow each other this closely at first …
const FIRST_INTERVAL_NS: u64 = 1_000_000;
/// … and even more closely in the first moments, because short stages come and go.
const BIRTH_NS: u64 = 12_000_000;
const BIRTH_INTERVAL_NS: u64 = 250_000;
/// Later the interval is this part of the time the run has lasted …
const INTERVAL_SHARE: u64 = 100;
/// … at most this in the first second, which decides about tuning, …
const EARLY_INTERVAL_NS: u64 = 2_000_000;
const EARLY_NS: u64 = 1_000_000_000;
/// … after it, this part of the time …
const LATE_INTERVAL_SHARE: u64 = 160;
/// … and this in the long run: a share that 1800 samples of the first minute tell is known to about a point, and 20
/// samples a second cost less than 0.5 % of a CPU with four stages even where waking up is dear.
const LAST_INTERVAL_NS: u64 = 50_000_000;
/// With a profile it is this: a function in which a stage waits a third of its time is known to 3 points after 10 s.
const CLOSE_INTERVAL_NS: u64 = 20_000_000;
/// It is never longer than this, or stages come and go unseen.
const LONGEST_INTERVAL_NS: u64 = 250_000_000;
/// Where stages call read(2) and write(2) this often, in a second, …
const BUSY_CALLS: u64 = 200_000;
/// … samples are at least this far apart: each takes a CPU at a moment at which a stage may be woken. That stage is then given
/// the CPU of its neighbour and stays there, which costs a loop of `print` into awk a third of its speed, and 5 % with 20 ms.
const BUSY_INTERVAL_NS: u64 = 20_000_000;
/// Where they call this often, which programs do that read and write 4 KiB or 32 KiB at a time, …
const BRISK_CALLS: u64 = 50_000;
/// … samples are at least this far apart: with one every 2 ms, stages find their neighbour's CPU asleep twice as often, and to wake
/// it is work for whoever writes. `cat … | grep -v … | wc -l` lost a tenth by it on two CPUs of a virtual machine.
const BRISK_INTERVAL_NS: u64 = 10_000_000;
/// Where more than half of the samples find that a process has ended, as in a loop that runs one program after another, samples are
/// at least this far apart, too: each looks into a process that nobody has seen before, and that is gone by the next one. A loop
/// over 4,000 programs took 1.030 times as long as without fullbore with samples as usual, 1.020 with 10 ms, 1.017 with 30 ms.
const FLEETING_INTERVAL_NS: u64 = 20_000_000;
/// So many samples decide whether that is so.
const FLEETING_SAMPLES: u32 = 16;
/// Sampling may take this part of a CPU, whatever the number of stages …
const OBSERVER_SHARE: u64 = 60;
/// … and this at first, when much is new.
const EARLY_OBSERVER_SHARE: u64 = 10;

/// The pace of sampling.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    random: u64,
    /// Stages move data in so many small pieces that samples closer than this would slow them down.
    least_ns: u64,
    /// Which of the last samples found that a process had ended: a bit for each, the last one lowest.
    endings: u32,
    /// What stages wait in is divided among functions, which takes more samples.
    is_close: bool,
    /// Calls of all stages, and when they were counted.
    noted: (u64, u64),
}

impl Pace {
    /// A pace whose jitter is seeded by `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: seed | 1, least_ns: 0, endings: 0, is_close: false, noted: (0, 0) }
    }

    /// The same for a profile, which divides the time of each stage further.
    pub(crate) fn for_profile(self, is_close: bool) -> Self {
        Self { is_close, ..self }
    }

    /// Takes in whether a process has ended, and how often stages call read(2) and write(2), if that was just counted.
    pub(crate) fn take_in(&mut self, accounts: &Accounts, look: &Look) {
        self.note_ending(look.processes.iter().any(|process| process.has_ended));
        if look.io_was_due {
            let counted = accounts.stages.iter().filter_map(|stage| stage.io.total);
            self.note_calls(counted.map(|io| io.read_calls + io.write_calls).sum(), look.at_ns);
        }
    }

    fn note_ending(&mut self, somebody_ended: bool) {
        self.endings =
            (self.endings << 1 | u32::from(somebody_ended)) & ((1 << FLEETING_SAMPLES) - 1);
    }

    /// Samples may not be closer than this, because of what the stages do.
    fn least_ns(&self) -> u64 {
        let are_fleeting = self.endings.count_ones() * 2 > FLEETING_SAMPLES;
        self.least_ns.max(if are_fleeting { FLEETING_INTERVAL_NS } else { 0 })
    }

    /// All stages together have made so many calls until this moment.
    fn note_calls(&mut self, calls: u64, now_ns: u64) {
        let (calls_before, then_ns) = self.noted;
        let grown = calls.saturating_sub(calls_before);
        let passed_ns = now_ns.saturating_sub(then_ns).max(1);
        self.least_ns = match grown.saturating_mul(1_000_000_000) / passed_ns {
            calls if calls > BUSY_CALLS => BUSY_INTERVAL_NS,
            calls if calls > BRISK_CALLS => BRISK_INTERVAL_NS,
            _ => 0,
        };
        self.noted = (calls, now_ns);
    }

    /// How long to wait for the next sample; the last one took `spent`.
    ///
    /// The interval varies by a quarter, so that samples do not beat with a pipeline that works in a rhythm.
    pub(crate) fn next(&mut self, elapsed_ns: u64, spent: Duration) -> Duration {
        let longest_ns = if self.is_close { CLOSE_INTERVAL_NS } else { LAST_INTERVAL_NS };
        let length_ns = interval_ns(elapsed_ns, longest_ns, spent).max(self.least_ns());
        // xorshift64, Marsaglia 2003.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        Duration::from_nanos(length_ns * 3 / 4 + self.random % (length_ns / 2 + 1))
    }
}

fn interval_ns(elapsed_ns: u64, longest_ns: u64, spent: Duration) -> u64 {
    if elapsed_ns < BIRTH_NS {
        return BIRTH_INTERVAL_NS;
    }
    let (wanted_ns, share) = if elapsed_ns < EARLY_NS {
        let wanted_ns = elapsed_ns / INTERVAL_SHARE;
        (wanted_ns.clamp(FIRST_INTERVAL_NS, EARLY_INTERVAL_NS), EARLY_OBSERVER_SHARE)
    } else {
        let wanted_ns = elapsed_ns / LATE_INTERVAL_SHARE;
        (wanted_ns.clamp(EARLY_INTERVAL_NS, longest_ns), OBSERVER_SHARE)
    };
    let spent_ns = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
    wanted_ns.max(spent_ns.saturating_mul(share).min(LONGEST_INTERVAL_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_sample_makes_the_next_one_come_later() {
        let cheap = interval_ns(60_000_000_000, LAST_INTERVAL_NS, Duration::from_micros(100));
        assert_eq!(cheap, LAST_INTERVAL_NS);
        let costly = interval_ns(60_000_000_000, LAST_INTERVAL_NS, Duration::from_millis(2));
        assert_eq!(costly, 120_000_000);
        let much_too_costly = interval_ns(60_000_000_000, LAST_INTERVAL_NS, Duration::from_secs(1));
        assert_eq!(much_too_costly, LONGEST_INTERVAL_NS);
    }

    #[test]
    fn stages_that_call_very_often_are_looked_at_less_often() {
        let mut pace = Pace::new(7);
        let mut next = |calls, at_ns| {
            pace.note_calls(calls, at_ns);
            pace.next(500_000_000, Duration::ZERO)
        };
        assert!(next(1_000, 100_000_000) < Duration::from_millis(3));
        assert!(next(31_000, 200_000_000) >= Duration::from_millis(15));
        assert!(next(32_000, 300_000_000) < Duration::from_millis(3));
        let brisk = next(42_000, 400_000_000);
        assert!((7..=13).contains(&brisk.as_millis()), "{brisk:?}");
    }

    #[test]
    fn a_loop_over_short_programs_is_looked_at_less_often() {
        let mut pace = Pace::new(7);
        let mut next = |endings: &[bool]| {
            endings.iter().for_each(|ended| pace.note_ending(*ended));
            pace.next(500_000_000, Duration::ZERO).as_millis()
        };
        assert!(next(&[true; 8]) < 3, "a pipeline whose stages end");
        assert!(next(&[true, false, true]) >= 15);
        assert!(next(&[false; 8]) < 3);
    }

    #[test]
    fn intervals_vary_by_a_quarter_around_what_is_wanted() {
        let mut pace = Pace::new(7);
        let nexts: Vec<u64> = (0..1000)
            .map(|_| pace.next(60_000_000_000, Duration::ZERO).as_millis().try_into().unwrap())
            .collect();
        assert!(nexts.iter().all(|ms| (37..=63).contains(ms)), "{nexts:?}");
        assert!(nexts.iter().any(|ms| *ms <= 39) && nexts.iter().any(|ms| *ms >= 60));
    }
}
