//! Keeps what waits, in order, and counts its memory. Nothing here can block or fail.

use std::collections::VecDeque;

/// Bytes in memory.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The bytes. Their capacity is the memory that the block costs.
    pub(super) bytes: Vec<u8>,
}

impl Block {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    fn cost(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}

/// A part of the stream in the queue.
#[derive(Debug)]
enum Segment {
    /// In memory.
    Memory(Block),
    /// In the spill file, from this offset; it costs no memory.
    Spill { offset: u64, bytes: u64 },
}

/// What the writer writes next.
#[derive(Debug)]
pub(super) enum Job {
    /// This block, which has left the queue but counts until [`Queue::hand_back`].
    Memory(Block),
    /// This part of the spill file, which counts until [`Queue::unspill`].
    Spill { offset: u64, bytes: u64 },
}

/// The part of the stream between reader and writer.
#[derive(Debug)]
pub(super) struct Queue {
    segments: VecDeque<Segment>,
    limit_bytes: u64,
    queued_bytes: u64,
    memory_bytes: u64,
    spilled_bytes: u64,
}

impl Queue {
    /// Makes an empty queue that may hold `limit_bytes` of memory.
    pub(super) fn new(limit_bytes: u64) -> Self {
        let segments = VecDeque::new();
        Self { segments, limit_bytes, queued_bytes: 0, memory_bytes: 0, spilled_bytes: 0 }
    }

    /// Returns how many bytes of the stream the writer has not written yet.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.queued_bytes
    }

