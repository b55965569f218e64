//! Lets tests that measure time run alone, and all others side by side.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct Gate {
    side_by_side: usize,
    alone: bool,
}

static GATE: Mutex<Gate> = Mutex::new(Gate { side_by_side: 0, alone: false });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// Passes this thread holds: a second one never waits, so a test cannot lock itself out.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Permission to run, given back when dropped.
pub(crate) struct Pass {
    is_first_of_thread: bool,
    alone: bool,
}

impl Pass {
    /// Waits until no other test runs alone.
    pub(crate) fn side_by_side() -> Self {
        let is_first_of_thread = HELD.get() == 0;
        HELD.set(HELD.get() + 1);
        if is_first_of_thread {
            let gate = CHANGED.wait_while(open(), |gate| gate.alone);
            gate.unwrap_or_else(PoisonError::into_inner).side_by_side += 1;
        }
        Self { is_first_of_thread, alone: false }
    }

    /// Waits until no other test runs at all.
    pub(crate) fn alone() -> Self {
        assert_eq!(HELD.get(), 0, "ask to be alone before anything else");
        HELD.set(1);
        let gate = CHANGED.wait_while(open(), |gate| gate.alone || gate.side_by_side > 0);
        gate.unwrap_or_else(PoisonError::into_inner).alone = true;
        Self { is_first_of_thread: true, alone: true }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        if self.is_first_of_thread {
            let mut gate = open();
            if self.alone {
                gate.alone = false;
            } else {
                gate.side_by_side -= 1;
            }
            CHANGED.notify_all();
        }
    }
}

fn open() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}
