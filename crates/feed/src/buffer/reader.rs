//! The thread that reads the input and sends it straight to the output, into memory, or to the spill file.

use std::sync::Arc;
use std::time::Instant;

use fullbore_pipe::transfer::Moved;

use super::digest::Hasher;
use super::ends::Woken;
use super::error::Error;
use super::exchange::Room;
use super::patience::Patience;
use super::queue::Block;
use super::shared::{Event, Shared};
use super::waits::Reason;

pub(super) struct Reader {
    shared: Arc<Shared>,
    /// Whether the reader may write to the output itself while nothing waits.
    passes_on: bool,
    /// Whether it may also splice from the input to the output.
    passes: bool,
    patience: Patience,
    block: Block,
    hasher: Option<Hasher>,
    /// Where the next bytes go in the spill file; `None` when there is no file or it refused.
    spill_end: Option<u64>,
}

/// The outcome of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    More,
    End,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, passes_on: bool, hasher: Option<Hasher>) -> Self {
        let spill_end = shared.spill.as_ref().map(|_| 0);
        Self {
            passes_on,
            passes: passes_on
                && hasher.is_none()
                && shared.source.is_pipe()
                && shared.sink.is_pipe(),
            patience: Patience::new(),
            block: Block::default(),
            hasher,
            spill_end,
            shared,
        }
    }

    /// Works until the input ends or fails, or the buffer stops.
    pub(super) fn run(mut self) {
        let failure = loop {
            if self.shared.exchange.is_stopped() {
                break None;
            }
            match self.round() {
                Ok(Step::More) => {}
                Ok(Step::End) => break None,
                Err(error @ Error::Writing(_)) => {
                    self.shared.end(Err(error));
                    break None;
                }
                Err(error) => break Some(error),
            }
        };
        if failure.is_none()
            && !self.shared.exchange.is_stopped()
            && let Some(hasher) = self.hasher.take()
        {
            self.shared.set_digest(hasher.finish());
        }
        // The writer leaves only after this, so everything that was read is in the queue or written.
        self.shared.exchange.close(failure);
    }

    fn round(&mut self) -> Result<Step, Error> {
        if self.shared.exchange.is_drained() {
            if self.passes
                && let Some(step) = self.pass()
            {
                return Ok(step);
            }
        } else {
            self.patience.renew();
        }
        self.by_memory()
    }

    /// Moves data straight from input to output as long as the output keeps pace; returns `None` when it must be
    /// copied.
    ///
    /// The read or write that follows finds out which side failed.
    fn pass(&mut self) -> Option<Step> {
        let shared = &self.shared;
        match shared.sink.pass(&shared.source) {
            Some(Moved::Bytes(bytes)) => {
                shared.count_read(bytes);
                shared.count_written(bytes);
                self.patience.earn(bytes);
                Some(Step::More)
            }
            Some(Moved::End) => Some(Step::End),
            Some(_) if shared.source.is_dry() => {
                self.patience.renew();
                shared.clock.wait(Reason::Input, || shared.source.wait());
                Some(Step::More)
            }
            Some(_) => self.wait_for_output().then_some(Step::More),
            None => {
                self.passes = false;
                None
            }
        }
    }

    /// Waits for a full output as long as that pays, and tells whether it takes more.
    fn wait_for_output(&mut self) -> bool {
        let at_most = self.patience.left();
        let begin = Instant::now();
        let shared = &self.shared;
        let is_ready =
            !at_most.is_zero() && shared.clock.wait(Reason::Output, || shared.sink.wait(at_most));
        self.patience.spend(begin.elapsed());
        is_ready
    }

    fn by_memory(&mut self) -> Result<Step, Error> {
        if self.block.bytes.capacity() == 0 {
            self.block = self.shared.exchange.draw_block(self.shared.block_bytes);
        }
        let cost_bytes = self.block.bytes.capacity() as u64;
        if self.spill_end.is_none() && self.wait_for_room(cost_bytes) == Room::Stopped {
            return Ok(Step::More);
        }
        let shared = &self.shared;
        let block = &mut self.block;
        if shared.clock.wait(Reason::Input, || shared.source.wait()) == Woken::Stop {
            return Ok(Step::More);
        }
        let count = shared.source.read(block)?;
        if count == 0 {
            return Ok(Step::End);
        }
        shared.count_read(count);
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&block.bytes);
        }
        if self.passes_on && shared.sink.takes_now() && shared.exchange.is_drained() {
            let written = shared.sink.write_now(&block.bytes)?;
            shared.count_written(written);
            block.bytes.drain(..written);
        }
        if !self.block.bytes.is_empty() {
            self.store();
        }
        Ok(Step::More)
    }

    fn wait_for_room(&self, cost_bytes: u64) -> Room {
        let exchange = &self.shared.exchange;
        match exchange.ask_for_room(cost_bytes) {
            Room::Full => {
                self.shared.clock.wait(Reason::Room, || exchange.wait_for_room(cost_bytes))
            }
            answer => answer,
        }
    }

    /// Stores the block: in the last one, in a new one, or on disk.
    fn store(&mut self) {
        let exchange = &self.shared.exchange;
        let block = &mut self.block;
        if block.bytes.len() <= block.bytes.capacity() / 2 {
            let mut is_merged = false;
            exchange.put(|queue| is_merged = queue.merge(&block.bytes));
            if is_merged {
                block.bytes.clear();
                return;
            }
        }
        let cost_bytes = block.bytes.capacity() as u64;
        if exchange.ask_for_room(cost_bytes) == Room::Full {
            self.spill();
        }
        if !self.block.bytes.is_empty() {
            // Told to stop: this block was already read, so it still goes out.
            self.wait_for_room(cost_bytes);
            let block = std::mem::take(&mut self.block);
            self.shared.exchange.put(|queue| queue.add_block(block));
        }
        self.block.bytes.clear();
    }

    /// Writes the block to the spill file; what the file refuses stays in the block.
    fn spill(&mut self) {
        let (Some(spill), Some(end)) = (&self.shared.spill, &mut self.spill_end) else { return };
        let exchange = &self.shared.exchange;
        if *end > 0 && exchange.with_queue(|queue| queue.spilled_bytes() == 0) {
            spill.restart();
            *end = 0;
        }
        let (written, refusal) = spill.write(&self.block.bytes, *end);
        if written > 0 {
            let offset = *end;
            *end += written as u64;
            exchange.put(|queue| queue.add_spilled(offset, written as u64));
            self.block.bytes.drain(..written);
        }
        if let Some(refusal) = refusal {
            self.spill_end = None;
            (self.shared.on_event)(Event::SpillRefused(refusal));
        }
    }
}
