//! Limits the rate smoothly.

use std::time::{Duration, Instant};

/// Decides how many bytes may go out when, so that every stretch longer than a tenth of a second keeps the rate.
#[derive(Debug)]
pub(super) struct Pacer {
    bytes_per_second: f64,
    /// When the next piece is due.
    due: Instant,
}

/// Time whose share of the rate makes one piece: short enough to look smooth, long compared with a wake-up.
const PIECE_SECONDS: f64 = 0.01;

/// Most time that the pacer makes up for: a late piece counts, but a pause of the producer earns no credit.
const CREDIT: Duration = Duration::from_millis(100);

impl Pacer {
    pub(super) fn new(bytes_per_second: u64, now: Instant) -> Self {
        Self { bytes_per_second: bytes_per_second as f64, due: now }
    }

    /// Returns how many bytes may go out at once.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a range that fits"
    )]
    pub(super) fn piece_bytes(&self) -> u64 {
        (self.bytes_per_second * PIECE_SECONDS).clamp(1.0, f64::from(1 << 20)) as u64
    }

    /// Returns how long to wait before the next piece.
    pub(super) fn pause(&mut self, now: Instant) -> Duration {
        if let Some(earliest) = now.checked_sub(CREDIT) {
            self.due = self.due.max(earliest);
        }
        self.due.saturating_duration_since(now)
    }

    /// Records that these bytes went out.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.due += Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many bytes go out in `seconds` of a clock that only the pacer moves, with each wake-up late by
    /// `late`.
    fn bytes_in(rate: u64, seconds: u64, late: Duration) -> u64 {
        let start = Instant::now();
        let (mut pacer, mut now, mut sent) = (Pacer::new(rate, start), start, 0);
        while now < start + Duration::from_secs(seconds) {
            let pause = pacer.pause(now);
            now += pause + if pause.is_zero() { Duration::ZERO } else { late };
            sent += pacer.piece_bytes();
            pacer.spend(pacer.piece_bytes());
        }
        sent
    }

    #[test]
    fn the_rate_is_kept_though_every_wake_up_is_late() {
        for rate in [1, 1000, 123_456, 50_000_000, 3_000_000_000] {
            let sent = bytes_in(rate, 10, Duration::from_millis(3)) as f64;
            let wanted = 10.0 * rate as f64;
            let slack = if rate == 1 { 1.0 } else { 0.005 * wanted };
            assert!((sent - wanted).abs() <= slack, "{rate}: {sent} instead of {wanted}");
        }
    }

    #[test]
    fn a_pause_of_the_producer_is_no_credit() {
        let start = Instant::now();
        let mut pacer = Pacer::new(1_000_000, start);
        let later = start + Duration::from_secs(60);
        let mut sent = 0;
        while pacer.pause(later).is_zero() {
            pacer.spend(pacer.piece_bytes());
            sent += pacer.piece_bytes();
        }
        assert!(sent <= 120_000, "{sent} bytes at once after a pause");
    }
}
