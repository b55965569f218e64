//! Connects reader and writer: the queue, and what they wait for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::Error;
use super::options::Watermarks;
use super::queue::{Block, Job, Queue};

/// The queue and its locks.
#[derive(Debug)]
pub(super) struct Handoff {
    state: Mutex<State>,
    /// The writer waits here for something to write.
    data: Condvar,
    /// The reader waits here for room.
    room: Condvar,
    /// Copy of the queue's count that can be read without the lock.
    queued_bytes: AtomicU64,
    is_stopped: AtomicBool,
    watermarks: Watermarks,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    /// The reader has left, so nothing more comes.
    is_over: bool,
    failure: Option<Error>,
    asleep: Asleep,
    /// Whether the writer may write: from the moment the fill reaches the start watermark until it falls to the stop
    /// watermark.
    is_released: bool,
    /// Blocks for reuse, still warm in the cache.
    blocks: Vec<Block>,
}

/// Which threads sleep and must be woken.
#[derive(Debug, Default)]
struct Asleep {
    writer: bool,
    reader: bool,
}

/// Blocks kept for reuse: as many as the two threads can hold, and some more.
const IDLE_BLOCKS: usize = 8;

/// The answer to a reader that asks for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The bytes fit.
    Granted,
    /// The limit is reached.
    Full,
    /// The buffer takes no more input.
    Stopped,
}

impl Handoff {
    pub(super) fn new(limit_bytes: u64, watermarks: Watermarks) -> Self {
        let state = State {
            queue: Queue::new(limit_bytes),
            is_over: false,
            failure: None,
            asleep: Asleep::default(),
            is_released: false,
            blocks: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            data: Condvar::new(),
            room: Condvar::new(),
            queued_bytes: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            watermarks,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether everything put in has been written. The writer then sleeps, and the reader may write itself.
    pub(super) fn is_drained(&self) -> bool {
        self.queued_bytes.load(Ordering::Acquire) == 0
    }

    /// Tells whether the reader was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Tells the reader to stop: it reads no more, queues what it has, and leaves.
    pub(super) fn stop(&self) {
        let _state = self.lock();
        self.is_stopped.store(true, Ordering::SeqCst);
        self.room.notify_all();
    }

    /// Records that the reader leaves because the input ended, failed, or is no longer wanted.
    pub(super) fn close(&self, failure: Option<Error>) {
        let mut state = self.lock();
        state.failure = failure;
        state.is_over = true;
        self.data.notify_all();
    }

    /// Passes the queue to `read` under the lock.
    pub(super) fn with_queue<T>(&self, read: impl FnOnce(&Queue) -> T) -> T {
        read(&self.lock().queue)
    }

    // ── Called by the reader ──

    /// Asks for room without waiting.
    pub(super) fn ask_for_room(&self, cost_bytes: u64) -> Room {
        self.grant(&self.lock(), cost_bytes)
    }

    /// Waits until this much fits.
    pub(super) fn wait_for_room(&self, cost_bytes: u64) -> Room {
        let mut state = self.lock();
        loop {
            match self.grant(&state, cost_bytes) {
                Room::Full => {}
                answer => return answer,
            }
            state.asleep.reader = true;
            // A writer that waits for its watermark must not wait for more than fits.
            self.data.notify_one();
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep.reader = false;
        }
    }

    fn grant(&self, state: &State, cost_bytes: u64) -> Room {
        match () {
            () if self.is_stopped() => Room::Stopped,
            () if state.queue.has_room(cost_bytes) => Room::Granted,
            () => Room::Full,
        }
    }

    /// Adds something to the queue.
    pub(super) fn put(&self, add: impl FnOnce(&mut Queue)) {
        let mut state = self.lock();
        add(&mut state.queue);
        self.publish(&state);
        if state.asleep.writer && self.may_write(&state) {
            state.asleep.writer = false;
            self.data.notify_one();
        }
    }

    /// Returns an empty block.
    pub(super) fn draw_block(&self, capacity_bytes: usize) -> Block {
        let kept = self.lock().blocks.pop();
        kept.unwrap_or_else(|| Block::with_capacity(capacity_bytes))
    }

    // ── Called by the writer ──

    /// Waits for something to write; returns `None` when everything was written.
    pub(super) fn next(&self, spill_bytes: u64) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if self.may_write(&state) {
                state.is_released = true;
                return state.queue.next(spill_bytes);
            }
            if state.is_over && state.queue.queued_bytes() == 0 {
                return None;
            }
            state.asleep.writer = true;
            state = self.data.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep.writer = false;
        }
    }

    fn may_write(&self, state: &State) -> bool {
        let queue = &state.queue;
        queue.queued_bytes() > 0
            && (state.is_released
                || state.is_over
                || state.asleep.reader
                || queue.spilled_bytes() > 0
                || queue.fill_percent() >= self.watermarks.start_percent)
    }

    /// Records that bytes held by the writer were written.
    pub(super) fn wrote(&self, bytes: u64) {
        let mut state = self.lock();
        state.queue.advance(bytes);
        self.after_handing_on(state, false);
    }

    /// Takes back a block that the writer has finished.
    pub(super) fn put_back(&self, mut block: Block) {
        let mut state = self.lock();
        state.queue.hand_back(&block);
        block.bytes.clear();
        if state.blocks.len() < IDLE_BLOCKS {
            state.blocks.push(block);
        }
        self.after_handing_on(state, true);
    }

    /// Records that the writer has finished a part of the spill file.
    pub(super) fn unspilled(&self, bytes: u64) {
        let mut state = self.lock();
        state.queue.unspill(bytes);
        self.after_handing_on(state, false);
    }

    fn after_handing_on(&self, mut state: MutexGuard<'_, State>, has_room: bool) {
        if state.queue.fill_percent() <= self.watermarks.stop_percent {
            state.is_released = false;
        }
        self.publish(&state);
        if has_room && state.asleep.reader {
            self.room.notify_one();
        }
    }

    fn publish(&self, state: &State) {
        self.queued_bytes.store(state.queue.queued_bytes(), Ordering::Release);
    }

    /// Returns what ended the input early, if anything did.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }
}
