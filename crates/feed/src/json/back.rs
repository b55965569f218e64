//! The order of the blocks: which one may be worked on, and which one is written next.

use std::collections::{BTreeMap, VecDeque};

use super::between::Between;
use super::job::Job;
use super::outcome::{Invalid, RunError, Spot};

/// Blocks that may wait for earlier ones, besides one for each worker.
const WAITING: usize = 2;
/// So many blocks more that end within a record than those that do not mean that records span lines.
const MOST_MISSES: u32 = 4;

/// What is known of all blocks that were taken.
pub(super) struct Back<E> {
    pub(super) order: Order<E>,
    /// Finished blocks that wait for their turn to be written.
    done: BTreeMap<u64, Job<E>>,
    /// How many blocks were written.
    written: u64,
    /// Whether a worker is writing.
    is_writing: bool,
    /// Memory for blocks, and how many more may be made.
    free: Vec<Job<E>>,
    not_yet: usize,
    /// How many blocks there are in all, once that is known.
    pub(super) total: Option<u64>,
    pub(super) end: End<E>,
}

/// What the caller is told.
pub(super) struct End<E> {
    pub(super) failure: Option<RunError<E>>,
    pub(super) invalid: Option<Invalid>,
    pub(super) skipped: u64,
    pub(super) first_skipped: Option<Spot>,
    pub(super) spans_lines: Option<Spot>,
}

/// The order in which blocks are found to begin between two records.
pub(super) struct Order<E> {
    /// What the resolved blocks left; `None` while a worker joins it with the next block.
    between: Option<Between>,
    /// How many blocks were resolved: it is known where the next one begins.
    resolved: u64,
    /// How many blocks were asked for.
    granted: u64,
    /// Blocks that wait for the one before them.
    waiting: BTreeMap<u64, Job<E>>,
    /// Blocks that are ready for the task.
    ready: VecDeque<Job<E>>,
    misses: u32,
    /// Whether one block is resolved after the other, because records span lines.
    pub(super) is_alone: bool,
}

/// What a worker can do next.
pub(super) enum Step<E> {
    /// Give this block to the task.
    Process(Job<E>),
    /// Read a block into this memory.
    Take(Job<E>),
    /// Nothing yet.
    Wait,
    /// Nothing any more.
    Over,
}

impl<E> Default for End<E> {
    fn default() -> Self {
        Self { failure: None, invalid: None, skipped: 0, first_skipped: None, spans_lines: None }
    }
}

impl<E> End<E> {
    /// Counts the errors that were skipped in the next block.
    fn note_skipped(&mut self, job: &Job<E>) {
        if job.skipped > 0 && self.skipped == 0 {
            let first = job.found.parts().iter().find_map(|part| part.wrong.as_ref());
            self.first_skipped = first.map(|wrong| job.spot(wrong));
        }
        self.skipped += job.skipped;
    }
}

impl<E> Back<E> {
    pub(super) fn new(workers: usize) -> Self {
        let order = Order {
            between: Some(Between::default()),
            resolved: 0,
            granted: 0,
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            misses: 0,
            is_alone: workers == 1,
        };
        Self {
            order,
            done: BTreeMap::new(),
            written: 0,
            is_writing: false,
            free: Vec::new(),
            not_yet: workers + WAITING,
            total: None,
            end: End::default(),
        }
    }

    /// Returns what a worker can do next.
    pub(super) fn next(&mut self) -> Step<E> {
        if self.is_over() {
            return Step::Over;
        }
        while let Some(mut job) = self.order.ready.pop_front() {
            if self.total.is_none_or(|total| job.number < total) {
                return Step::Process(job);
            }
            job.clear();
            self.free.push(job);
        }
        let is_turn = !self.order.is_alone || self.order.granted == self.order.resolved;
        if self.total.is_some() || !is_turn {
            return Step::Wait;
        }
        if self.free.is_empty() && self.not_yet > 0 {
            self.not_yet -= 1;
            self.free.push(Job::default());
        }
        match self.free.pop() {
            Some(job) => {
                self.order.granted += 1;
                Step::Take(job)
            }
            None => Step::Wait,
        }
    }

    /// Takes back memory for which there was no block.
    pub(super) fn give_back(&mut self, job: Job<E>) {
        self.order.granted -= 1;
        self.free.push(job);
    }

    /// Tells whether nothing is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.total.is_some_and(|total| self.written >= total)
    }

    /// Says that nothing comes after so many blocks.
    pub(super) fn end_after(&mut self, blocks: u64) {
        self.total = Some(self.total.map_or(blocks, |total| total.min(blocks)));
    }

    /// Ends everything at once.
    pub(super) fn fail(&mut self, failure: RunError<E>) {
        self.end.failure.get_or_insert(failure);
        self.total = Some(0);
    }

    /// Takes a finished block.
    pub(super) fn finish(&mut self, job: Job<E>) {
        if job.fault.is_some() {
            self.end_after(job.number + 1);
        }
        self.done.insert(job.number, job);
    }

    /// Returns the block to write next, if it is there and nobody else is writing. Afterwards call [`wrote`](Self::wrote).
    pub(super) fn next_to_write(&mut self) -> Option<Job<E>> {
        if self.is_writing || self.is_over() {
            return None;
        }
        let job = self.done.remove(&self.written)?;
        self.is_writing = true;
        Some(job)
    }

    pub(super) fn wrote(&mut self, mut job: Job<E>) {
        self.end.note_skipped(&job);
        self.is_writing = false;
        self.written += 1;
        job.clear();
        self.free.push(job);
    }
}

impl<E> Order<E> {
    /// Takes a block that was read, and perhaps scanned.
    pub(super) fn add(&mut self, job: Job<E>) {
        self.waiting.insert(job.number, job);
    }

    /// Returns the next block, and what was left for it, if both are there. Afterwards call [`resolve`](Self::resolve).
    pub(super) fn next(&mut self) -> Option<(Between, Job<E>)> {
        self.between.as_ref()?;
        let job = self.waiting.remove(&self.resolved)?;
        Some((self.between.take()?, job))
    }

    /// Takes a block back that was scanned where it really begins, and what it leaves.
    pub(super) fn resolve(&mut self, between: Between, job: Job<E>) {
        if !between.is_clear() && job.block.ends_line {
            self.misses += 1;
            self.is_alone |= self.misses >= MOST_MISSES;
        } else {
            self.misses = self.misses.saturating_sub(1);
        }
        self.between = Some(between);
        self.resolved += 1;
        self.ready.push_back(job);
    }
}
