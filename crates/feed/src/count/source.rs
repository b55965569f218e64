//! Cuts the inputs into blocks of whole lines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fullbore_codec::lines::whole_lines;

use super::error::CountError;
use super::stop::Stop;
use crate::Input;

/// Size of a block: it stays in the second-level cache. A longer line makes its block longer.
const BLOCK_BYTES: usize = 512 << 10;

/// A block of whole lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    memory: Vec<u8>,
    len: usize,
    /// Where the block begins in the stream, in bytes.
    pub(super) position: u64,
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    /// Makes sure that there is room behind the first `len` bytes.
    fn make_room<E>(&mut self, len: usize) -> Result<(), CountError<E>> {
        if len == self.memory.len() { self.extend(len, len.max(BLOCK_BYTES)) } else { Ok(()) }
    }

    /// Makes sure that there is room for `more` bytes behind the first `len`.
    fn extend<E>(&mut self, len: usize, more: usize) -> Result<(), CountError<E>> {
        let missing = (len + more).saturating_sub(self.memory.len());
        let reserved = self.memory.try_reserve_exact(missing);
        reserved.map_err(|_| CountError::Memory { bytes: len })?;
        self.memory.resize(self.memory.len() + missing, 0);
        Ok(())
    }

    /// Gives back the memory that a long line took.
    fn shrink(&mut self, needed: usize) {
        let needed = needed.max(BLOCK_BYTES);
        if self.memory.len() > 4 * needed {
            self.memory = Vec::new();
        }
    }
}

/// The inputs, one after the other.
#[derive(Debug)]
pub(super) struct Source<I> {
    inputs: I,
    input: Option<Input>,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    end: u8,
    position: u64,
    begun: Instant,
    reading: Duration,
    stop: Option<Arc<Stop>>,
}

impl<I: Iterator<Item = Result<Input, E>>, E> Source<I> {
    pub(super) fn new(inputs: I, end: u8) -> Self {
        let (input, rest) = (None, Vec::new());
        let (begun, reading) = (Instant::now(), Duration::ZERO);
        Self { inputs, input, rest, end, position: 0, begun, reading, stop: None }
    }

    /// Returns how many bytes of whole lines were taken.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Returns which part of the time went into reading.
    pub(super) fn reading_share(&self) -> f64 {
        self.reading.as_secs_f64() / self.begun.elapsed().as_secs_f64().max(1e-9)
    }

    /// From now on, waits for input only until `stop` ends the wait; a block that is filled then stays empty.
    pub(super) fn stop_at(&mut self, stop: Arc<Stop>) {
        self.stop = Some(stop);
    }

    /// Fills `block` with whole lines; it stays empty at the end. The last line of every input gets an end if it has
    /// none.
    pub(super) fn take(&mut self, block: &mut Block) -> Result<(), CountError<E>> {
        let begin = Instant::now();
        let taken = self.fill(block);
        self.reading += begin.elapsed();
        taken
    }

    fn fill(&mut self, block: &mut Block) -> Result<(), CountError<E>> {
        block.shrink(self.rest.len());
        block.len = 0;
        block.position = self.position;
        let mut len = self.rest.len();
        block.extend(len, BLOCK_BYTES)?;
        block.memory[..len].copy_from_slice(&self.rest);
        self.rest = Vec::new();
        loop {
            if len == block.memory.len() {
                block.len = whole_lines(&block.memory, self.end);
                if block.len > 0 {
                    break;
                }
            }
            block.make_room(len)?;
            let Some(input) = &mut self.input else {
                let Some(next) = self.inputs.next() else {
                    block.len = len;
                    break;
                };
                self.input = Some(next.map_err(CountError::Open)?);
                continue;
            };
            if self.stop.as_ref().is_some_and(|stop| stop.comes_before(input)) {
                return Ok(());
            }
            let count = input.read(&mut block.memory[len..])?;
            len += count;
            if count == 0 {
                self.input = None;
                if len > 0 && block.memory[len - 1] != self.end {
                    block.memory[len] = self.end;
                    len += 1;
                }
            }
        }
        let reserved = self.rest.try_reserve_exact(len - block.len);
        reserved.map_err(|_| CountError::Memory { bytes: len - block.len })?;
        self.rest.extend_from_slice(&block.memory[block.len..len]);
        self.position += block.len as u64;
        Ok(())
    }
}
