//! Pipes of our own, through which pages pass, and limits on how much they may hold.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fullbore_measure::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::CapabilitySet;

use crate::capacity::{Limits, capacity, set_capacity};

/// A pipe of which this process holds both ends.
#[derive(Debug)]
pub struct OwnPipe {
    read_end: OwnedFd,
    write_end: OwnedFd,
    capacity: Bytes,
}

impl OwnPipe {
    /// Makes a pipe with a capacity of `wanted` bytes in whole pages, or of as much as Linux grants: see
    /// [`capacity`](Self::capacity). Both ends are close-on-exec.
    ///
    /// # Errors
    /// EMFILE or ENFILE when no descriptor is left, ENOMEM.
    ///
    /// Source: pipe2(2).
    pub fn new(wanted: Bytes) -> io::Result<Self> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let granted = set_capacity(&write_end, wanted).ok();
        let capacity = granted.or_else(|| capacity(&write_end).ok()).unwrap_or(Bytes(4096));
        Ok(Self { read_end, write_end, capacity })
    }

    /// Returns the end to read from.
    #[must_use]
    pub fn read_end(&self) -> BorrowedFd<'_> {
        self.read_end.as_fd()
    }

    /// Returns the end to write to.
    #[must_use]
    pub fn write_end(&self) -> BorrowedFd<'_> {
        self.write_end.as_fd()
    }

    /// Returns the capacity in bytes. The pipe's pages pin no more memory than that, however little each contains.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Tells whether a splice into the pipe would find room.
    ///
    /// The number of queued bytes does not tell: a pipe is full when its slots are used up, and 256 one-byte pieces
    /// fill a pipe of 1 MiB.
    ///
    /// Source: poll(2).
    #[must_use]
    pub fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(&self.write_end, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now)));
        ready.is_ok_and(|count| count > 0) && fds[0].revents().contains(PollFlags::OUT)
    }
}

/// Returns how many bytes this process's pipes should hold together at most: half of [`Limits::user_soft`]. Over that
/// quota, new pipes of *all* the user's programs shrink to 8 KiB. The budget is unbounded (`u64::MAX`) without a quota
/// and with CAP_SYS_RESOURCE or CAP_SYS_ADMIN, which are exempt from it.
///
/// Source: pipe(7), "/proc files"; capget(2).
#[must_use]
pub fn pipe_budget(limits: Limits) -> Bytes {
    let is_unbounded = rustix::thread::capabilities(None).is_ok_and(|sets| {
        sets.effective.intersects(CapabilitySet::SYS_RESOURCE | CapabilitySet::SYS_ADMIN)
    });
    match limits.user_soft {
        Some(soft) if !is_unbounded => Bytes(soft.0 / 2),
        _ => Bytes(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{Patience, take};
    use std::io::Write;

    #[test]
    fn a_pipe_of_our_own_is_full_by_slots_not_by_bytes() {
        // A slot for each page.
        let own = OwnPipe::new(Bytes(16 * rustix::param::page_size() as u64)).unwrap();
        for _ in 0..16 {
            assert!(own.has_room());
            let (input, mut writer) = io::pipe().unwrap();
            writer.write_all(b"x").unwrap();
            take(&input, &own, 1, Patience::Never).unwrap();
        }
        assert!(!own.has_room());
    }
}
