//! Ends the wait of one worker for input when another one has failed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

/// Tells workers that all is over.
#[derive(Debug)]
pub(super) struct Stop {
    event: OwnedFd,
    is_over: AtomicBool,
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC)?;
        Ok(Self { event, is_over: AtomicBool::new(false) })
    }

    /// Ends all waits, also later ones.
    pub(super) fn now(&self) {
        self.is_over.store(true, Ordering::Release);
        // An event that never happened has room for one.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Waits until there is input, or all is over; returns whether it is.
    pub(super) fn comes_before(&self, input: &impl AsFd) -> bool {
        loop {
            let mut fds =
                [PollFd::new(input, PollFlags::IN), PollFd::new(&self.event, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                // Reading says what is wrong.
                Err(_) => return self.is_over(),
                Ok(_) => return !fds[1].revents().is_empty(),
            }
        }
    }
}
