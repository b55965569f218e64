//! Ends the dealing out from outside.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// Ends [`par`](super::par) from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    signal: Arc<AtomicI32>,
    bell: Arc<OwnedFd>,
}

impl Stop {
    /// # Errors
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { signal: Arc::new(AtomicI32::new(0)), bell: Arc::new(bell) })
    }

    /// Sends the copies this signal and ends.
    pub fn stop(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        // It rings already when Linux has no room for one more.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Readable after [`stop`](Self::stop).
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Whether it is stopped now or `soon`: a signal to a whole group of processes reaches some of them earlier.
    pub(super) fn comes_within(&self, soon: Duration) -> bool {
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(soon.subsec_nanos()) };
        let mut fds = [PollFd::new(&self.bell, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&pause));
        self.signal().is_some()
    }

    pub(super) fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}
