//! The thread that hands on what waits, at the consumer's pace or the rate that is allowed.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use fullbore_pipe::OwnPipe;
use fullbore_pipe::transfer::Patience;
use rustix::io::Errno;

use super::ends::{Copy, Spliced};
use super::pacer::Pacer;
use super::queue::{Block, Job};
use super::waits::Reason;
use super::{Error, Shared};

pub(super) struct Writer {
    shared: Arc<Shared>,
    pacer: Option<Pacer>,
    copies: Vec<Copy>,
    /// Where bytes go that come out of a pipe or the spill file and cannot be spliced.
    scratch: Block,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, pacer: Option<Pacer>, copies: Vec<Copy>) -> Self {
        Self { shared, pacer, copies, scratch: Block::default() }
    }

    /// Works until the input is over and everything was handed on, or the output fails.
    pub(super) fn run(mut self) {
        let result = self.hand_on_all();
        let shared = self.shared;
        shared.end(match (result, shared.exchange.take_failure()) {
            (Ok(()), Some(failure)) => Err(failure),
            (result, _) => result,
        });
        // After a failure, the reader need not go on.
        shared.exchange.stop();
    }

    fn hand_on_all(&mut self) -> Result<(), Error> {
        let scratch_bytes = self.shared.block_bytes as u64;
        loop {
            let shared = &self.shared;
            let next = shared.clock.wait(Reason::Data, || shared.exchange.next(scratch_bytes));
            match next {
                None => return Ok(()),
                Some(Job::Pipe(pipe, bytes)) => self.hand_on_pipe(pipe, bytes)?,
                Some(Job::Memory(block)) => {
                    self.hand_on(&block.bytes)?;
                    self.shared.exchange.put_back(block);
                }
                Some(Job::Spill { offset, bytes }) => self.hand_on_spilled(offset, bytes)?,
            }
        }
    }

    fn hand_on_pipe(&mut self, pipe: Arc<OwnPipe>, bytes: u64) -> Result<(), Error> {
        let at_most = self.wait_for_turn(bytes);
        let shared = &self.shared;
        let spliced = if self.copies.is_empty() {
            shared
                .clock
                .wait(Reason::Output, || shared.sink.give(&pipe, at_most, Patience::Waits))?
        } else {
            Spliced::Never
        };
        match spliced {
            Spliced::Bytes(count) => {
                shared.count_written(count);
                shared.exchange.gave(pipe, count as u64);
                self.spend(count);
                Ok(())
            }
            Spliced::Never => self.copy_out_of(&pipe, at_most),
            Spliced::WouldBlock | Spliced::End => Ok(()),
        }
    }

    /// Hands on what is in a pipe of ours by reading it.
    fn copy_out_of(&mut self, pipe: &Arc<OwnPipe>, at_most: usize) -> Result<(), Error> {
        let mut scratch = self.take_scratch();
        let wanted = at_most.min(scratch.bytes.capacity());
        scratch.bytes.resize(wanted, 0);
        let count = match rustix::io::read(pipe.read_end(), &mut scratch.bytes) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(errno) => return Err(Error::Reading(errno.into())),
        };
        let mut rest = &scratch.bytes[..count];
        while !rest.is_empty() {
            let written = self.write(rest)?;
            self.shared.exchange.gave(Arc::clone(pipe), written as u64);
            rest = &rest[written..];
        }
        self.scratch = scratch;
        Ok(())
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

    /// Writes to the output and then the same bytes to the other files.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let shared = Arc::clone(&self.shared);
        let written = shared.clock.wait(Reason::Output, || {
            let written = shared.sink.write(bytes)?;
            for copy in &mut self.copies {
                copy.file
                    .write_all(&bytes[..written])
                    .map_err(|source| Error::WritingCopy { path: copy.path.clone(), source })?;
            }
            Ok(written)
        })?;
        shared.count_written(written);
        self.spend(written);
        Ok(written)
    }

    /// Waits until something may go out; returns how much of `wanted`.
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
