//! What waits, in order, and how much memory it holds: bookkeeping only, nothing here can block or fail.

use std::collections::VecDeque;
use std::sync::Arc;

use fullbore_pipe::OwnPipe;

/// Bytes in memory.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The bytes; the capacity is what it costs.
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

/// A piece of the stream, at the place where it waits.
#[derive(Debug)]
enum Segment {
    /// In a pipe of our own; costs the whole capacity, which is the most its pages can pin.
    Pipe { pipe: Arc<OwnPipe>, bytes: u64 },
    /// In memory.
    Memory(Block),
    /// In the spill file, from this offset on; costs no memory.
    Spill { offset: u64, bytes: u64 },
}

/// What the writer is to hand on next.
#[derive(Debug)]
pub(super) enum Job {
    /// At most this many bytes of this pipe, which stays at the front.
    Pipe(Arc<OwnPipe>, u64),
    /// This block, which has left the queue but still counts until [`Queue::hand_back`].
    Memory(Block),
    /// This part of the spill file, which still counts until [`Queue::unspill`].
    Spill { offset: u64, bytes: u64 },
}

/// The stream between reader and writer.
#[derive(Debug)]
pub(super) struct Queue {
    segments: VecDeque<Segment>,
    limit_bytes: u64,
    queued_bytes: u64,
    memory_bytes: u64,
    spilled_bytes: u64,
}

impl Queue {
    /// An empty queue that may hold `limit_bytes` of memory.
    pub(super) fn new(limit_bytes: u64) -> Self {
        let segments = VecDeque::new();
        Self { segments, limit_bytes, queued_bytes: 0, memory_bytes: 0, spilled_bytes: 0 }
    }

    /// Bytes of the stream that the writer has not handed on yet.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.queued_bytes
    }

    /// Memory that they hold: never more than the limit, as long as [`Self::has_room`] was asked first.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Bytes that wait in the spill file.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes
    }

    /// The most memory they may hold.
    pub(super) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Memory in percent of the limit.
    pub(super) fn fill_percent(&self) -> f64 {
        self.memory_bytes as f64 * 100.0 / self.limit_bytes as f64
    }

    /// Whether something that costs this much fits below the limit.
    pub(super) fn has_room(&self, cost_bytes: u64) -> bool {
        self.memory_bytes + cost_bytes <= self.limit_bytes
    }

    /// Whether this pipe is the last place of the queue, so that more may go into it at no further cost.
    pub(super) fn ends_with(&self, pipe: &Arc<OwnPipe>) -> bool {
        matches!(self.segments.back(), Some(Segment::Pipe { pipe: last, .. }) if Arc::ptr_eq(last, pipe))
    }

    /// Bytes that were spliced into a pipe, behind everything else.
    pub(super) fn add_piped(&mut self, pipe: &Arc<OwnPipe>, added: u64) {
        self.queued_bytes += added;
        if let Some(Segment::Pipe { pipe: last, bytes }) = self.segments.back_mut()
            && Arc::ptr_eq(last, pipe)
        {
            *bytes += added;
            return;
        }
        self.memory_bytes += pipe.capacity().0;
        self.segments.push_back(Segment::Pipe { pipe: Arc::clone(pipe), bytes: added });
    }

    /// Appends to the last block when that has room left; `false` when it has not.
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

    /// A block, behind everything else.
    pub(super) fn add_block(&mut self, block: Block) {
        self.queued_bytes += block.bytes.len() as u64;
        self.memory_bytes += block.cost();
        self.segments.push_back(Segment::Memory(block));
    }

    /// Bytes that were written to the spill file, behind everything else.
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

    /// What comes next; at most `spill_bytes` of the spill file at once.
    pub(super) fn next(&mut self, spill_bytes: u64) -> Option<Job> {
        match self.segments.front_mut()? {
            Segment::Pipe { pipe, bytes } => Some(Job::Pipe(Arc::clone(pipe), *bytes)),
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

    /// Bytes that were handed on, of the block or the part of the spill file in the writer's hands.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.queued_bytes -= bytes;
    }

    /// Bytes that left the pipe at the front. When that was all, the pipe leaves the queue and is returned.
    pub(super) fn advance_pipe(&mut self, gone: u64) -> Option<Arc<OwnPipe>> {
        self.queued_bytes -= gone;
        let Some(Segment::Pipe { bytes, .. }) = self.segments.front_mut() else { return None };
        *bytes -= gone;
        if *bytes > 0 {
            return None;
        }
        let Some(Segment::Pipe { pipe, .. }) = self.segments.pop_front() else { return None };
        self.memory_bytes -= pipe.capacity().0;
        Some(pipe)
    }

    /// The writer is through with this block.
    pub(super) fn hand_back(&mut self, block: &Block) {
        self.memory_bytes -= block.cost();
    }

    /// The writer is through with this many bytes of the spill file.
    pub(super) fn unspill(&mut self, bytes: u64) {
        self.spilled_bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_measure::Bytes;
    use proptest::prelude::*;

    const PIPE_BYTES: u64 = 4096;
    const BLOCK_BYTES: usize = 64;
    const LIMIT_BYTES: u64 = 5 * PIPE_BYTES;

    #[derive(Clone, Debug)]
    enum Step {
        Piped(u64),
        NewPipe,
        Block(usize),
        Spilled(u64),
        HandOn(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (1..20u64).prop_map(Step::Piped),
            Just(Step::NewPipe),
            (1..=BLOCK_BYTES).prop_map(Step::Block),
            (1..200u64).prop_map(Step::Spilled),
            (1..100u64).prop_map(Step::HandOn),
            (1..100u64).prop_map(Step::HandOn),
        ];
        prop::collection::vec(step, 0..200)
    }

    /// The queue beside a list of numbers: each byte of the stream is the low byte of its place in it.
    struct Model {
        queue: Queue,
        pipe: Arc<OwnPipe>,
        spill: Vec<u8>,
        put: u64,
        got: u64,
    }

    impl Model {
        fn new() -> Self {
            let pipe = Arc::new(OwnPipe::new(Bytes(PIPE_BYTES)).unwrap());
            Self { queue: Queue::new(LIMIT_BYTES), pipe, spill: Vec::new(), put: 0, got: 0 }
        }

        fn stream(&mut self, count: u64) -> Vec<u8> {
            let bytes = (self.put..self.put + count).map(|place| place.to_le_bytes()[0]).collect();
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
                Step::Piped(count) => {
                    let fits = self.queue.ends_with(&self.pipe) || self.queue.has_room(PIPE_BYTES);
                    let in_use = Arc::strong_count(&self.pipe) > 1;
                    let is_last = self.queue.ends_with(&self.pipe);
                    if fits && self.pipe.has_room() && (is_last || !in_use) {
                        let bytes = self.stream(*count);
                        rustix::io::write(self.pipe.write_end(), &bytes).unwrap();
                        self.queue.add_piped(&self.pipe, *count);
                    }
                }
                Step::NewPipe => self.pipe = Arc::new(OwnPipe::new(Bytes(PIPE_BYTES)).unwrap()),
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
                Some(Job::Pipe(pipe, bytes)) => {
                    let mut buffer = vec![0; usize::try_from(bytes.min(most)).unwrap()];
                    let count = rustix::io::read(pipe.read_end(), &mut buffer).unwrap();
                    self.check(&buffer[..count]);
                    self.queue.advance_pipe(count as u64);
                }
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
        fn what_goes_in_comes_out_in_order_and_within_the_limit(steps in steps()) {
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
