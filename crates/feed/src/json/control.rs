//! What others see of a run over records, and ask of it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

/// Is shared with a thread that shows progress or takes signals.
#[derive(Debug)]
pub struct Control {
    is_stopped: AtomicBool,
    is_asked: AtomicBool,
    read_bytes: AtomicU64,
    records: AtomicU64,
    /// Becomes readable to end a wait for input; `None` where Linux refuses an eventfd(2).
    wake: Option<OwnedFd>,
}

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

impl Control {
    /// Makes one for a run that has not begun. Each run needs its own.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_stopped: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            read_bytes: AtomicU64::new(0),
            records: AtomicU64::new(0),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok(),
        }
    }

    /// Ends the run after the blocks that are being worked on, also while it waits for input.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Asks for the answer so far: [`Task::so_far`](super::Task::so_far) is called soon, also while the run waits for input.
    pub fn ask(&self) {
        self.is_asked.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Returns how many bytes were read.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Returns how many records the task got.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Tells whether somebody asked since the last call.
    pub(super) fn take_question(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst) && self.is_asked.swap(false, Ordering::SeqCst)
    }

    /// Ends a wait for input, or the next one.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // It fails only if the counter is full, and then it is readable.
            let _ = rustix::io::write(wake, &1_u64.to_ne_bytes());
        }
    }

    pub(super) fn note_read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn note_records(&self, records: usize) {
        self.records.fetch_add(records as u64, Ordering::Relaxed);
    }

    /// Waits until `input` can be read, or somebody wakes; tells which: `true` if the input can be read. Without patience it
    /// only looks. Whoever was woken must look at what there is to do before the next wait, because a wake ends only one.
    pub(super) fn wait_for(&self, input: impl AsFd, is_patient: bool) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if is_patient { None } else { Some(&at_once) };
        let wake = self.wake.as_ref().map_or(input.as_fd(), AsFd::as_fd);
        loop {
            let mut both =
                [PollFd::new(&input, PollFlags::IN), PollFd::from_borrowed_fd(wake, PollFlags::IN)];
            match poll(&mut both, timeout) {
                Err(Errno::INTR) => {}
                // The read that follows says what is wrong.
                Err(_) => return true,
                Ok(_) if !both[0].revents().is_empty() => return true,
                Ok(_) => break,
            }
        }
        if let (true, Some(wake)) = (is_patient, &self.wake) {
            // It was readable, and only one thread waits.
            let _ = rustix::io::read(wake, &mut [0; 8]);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_ends_one_wait() {
        let (input, _writer) = std::io::pipe().unwrap();
        let control = Control::new();
        // The question is taken before its wake comes.
        control.is_asked.store(true, Ordering::SeqCst);
        assert!(control.take_question());
        control.wake();
        assert!(!control.wait_for(&input, true));
        let left = rustix::io::read(control.wake.as_ref().unwrap(), &mut [0; 8]);
        assert_eq!(left, Err(Errno::AGAIN));
    }
}
