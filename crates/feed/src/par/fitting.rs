//! How large blocks should be.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The first blocks.
pub(super) const FIRST_BYTES: u64 = 1 << 20;

/// How often blocks double before anything is known about the copies: to 4 MiB.
const UNTAUGHT_DOUBLINGS: u64 = 2;

/// What starting a copy costs at least, and at most as far as it is believed, in seconds.
const START_SECONDS: [f64; 2] = [0.001, 0.1];

/// What touching a byte of new memory costs, in seconds: a page must be cleared, and a virtual machine must get it
/// from its host.
const NEW_MEMORY: f64 = 0.25e-9;

/// Blocks in memory at the same time: those of two copies, one that waits, one that is being read.
const IN_MEMORY: f64 = 4.0;

/// Blocks have at least this part of all bytes so far, up to so many bytes: only from blocks of different sizes can be
/// told what starting a copy costs. It is larger as long as that is not known.
const LEAST_PARTS: [f64; 2] = [1.0 / 2.0, 1.0 / 16.0];
const MOST_LEAST: f64 = (4 << 20) as f64;

/// What was learned from a copy counts so much less with each later one.
const FADING: f64 = 0.9;

/// From one copy to the next, blocks grow to at most so many times their size.
const GROWTH: u64 = 4;

/// The size of the next block, as far as it depends on the speed of the copies.
#[derive(Debug)]
pub(super) struct Fitting {
    /// 0 as long as no copy has ended.
    bytes: AtomicU64,
    copies: u64,
    /// One copy takes everything as it comes.
    is_alone: AtomicBool,
}

/// How a copy did with its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) bytes: u64,
    pub(super) took: Duration,
    /// The time that passed until it began to read, if that was seen.
    pub(super) began: Option<Duration>,
}

/// What was learned about the copies so far: a line through the sizes of their blocks and the seconds they took, each
/// point with its weight.
#[derive(Debug, Default)]
pub(super) struct Lessons {
    weight: f64,
    bytes: f64,
    seconds: f64,
    bytes_squared: f64,
    bytes_seconds: f64,
    /// The shortest time until a copy began to read.
    began: Option<f64>,
    /// Bytes of all blocks.
    all_bytes: f64,
}

impl Fitting {
    /// For so many copies at the same time.
    pub(super) fn new(copies: usize) -> Self {
        Self {
            bytes: AtomicU64::new(0),
            copies: copies.max(1) as u64,
            is_alone: AtomicBool::new(false),
        }
    }

    /// Whether one copy takes everything as it comes, so that no block waits until it is full.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Says so, or that blocks are dealt out from now on.
    pub(super) fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// Bytes of a block, of at most `most` bytes, where `left` are left if that is known, after so many blocks `before` it.
    ///
    /// Blocks that are cut before the first copy has ended double in size once there is one for each copy: a slow start is
    /// then not paid for again and again, all copies have the same to do, and the first sizes differ, which is what
    /// learning needs.
    pub(super) fn next(&self, most: u64, left: Option<u64>, before: u64) -> u64 {
        let bytes = match self.bytes.load(Ordering::Relaxed) {
            0 => FIRST_BYTES << (before / self.copies).min(UNTAUGHT_DOUBLINGS),
            bytes => bytes,
        };
        // Smaller ones at the end, so that all copies end at about the same time.
        let share = left.map_or(u64::MAX, |left| (left / (2 * self.copies)).max(FIRST_BYTES));
        bytes.min(share).min(most)
    }

    /// Learns from a copy that has ended.
    ///
    /// Let *a* be the seconds that starting a copy costs, *r* the bytes that it works off in a second, *n* the number
    /// of copies, *S* the bytes of the whole input and *B* those of a block. Starting costs *a S/B* seconds; at the end
    /// all copies but one are idle for half a block on average, *(n-1) B/2r*; and new memory costs *c* for each byte of
    /// the *m* blocks that are there at the same time. The sum is least at *B² = a S / ((n-1)/2r + m c)*. How long the
    /// input is nobody knows; as much again as has come so far is what can be expected.
    pub(super) fn learn(&self, lessons: &mut Lessons, seen: Seen) {
        lessons.note(seen);
        let (start, bytes_per_second, is_known) = lessons.line();
        let idle = (self.copies - 1) as f64 / (2.0 * bytes_per_second);
        let bytes = (start * lessons.all_bytes / (idle + IN_MEMORY * NEW_MEMORY)).sqrt();
        let bytes =
            bytes.max((lessons.all_bytes * LEAST_PARTS[usize::from(is_known)]).min(MOST_LEAST));
        let known = self.bytes.load(Ordering::Relaxed).max(seen.bytes).max(FIRST_BYTES);
        let most = known.saturating_mul(GROWTH);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of bytes; `as` saturates"
        )]
        let bytes = bytes as u64;
        self.bytes.store(bytes.clamp(FIRST_BYTES, most), Ordering::Relaxed);
    }
}

