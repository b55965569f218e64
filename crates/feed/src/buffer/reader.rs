//! What the reading thread can do: send input straight to the output, read it into memory, write it to the spill file.

use std::sync::Arc;
use std::time::Instant;

use fullbore_pipe::transfer::Moved;

use super::digest::Hasher;
use super::ends::Woken;
use super::error::Error;
use super::handoff::Room;
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

/// Whether there may be more to take in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
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

    pub(super) fn is_stopped(&self) -> bool {
        self.shared.handoff.is_stopped()
    }

    /// Says how it ended; what was read is in the queue or written.
    pub(super) fn finish(mut self, result: Result<(), Error>) {
        let failure = match result {
            Err(error @ Error::Writing(_)) => {
                self.shared.end(Err(error));
                None
            }
            Err(error) => Some(error),
            Ok(()) => None,
        };
        if failure.is_none()
            && !self.is_stopped()
            && let Some(hasher) = self.hasher.take()
        {
            self.shared.set_digest(hasher.finish());
        }
        // The writer leaves only after this.
        self.shared.handoff.close(failure);
    }

    /// Moves data straight from input to output while nothing waits and the output keeps pace; returns `None` when it
    /// must be copied.
    ///
    /// The read or write that follows finds out which side failed.
    pub(super) fn pass(&mut self) -> Option<Step> {
        if !self.shared.handoff.is_drained() {
            self.patience.renew();
            return None;
        }
        if !self.passes {
            return None;
        }
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

    /// Waits until a block may be filled: there is room in memory, or a spill file.
    pub(super) fn wait_for_room(&mut self) -> Room {
        if self.block.bytes.capacity() == 0 {
            self.block = self.shared.handoff.draw_block(self.shared.block_bytes);
        }
        if self.spill_end.is_some() {
            return Room::Granted;
        }
        self.wait_for_memory(self.block.bytes.capacity() as u64)
    }

    fn wait_for_memory(&self, cost_bytes: u64) -> Room {
        let handoff = &self.shared.handoff;
        match handoff.ask_for_room(cost_bytes) {
            Room::Full => {
                self.shared.clock.wait(Reason::Room, || handoff.wait_for_room(cost_bytes))
            }
            answer => answer,
        }
    }

    pub(super) fn wait_for_input(&self) -> Woken {
        self.shared.clock.wait(Reason::Input, || self.shared.source.wait())
    }

    /// Reads into the block, and returns how many bytes; 0 at the end.
    pub(super) fn read(&mut self) -> Result<usize, Error> {
        let count = self.shared.source.read(&mut self.block)?;
        self.shared.count_read(count);
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.block.bytes);
        }
        Ok(count)
    }

    /// Writes what the output takes without waiting, if nothing else waits for it.
    pub(super) fn write_at_once(&mut self) -> Result<(), Error> {
        let shared = &self.shared;
        if self.passes_on && shared.sink.takes_now() && shared.handoff.is_drained() {
            let written = shared.sink.write_now(&self.block.bytes)?;
            shared.count_written(written);
            self.block.bytes.drain(..written);
        }
        Ok(())
    }

    /// Stores what is left of the block: in the last one, in a new one, or on disk.
    pub(super) fn store(&mut self) {
        if self.block.bytes.is_empty() {
            return;
        }
        let handoff = &self.shared.handoff;
        let block = &mut self.block;
        if block.bytes.len() <= block.bytes.capacity() / 2 {
            let mut is_merged = false;
            handoff.put(|queue| is_merged = queue.merge(&block.bytes));
            if is_merged {
                block.bytes.clear();
                return;
            }
        }
        let cost_bytes = block.bytes.capacity() as u64;
        if handoff.ask_for_room(cost_bytes) == Room::Full {
            self.spill();
        }
        if !self.block.bytes.is_empty() {
            // Told to stop: this block was already read, so it still goes out.
            self.wait_for_memory(cost_bytes);
            let block = std::mem::take(&mut self.block);
            self.shared.handoff.put(|queue| queue.add_block(block));
        }
        self.block.bytes.clear();
    }

    /// Writes the block to the spill file; what the file refuses stays in the block.
    fn spill(&mut self) {
        let (Some(spill), Some(end)) = (&self.shared.spill, &mut self.spill_end) else { return };
        let handoff = &self.shared.handoff;
        if *end > 0 && handoff.with_queue(|queue| queue.spilled_bytes() == 0) {
            spill.restart();
            *end = 0;
        }
        let (written, refusal) = spill.write(&self.block.bytes, *end);
        if written > 0 {
            let offset = *end;
            *end += written as u64;
            handoff.put(|queue| queue.add_spilled(offset, written as u64));
            self.block.bytes.drain(..written);
        }
        if let Some(refusal) = refusal {
            self.spill_end = None;
            (self.shared.on_event)(Event::SpillRefused(refusal));
        }
    }
}
