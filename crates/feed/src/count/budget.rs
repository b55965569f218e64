//! Shares the memory for tables among the workers.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that all tables may take together.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    used: AtomicUsize,
    growing: AtomicUsize,
}

/// What the table of one worker takes of the memory.
#[derive(Debug)]
pub(super) struct Share<'a> {
    budget: &'a Budget,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, used: AtomicUsize::new(0), growing: AtomicUsize::new(0) }
    }

    /// Counts one more worker, with an empty table.
    pub(super) fn share(&self) -> Share<'_> {
        self.growing.fetch_add(1, Ordering::Relaxed);
        Share { budget: self, bytes: 0 }
    }
}

impl Share<'_> {
    /// Returns the size to which the table may grow: what it takes, and an equal part of what nobody takes yet.
    pub(super) fn limit(&self) -> usize {
        let free = self.budget.bytes.saturating_sub(self.budget.used.load(Ordering::Relaxed));
        self.bytes + free / self.budget.growing.load(Ordering::Relaxed).max(1)
    }

    /// Notes the size of the table.
    pub(super) fn set(&mut self, bytes: usize) {
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Share<'_> {
    /// The worker has ended; its table stays, and grows no more.
    fn drop(&mut self) {
        self.budget.growing.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_may_take_everything_and_several_never_more() {
        let budget = Budget::new(1000);
        let mut one = budget.share();
        assert_eq!(one.limit(), 1000);
        one.set(600);
        let mut other = budget.share();
        assert_eq!((one.limit(), other.limit()), (800, 200));
        other.set(200);
        one.set(800);
        assert_eq!((one.limit(), other.limit()), (800, 200));
        one.set(100);
        drop(one);
        assert_eq!(other.limit(), 900);
    }
}