impl Lessons {
    fn note(&mut self, seen: Seen) {
        let (bytes, seconds) = (seen.bytes as f64, seen.took.as_secs_f64());
        for (sum, new) in [
            (&mut self.weight, 1.0),
            (&mut self.bytes, bytes),
            (&mut self.seconds, seconds),
            (&mut self.bytes_squared, bytes * bytes),
            (&mut self.bytes_seconds, bytes * seconds),
        ] {
            *sum = *sum * FADING + new;
        }
        let began = seen.began.map(|began| began.as_secs_f64());
        self.began = self.began.into_iter().chain(began).reduce(f64::min);
        self.all_bytes += bytes;
    }

    /// The seconds that starting a copy costs, the bytes that it works off in a second, and whether the blocks differed
    /// enough to tell.
    fn line(&self) -> (f64, f64, bool) {
        let [least, most] = START_SECONDS;
        let seen = self.began.unwrap_or(least).clamp(least, most);
        let (mean_bytes, mean_seconds) = (self.bytes / self.weight, self.seconds / self.weight);
        let spread = self.bytes_squared / self.weight - mean_bytes * mean_bytes;
        let slope = (self.bytes_seconds / self.weight - mean_bytes * mean_seconds) / spread;
        // Of blocks of about the same size nothing can be told but how long they take.
        let is_known = spread > 0.05 * mean_bytes * mean_bytes && slope > 0.0;
        let start = if is_known { mean_seconds - slope * mean_bytes } else { seen };
        let start = start.clamp(seen, most);
        (start, mean_bytes.max(1.0) / (mean_seconds - start).max(1e-4), is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of blocks after so many bytes, of copies that need `start` seconds and work off `rate` bytes a second.
    fn after(copies: usize, rate: f64, start: f64, all_bytes: u64, is_seen: bool) -> f64 {
        let (fitting, mut lessons) = (Fitting::new(copies), Lessons::default());
        for before in 0.. {
            if lessons.all_bytes >= all_bytes as f64 {
                break;
            }
            let bytes = fitting.next(u64::MAX, None, before);
            let took = Duration::from_secs_f64(start + bytes as f64 / rate);
            let began = is_seen.then(|| Duration::from_secs_f64(start));
            fitting.learn(&mut lessons, Seen { bytes, took, began });
        }
        fitting.next(u64::MAX, None, 100) as f64 / 1e6
    }

    #[test]
    fn slow_starts_and_fast_copies_make_large_blocks() {
        let is_about = |is: f64, expected: f64| {
            assert!(
                (expected * 0.9..expected * 1.25).contains(&is),
                "{is} is not about {expected}"
            );
        };
        // sqrt(0.002 * 1e9 / (0.5 / 100e6 + 1e-9)) = 18e6
        is_about(after(2, 100e6, 0.002, 1_000_000_000, true), 18.3);
        is_about(after(2, 1e9, 0.002, 1_000_000_000, true), 36.5);
        // jq, which takes long to start.
        is_about(after(2, 35e6, 0.018, 400_000_000, true), 21.7);
        // zstd -9, whose tables take long to be made after it began to read.
        is_about(after(2, 75e6, 0.030, 400_000_000, false), 39.6);
        is_about(after(1, 35e6, 0.018, 100_000_000, true), 42.4);
        is_about(after(2, 1e6, 0.001, 100_000_000, true), 4.19);
    }

    #[test]
    fn the_last_blocks_of_a_file_are_smaller() {
        let fitting = Fitting::new(2);
        fitting.bytes.store(32 << 20, Ordering::Relaxed);
        for (left, bytes) in [(1 << 30, 32), (64, 16), (16, 4), (1, 1)] {
            let left = if left == 1 << 30 { left } else { left << 20 };
            assert_eq!(fitting.next(u64::MAX, Some(left), 100), bytes << 20);
        }
        assert_eq!(fitting.next(5 << 20, Some(u64::MAX), 100), 5 << 20);
    }

    #[test]
    fn before_anything_is_known_blocks_double_once_each_copy_has_one() {
        let sizes = |copies: usize| {
            let fitting = Fitting::new(copies);
            (0..7).map(move |before| fitting.next(u64::MAX, None, before) >> 20)
        };
        assert!(sizes(1).eq([1, 2, 4, 4, 4, 4, 4]));
        assert!(sizes(2).eq([1, 1, 2, 2, 4, 4, 4]));
        assert!(sizes(64).all(|mebibytes| mebibytes == 1));
    }
}
