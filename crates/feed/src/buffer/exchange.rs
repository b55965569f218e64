//! Where reader and writer meet: the queue, and what they wait for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use fullbore_pipe::{OwnPipe, Reservoir};

use super::Error;
use super::queue::{Block, Job, Queue};

/// When the writer begins and pauses, in percent of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watermarks {
    /// It begins when the fill reaches this, the input is over, or no more fits; 0: at once.
    pub start_percent: f64,
    /// It pauses when the fill is down to this, until the start is reached again.
    pub stop_percent: f64,
}

impl Default for Watermarks {
    fn default() -> Self {
        Self { start_percent: 0.0, stop_percent: 0.0 }
    }
}

/// The queue with its locks.
#[derive(Debug)]
pub(super) struct Exchange {
    state: Mutex<State>,
    /// The writer waits here for something to hand on.
    data: Condvar,
    /// The reader waits here for room.
    room: Condvar,
    /// Copy of the queue's count, to be read without the lock.
    queued_bytes: AtomicU64,
    is_stopped: AtomicBool,
    /// The reader has something that is neither in the queue nor handed on.
    is_in_hand: AtomicBool,
    watermarks: Watermarks,
    pipes: Reservoir,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    /// No more comes: the end of the input, a failure, or an order to stop.
    is_over: bool,
    /// The writer has left: nothing that comes now is handed on.
    is_left: bool,
    failure: Option<Error>,
    asleep: Asleep,
    /// Between reaching the start and the stop watermark.
    is_released: bool,
    /// Blocks to be used again, still warm.
    blocks: Vec<Block>,
}

/// Who has to be woken up.
#[derive(Debug, Default)]
struct Asleep {
    writer: bool,
    reader: bool,
}

/// Blocks kept for use again: as many as the two threads can have in hand, and some.
const IDLE_BLOCKS: usize = 8;

/// What the reader was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// That much fits.
    Granted,
    /// The limit is reached.
    Full,
    /// Nothing more is wanted.
    Stopped,
}

impl Exchange {
    pub(super) fn new(limit_bytes: u64, watermarks: Watermarks, pipes: Reservoir) -> Self {
        let state = State {
            queue: Queue::new(limit_bytes),
            is_over: false,
            is_left: false,
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
            is_in_hand: AtomicBool::new(false),
            watermarks,
            pipes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everything that was put in has been handed on: then the writer sleeps, and the reader may write.
    pub(super) fn is_drained(&self) -> bool {
        self.queued_bytes.load(Ordering::Acquire) == 0
    }

    /// Whether the reader was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Tells the reader to stop: what it has taken is handed on, and no more is taken.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        self.is_stopped.store(true, Ordering::SeqCst);
        state.is_over = true;
        self.data.notify_all();
        self.room.notify_all();
    }

    /// The input is over.
    pub(super) fn close(&self, failure: Option<Error>) {
        let mut state = self.lock();
        if !state.is_over {
            state.failure = failure;
        }
        state.is_over = true;
        self.data.notify_all();
    }

    /// A look at the numbers of the queue.
    pub(super) fn with_queue<T>(&self, look: impl FnOnce(&Queue) -> T) -> T {
        look(&self.lock().queue)
    }

    // ── the reader's side ──

    /// The reader has taken something: the writer does not leave before it is in the queue or handed on.
    pub(super) fn take_in_hand(&self) {
        self.is_in_hand.store(true, Ordering::SeqCst);
    }

    /// The reader has nothing in its hands.
    pub(super) fn empty_hands(&self) {
        if self.is_in_hand.swap(false, Ordering::SeqCst) && self.is_stopped() {
            // The writer looks at both under the lock: it sees this, or waits already.
            let _state = self.lock();
            self.data.notify_all();
        }
    }

    /// Asks for room without waiting.
    pub(super) fn ask_for_room(&self, cost_bytes: u64) -> Room {
        self.grant(&self.lock(), cost_bytes)
    }

    /// Waits until that much fits.
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

    /// Puts something into the queue, unless the writer has left.
    pub(super) fn put(&self, add: impl FnOnce(&mut Queue)) {
        let mut state = self.lock();
        if state.is_left {
            return;
        }
        add(&mut state.queue);
        self.publish(&state);
        if state.asleep.writer && self.may_write(&state) {
            state.asleep.writer = false;
            self.data.notify_one();
        }
    }

    /// An empty pipe.
    pub(super) fn draw_pipe(&self) -> Option<Arc<OwnPipe>> {
        self.pipes.draw()
    }

    /// The reader is through with a pipe; the last one to hold it gives it back.
    pub(super) fn release_pipe(&self, pipe: Arc<OwnPipe>) {
        let _state = self.lock();
        self.give_back(pipe);
    }

    fn give_back(&self, pipe: Arc<OwnPipe>) {
        if Arc::strong_count(&pipe) == 1 {
            self.pipes.put_back(pipe);
        }
    }

    /// An empty block.
    pub(super) fn draw_block(&self, capacity_bytes: usize) -> Block {
        let kept = self.lock().blocks.pop();
        kept.unwrap_or_else(|| Block::with_capacity(capacity_bytes))
    }

    // ── the writer's side ──

    /// Waits for something to hand on; `None` when that was all.
    pub(super) fn next(&self, spill_bytes: u64) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if self.may_write(&state) {
                state.is_released = true;
                return state.queue.next(spill_bytes);
            }
            let is_empty = state.queue.queued_bytes() == 0;
            if state.is_over && is_empty && !self.is_in_hand.load(Ordering::SeqCst) {
                state.is_left = true;
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

    /// Bytes of the pipe at the front were handed on.
    pub(super) fn gave(&self, pipe: Arc<OwnPipe>, bytes: u64) {
        let mut state = self.lock();
        let emptied = state.queue.advance_pipe(bytes);
        drop(pipe);
        let has_room = emptied.is_some();
        if let Some(pipe) = emptied {
            self.give_back(pipe);
        }
        self.after_handing_on(state, has_room);
    }

    /// Bytes in the writer's hands were handed on.
    pub(super) fn wrote(&self, bytes: u64) {
        let mut state = self.lock();
        state.queue.advance(bytes);
        self.after_handing_on(state, false);
    }

    /// The writer is through with a block.
    pub(super) fn put_back(&self, mut block: Block) {
        let mut state = self.lock();
        state.queue.hand_back(&block);
        block.bytes.clear();
        if state.blocks.len() < IDLE_BLOCKS {
            state.blocks.push(block);
        }
        self.after_handing_on(state, true);
    }

    /// The writer is through with a part of the spill file.
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

    /// What ended the input early, if anything did.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }
}
