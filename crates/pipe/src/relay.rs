//! Pipes of our own: places where spliced pages wait, so that gigabytes can queue without a copy.
//!
//! [`Reservoir`] makes them within a budget and takes them back; [`widen`] asks for large pipes on the sides.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fullbore_measure::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::CapabilitySet;

use crate::{Limits, capacity, set_capacity};

/// A pipe of which this process holds both ends.
#[derive(Debug)]
pub struct OwnPipe {
    read_end: OwnedFd,
    write_end: OwnedFd,
    capacity: Bytes,
}

impl OwnPipe {
    /// A new pipe that holds `wanted` bytes in whole pages, or as much as Linux grants.
    ///
    /// # Errors
    /// When no descriptor or no memory is left.
    pub fn new(wanted: Bytes) -> io::Result<Self> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let granted = set_capacity(&write_end, wanted).ok();
        let capacity = granted.or_else(|| capacity(&write_end).ok()).unwrap_or(Bytes(4096));
        Ok(Self { read_end, write_end, capacity })
    }

    /// Where data comes out.
    #[must_use]
    pub fn read_end(&self) -> BorrowedFd<'_> {
        self.read_end.as_fd()
    }

    /// Where data goes in.
    #[must_use]
    pub fn write_end(&self) -> BorrowedFd<'_> {
        self.write_end.as_fd()
    }

    /// The most bytes it can hold: also the most memory its pages can pin, however little is in each.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Whether a splice into it would find room, whatever the number of bytes in it says.
    ///
    /// A pipe is full when its slots are used up: 256 pieces of one byte fill a pipe of 1 MiB.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(&self.write_end, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now)));
        ready.is_ok_and(|count| count > 0) && fds[0].revents().contains(PollFlags::OUT)
    }
}

/// Makes pipes of one size within a budget, and keeps those that came back empty.
#[derive(Debug)]
pub struct Reservoir {
    size: Bytes,
    state: Mutex<Stock>,
}

#[derive(Debug)]
struct Stock {
    idle: Vec<Arc<OwnPipe>>,
    /// What may still be allotted to pipes that are made.
    budget_bytes: u64,
}

/// Idle pipes that are kept: each costs two descriptors and 10 KiB, and making one 10 µs.
const IDLE_PIPES: usize = 16;

impl Reservoir {
    /// Pipes of `size` each, at most `budget` together.
    #[must_use]
    pub fn new(size: Bytes, budget: Bytes) -> Self {
        let state = Stock { idle: Vec::new(), budget_bytes: budget.0 };
        Self { size, state: Mutex::new(state) }
    }

    /// An empty pipe; `None` when the budget is used up, or Linux gives no more or only smaller ones.
    #[must_use]
    pub fn draw(&self) -> Option<Arc<OwnPipe>> {
        let mut stock = self.stock();
        if let Some(pipe) = stock.idle.pop() {
            return Some(pipe);
        }
        stock.budget_bytes = stock.budget_bytes.checked_sub(self.size.0)?;
        match OwnPipe::new(self.size) {
            Ok(pipe) if pipe.capacity() == self.size => Some(Arc::new(pipe)),
            _ => {
                // The user's pipes are over their quota, or descriptors are used up: not worth asking each time.
                stock.budget_bytes = 0;
                None
            }
        }
    }

    /// Takes an empty pipe back.
    pub fn put_back(&self, pipe: Arc<OwnPipe>) {
        let mut stock = self.stock();
        if stock.idle.len() < IDLE_PIPES {
            stock.idle.push(pipe);
        } else {
            stock.budget_bytes += pipe.capacity().0;
        }
    }

    /// Capacity of each pipe.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.size
    }

    fn stock(&self) -> MutexGuard<'_, Stock> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much all pipes of this process may hold: half of what the user may have in pipes, without a bound for
/// those who are allowed more. Over the quota of a user, new pipes of *all* programs shrink to 8 KiB.
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

/// What became of a pipe of the user that was widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widened {
    before: Bytes,
    after: Bytes,
}

impl Widened {
    /// By how much it grew.
    #[must_use]
    pub fn gained(self) -> Bytes {
        Bytes(self.after.0.saturating_sub(self.before.0))
    }

    /// Puts the capacity of the pipe back, as far as what waits in it allows, unless someone else changed it meanwhile.
    pub fn put_back(self, fd: impl AsFd) {
        if capacity(&fd).is_ok_and(|now| now == self.after) {
            // Busy: more waits in it than would fit. It ends with its reader.
            let _ = set_capacity(&fd, self.before);
        }
    }
}

/// Gives the pipe behind `fd` at least `wanted` bytes of capacity; `None` when it is no pipe, is large enough or
/// Linux refuses.
pub fn widen(fd: impl AsFd, wanted: Bytes) -> Option<Widened> {
    let before = capacity(&fd).ok()?;
    if before >= wanted {
        return None;
    }
    let after = set_capacity(&fd, wanted).ok()?;
    Some(Widened { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{Patience, take};
    use std::io::Write;

    #[test]
    fn a_pipe_of_our_own_is_full_by_slots_not_by_bytes() {
        let own = OwnPipe::new(Bytes(65536)).unwrap();
        for _ in 0..16 {
            assert!(own.has_room());
            let (input, mut writer) = io::pipe().unwrap();
            writer.write_all(b"x").unwrap();
            take(&input, &own, 1, Patience::Never).unwrap();
        }
        assert!(!own.has_room());
    }

    #[test]
    fn the_budget_bounds_the_pipes_and_what_comes_back_is_used_again() {
        let reservoir = Reservoir::new(Bytes(65536), Bytes(2 * 65536 + 1));
        let first = reservoir.draw().unwrap();
        let _second = reservoir.draw().unwrap();
        assert!(reservoir.draw().is_none());
        let address = Arc::as_ptr(&first);
        reservoir.put_back(first);
        assert_eq!(Arc::as_ptr(&reservoir.draw().unwrap()), address);
    }

    #[test]
    fn pipes_that_are_not_kept_go_back_into_the_budget() {
        let count = 2 * IDLE_PIPES;
        let reservoir = Reservoir::new(Bytes(4096), Bytes(4096 * count as u64));
        for _ in 0..3 {
            let pipes: Vec<_> = (0..count).map(|_| reservoir.draw().unwrap()).collect();
            assert!(reservoir.draw().is_none());
            pipes.into_iter().for_each(|pipe| reservoir.put_back(pipe));
        }
    }

    #[test]
    fn a_widened_pipe_gets_its_capacity_back() {
        let (reader, _writer) = io::pipe().unwrap();
        let widened = widen(&reader, Bytes(1 << 18)).unwrap();
        assert_eq!(capacity(&reader).unwrap(), Bytes(1 << 18));
        assert_eq!(widened.gained(), Bytes((1 << 18) - 65536));
        widened.put_back(&reader);
        assert_eq!(capacity(&reader).unwrap(), Bytes(65536));
        assert!(widen(&reader, Bytes(65536)).is_none());
    }

    #[test]
    fn a_capacity_changed_by_someone_else_is_left_alone() {
        let (reader, writer) = io::pipe().unwrap();
        let widened = widen(&reader, Bytes(1 << 18)).unwrap();
        set_capacity(&writer, Bytes(1 << 17)).unwrap();
        widened.put_back(&reader);
        assert_eq!(capacity(&reader).unwrap(), Bytes(1 << 17));
    }
}
