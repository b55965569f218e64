//! The thread that writes what waits, at the consumer's pace or the permitted rate.

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

    /// Works until the input has ended and everything is written, or the output fails.
    pub(super) fn run(mut self) {
        let result = self.hand_on_all();
        let shared = self.shared;
        shared.end(match (result, shared.exchange.take_failure()) {
            (Ok(()), Some(failure)) => Err(failure),
            (result, _) => result,
        });
        // After a failure, the reader need not continue.
        shared.stop_reading();
    }

    fn hand_on_all(&mut self) -> Result<(), Error> {
        let scratch_bytes = self.shared.block_bytes as u64;
        loop {
            let shared = &self.shared;
            let next = shared.clock.wait(Reason::Data, || shared.exchange.next(scratch_bytes));
            match next {
                None => return Ok(()),
                Some(Job::Memory(block)) => {
                    self.hand_on(&block.bytes)?;
                    self.shared.exchange.put_back(block);
                }
                Some(Job::Spill { offset, bytes }) => self.hand_on_spilled(offset, bytes)?,
            }
        }
    }

    fn hand_on_spilled(&mut self, offset: u64, bytes: u64) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let Some(spill) = &shared.spill else { return Ok(()) };
        let mut scratch = self.take_scratch();
        scratch.bytes.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        spill.read(offset, &mut scratch.bytes).map_err(Error::ReadingSpill)?;
        self.hand_on(&scratch.bytes)?;
        self.scratch = scratch;
        spill.punch(offset, bytes);
        shared.exchange.unspilled(bytes);
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
    fn hand_on(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at_most = self.wait_for_turn(rest.len() as u64);
            let written = self.write(&rest[..at_most])?;
            self.shared.exchange.wrote(written as u64);
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
