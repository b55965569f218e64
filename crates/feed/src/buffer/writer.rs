//! What the writing thread can do: write what waits, at the consumer's pace or the permitted rate.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use fullbore_measure::Bytes;

use super::error::Error;
use super::options::Copy;
use super::pacer::Pacer;
use super::queue::{Block, Job};
use super::shared::Shared;
use super::waits::Reason;

pub(super) struct Writer {
    shared: Arc<Shared>,
    pacer: Option<Pacer>,
    /// Each copy with the bytes it has taken.
    copies: Vec<(Copy, u64)>,
    /// Receives bytes read back from the spill file.
    scratch: Block,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, pacer: Option<Pacer>, copies: Vec<Copy>) -> Self {
        let copies = copies.into_iter().map(|copy| (copy, 0)).collect();
        Self { shared, pacer, copies, scratch: Block::default() }
    }

    /// Waits for the next part of the queue to write; returns `None` when there will be none.
    pub(super) fn wait_for_data(&self) -> Option<Job> {
        let scratch_bytes = self.shared.block_bytes as u64;
        self.shared.clock.wait(Reason::Data, || self.shared.handoff.next(scratch_bytes))
    }

    /// Gives a block back that was written.
    pub(super) fn put_back(&self, block: Block) {
        self.shared.handoff.put_back(block);
    }

    /// Says how it ended.
    pub(super) fn finish(self, result: Result<(), Error>) {
        let shared = self.shared;
        shared.end(match (result, shared.handoff.take_failure()) {
            (Ok(()), Some(failure)) => Err(failure),
            (result, _) => result,
        });
        // After a failure, the reader need not continue.
        shared.stop_reading();
    }

    /// Writes bytes from the spill file, and gives their space on the disk back.
    pub(super) fn write_spilled(&mut self, offset: u64, bytes: u64) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let Some(spill) = &shared.spill else { return Ok(()) };
        let mut scratch = self.take_scratch();
        scratch.bytes.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        spill.read(offset, &mut scratch.bytes).map_err(Error::ReadingSpill)?;
        self.write_all(&scratch.bytes)?;
        self.scratch = scratch;
        spill.punch(offset, bytes);
        shared.handoff.unspilled(bytes);
        Ok(())
    }

    fn take_scratch(&mut self) -> Block {
        let scratch = std::mem::take(&mut self.scratch);
        if scratch.bytes.capacity() == 0 {
            return Block::with_capacity(self.shared.block_bytes);
        }
        scratch
    }

    /// Writes bytes that are in memory and counted in the queue.
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at_most = self.wait_for_turn(rest.len() as u64);
            let written = self.write(&rest[..at_most])?;
            self.shared.handoff.wrote(written as u64);
            rest = &rest[written..];
        }
        Ok(())
    }

    /// Writes to the output, then writes the same bytes to the copies.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let shared = Arc::clone(&self.shared);
        let written = shared.clock.wait(Reason::Output, || shared.sink.write(bytes))?;
        shared.count_written(written);
        self.spend(written);
        if !self.copies.is_empty() {
            shared.clock.wait(Reason::Output, || self.write_copies(&bytes[..written]))?;
        }
        Ok(written)
    }

    fn write_copies(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for (copy, copied) in &mut self.copies {
            let mut rest = bytes;
            while !rest.is_empty() {
                let failure = match copy.file.write(rest) {
                    Ok(0) => io::ErrorKind::WriteZero.into(),
                    Ok(count) => {
                        *copied += count as u64;
                        rest = &rest[count..];
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => error,
                };
                let (path, written) = (copy.path.clone(), Bytes(*copied));
                return Err(Error::WritingCopy { path, written, source: failure });
            }
        }
        Ok(())
    }

    /// Waits until bytes may go out, and returns how many of `wanted`.
    fn wait_for_turn(&mut self, wanted: u64) -> usize {
        let at_most = match &mut self.pacer {
            None => wanted,
            Some(pacer) => {
                let pause = pacer.pause(Instant::now());
                if !pause.is_zero() {
                    self.shared.clock.wait(Reason::Rate, || std::thread::sleep(pause));
                }
                pacer.piece_bytes().min(wanted)
            }
        };
        usize::try_from(at_most).unwrap_or(usize::MAX)
    }

    fn spend(&mut self, bytes: usize) {
        if let Some(pacer) = &mut self.pacer {
            pacer.spend(bytes as u64);
        }
    }
}