    /// Returns how much memory they hold. It never exceeds the limit as long as callers ask [`Self::has_room`] first.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Returns how many bytes wait in the spill file.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes
    }

    /// Returns the memory limit.
    pub(super) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Returns the memory held, in percent of the limit.
    pub(super) fn fill_percent(&self) -> f64 {
        self.memory_bytes as f64 * 100.0 / self.limit_bytes as f64
    }

    /// Tells whether this much more memory fits below the limit.
    pub(super) fn has_room(&self, cost_bytes: u64) -> bool {
        self.memory_bytes + cost_bytes <= self.limit_bytes
    }

    /// Appends to the last block if it has room left; otherwise returns `false`.
    pub(super) fn merge(&mut self, data: &[u8]) -> bool {
        match self.segments.back_mut() {
            Some(Segment::Memory(last))
                if last.bytes.capacity() - last.bytes.len() >= data.len() =>
            {
                last.bytes.extend_from_slice(data);
                self.queued_bytes += data.len() as u64;
                true
            }
            _ => false,
        }
    }

    /// Appends a block.
    pub(super) fn add_block(&mut self, block: Block) {
        self.queued_bytes += block.bytes.len() as u64;
        self.memory_bytes += block.cost();
        self.segments.push_back(Segment::Memory(block));
    }

    /// Appends bytes that were written to the spill file.
    pub(super) fn add_spilled(&mut self, offset: u64, added: u64) {
        self.queued_bytes += added;
        self.spilled_bytes += added;
        if let Some(Segment::Spill { offset: start, bytes }) = self.segments.back_mut()
            && *start + *bytes == offset
        {
            *bytes += added;
            return;
        }
        self.segments.push_back(Segment::Spill { offset, bytes: added });
    }

    /// Returns what comes next, with at most `spill_bytes` of the spill file at once.
    pub(super) fn next(&mut self, spill_bytes: u64) -> Option<Job> {
        match self.segments.front_mut()? {
            Segment::Memory(_) => {
                let Some(Segment::Memory(block)) = self.segments.pop_front() else { return None };
                Some(Job::Memory(block))
            }
            Segment::Spill { offset, bytes } => {
                let taken = spill_bytes.min(*bytes);
                let job = Job::Spill { offset: *offset, bytes: taken };
                *offset += taken;
                *bytes -= taken;
                if *bytes == 0 {
                    self.segments.pop_front();
                }
                Some(job)
            }
        }
    }

    /// Records that bytes of the writer's block or part of the spill file were written.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.queued_bytes -= bytes;
    }

    /// Records that the writer has finished this block.
    pub(super) fn hand_back(&mut self, block: &Block) {
        self.memory_bytes -= block.cost();
    }

    /// Records that the writer has finished this many bytes of the spill file.
    pub(super) fn unspill(&mut self, bytes: u64) {
        self.spilled_bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLOCK_BYTES: usize = 64;
    const LIMIT_BYTES: u64 = 20 * BLOCK_BYTES as u64;

    #[derive(Clone, Debug)]
    enum Step {
        Block(usize),
        Spilled(u64),
        HandOn(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (1..=BLOCK_BYTES).prop_map(Step::Block),
            (1..200u64).prop_map(Step::Spilled),
            (1..100u64).prop_map(Step::HandOn),
            (1..100u64).prop_map(Step::HandOn),
        ];
        prop::collection::vec(step, 0..200)
    }

    /// Compares the queue with a list of numbers: each byte of the stream is the low byte of its position.
    struct Model {
        queue: Queue,
        spill: Vec<u8>,
        put: u64,
        got: u64,
    }

    impl Model {
        fn new() -> Self {
            Self { queue: Queue::new(LIMIT_BYTES), spill: Vec::new(), put: 0, got: 0 }
        }

        fn stream(&mut self, count: u64) -> Vec<u8> {
            let bytes =
                (self.put..self.put + count).map(|position| position.to_le_bytes()[0]).collect();
            self.put += count;
            bytes
        }

        fn check(&mut self, bytes: &[u8]) {
            for byte in bytes {
                assert_eq!(*byte, self.got.to_le_bytes()[0], "at {}", self.got);
                self.got += 1;
            }
        }

        fn step(&mut self, step: &Step) {
            match step {
                Step::Block(count) => {
                    if self.queue.has_room(BLOCK_BYTES as u64) {
                        let bytes = self.stream(*count as u64);
                        if !self.queue.merge(&bytes) {
                            let mut block = Block::with_capacity(BLOCK_BYTES);
                            block.bytes.extend_from_slice(&bytes);
                            self.queue.add_block(block);
                        }
                    }
                }
                Step::Spilled(count) => {
                    let bytes = self.stream(*count);
                    let offset = self.spill.len() as u64;
                    self.spill.extend(bytes);
                    self.queue.add_spilled(offset, *count);
                }
                Step::HandOn(most) => self.hand_on(*most),
            }
        }

        fn hand_on(&mut self, most: u64) {
            match self.queue.next(most) {
                None => assert_eq!(self.got, self.put),
                Some(Job::Memory(block)) => {
                    self.check(&block.bytes);
                    self.queue.advance(block.bytes.len() as u64);
                    self.queue.hand_back(&block);
                }
                Some(Job::Spill { offset, bytes }) => {
                    let part =
                        usize::try_from(offset).unwrap()..usize::try_from(offset + bytes).unwrap();
                    let part = self.spill[part].to_vec();
                    self.check(&part);
                    self.queue.advance(bytes);
                    self.queue.unspill(bytes);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_come_out_in_order_and_memory_stays_within_the_limit(steps in steps()) {
            let mut model = Model::new();
            for step in &steps {
                model.step(step);
                prop_assert_eq!(model.queue.queued_bytes(), model.put - model.got);
                prop_assert!(model.queue.memory_bytes() <= LIMIT_BYTES);
                prop_assert!(model.queue.spilled_bytes() <= model.queue.queued_bytes());
            }
            while model.got < model.put {
                model.hand_on(50);
            }
            prop_assert_eq!(model.queue.memory_bytes(), 0);
            prop_assert_eq!(model.queue.spilled_bytes(), 0);
            prop_assert_eq!(model.queue.queued_bytes(), 0);
        }
    }
}
