//! Limits how long a full output may hold up the reader before the reader copies.

use std::time::Duration;

/// Time that the reader may still wait for the output instead of copying.
///
/// The reader waits about as long as the copy would take. An output that keeps pace gets pages without a copy. A slower
/// one uses up the time within a few pieces, and the reader then takes the input at its own pace.
#[derive(Debug)]
pub(super) struct Patience {
    left: Duration,
}

/// Longest pause of the consumer to wait for: copying a full pipe of 1 MiB in and out takes about as long, and a consumer
/// that has to be woken, or shares its CPU, pauses less.
const MOST: Duration = Duration::from_millis(1);

/// Output rate below which waiting does not pay: copying in and out, on two CPUs that producer and consumer need as well,
/// is about as fast.
const BYTES_PER_NANOSECOND: u64 = 2;

impl Patience {
    pub(super) fn new() -> Self {
        Self { left: MOST }
    }

    /// Starts anew, because nothing was held up.
    pub(super) fn renew(&mut self) {
        self.left = MOST;
    }

    /// Returns how long to wait at most; zero means copy now.
    pub(super) fn left(&self) -> Duration {
        self.left
    }

    /// Records a wait of this length.
    pub(super) fn spend(&mut self, waited: Duration) {
        self.left = self.left.saturating_sub(waited);
    }

    /// Records that the output took this much.
    pub(super) fn earn(&mut self, bytes: usize) {
        let earned = Duration::from_nanos(bytes as u64 / BYTES_PER_NANOSECOND);
        self.left = (self.left + earned).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for how many pieces of 64 KiB the reader waits before it copies, at most 1000.
    fn pieces_waited_for(bytes_per_nanosecond: f64) -> usize {
        const PIECE_BYTES: usize = 64 << 10;
        let mut patience = Patience::new();
        let each = Duration::from_secs_f64(PIECE_BYTES as f64 / bytes_per_nanosecond * 1e-9);
        let waits = |_: &usize| {
            let waits = each <= patience.left();
            patience.spend(each);
            patience.earn(PIECE_BYTES);
            waits
        };
        (0..1000).take_while(waits).count()
    }

    #[test]
    fn the_reader_waits_long_for_a_fast_output_and_briefly_for_a_slow_one() {
        assert_eq!(pieces_waited_for(8.0), 1000, "8 GB/s");
        assert!((20..40).contains(&pieces_waited_for(1.0)), "1 GB/s");
        assert!(pieces_waited_for(0.1) < 2, "100 MB/s");
    }
}
