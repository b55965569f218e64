//! Cuts the input into blocks of whole records.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fullbore_measure::Bytes;
use fullbore_pipe::{Lender, Loan, Widened, widen};
use rustix::io::Errno;

use super::caution::{Caution, Guard};
use super::fitting::Fitting;
use super::records::{Counted, Records, Search};
use super::store::{Growing, Look, Part, Whole};

/// Small blocks are cut from a stretch in memory that has at most so many bytes.
const STRETCH_BYTES: u64 = 1 << 20;

/// The capacity that a pipe on standard input gets: then its writer seldom waits.
const INPUT_PIPE: Bytes = Bytes(1 << 20);

/// After taking less than so much from a pipe, the reading thread naps: were it to wait for the next bytes, every write
/// of the producer would wake it.
const LITTLE_BYTES: usize = 256 << 10;

/// A pipe of 1 MiB takes longer to fill, even at 4 GB/s.
const NAP: Duration = Duration::from_micros(150);

/// Room for one read.
const READ_BYTES: usize = 1 << 20;

/// How large blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockSize {
    /// At most so many bytes, unless a single record is longer.
    Bytes(Bytes),
    /// As large as fits the speed of the copies, and at most so many bytes: so large that starting copies costs little,
    /// and so small that at the end no copy works alone for long. Where the same input is cut may differ from run to
    /// run.
    Fitting(Bytes),
    /// Exactly so many records; the last block may have fewer.
    Records(u64),
}

/// What is dealt out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source {
    /// A stream, read from here on.
    Stream(OwnedFd),
    /// A regular file from this offset to its end: nobody reads it but the copies of the command.
    File(File, u64),
}

/// A block of whole records.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Counted from 1.
    pub(super) number: u64,
    pub(super) part: Part,
    /// It ends within a record, or what follows must go to the same copy for another reason.
    pub(super) is_open: bool,
}

/// Why no block could be cut.
#[derive(Debug)]
pub(super) enum CutError {
    Reading(io::Error),
    /// There is no record end in so many bytes.
    NoEnd(u64),
}

impl From<io::Error> for CutError {
    fn from(error: io::Error) -> Self {
        Self::Reading(error)
    }
}

#[derive(Debug)]
struct Stream {
    fd: OwnedFd,
    widened: Option<Widened>,
    lender: Lender,
}

/// What is cut.
#[derive(Debug)]
enum Held {
    File(Arc<File>),
    /// A stretch of a stream, from which nothing has been cut.
    Growing(Growing),
    /// One from which blocks were cut.
    Frozen(Arc<Vec<Loan>>),
}

impl Look for Held {
    fn look(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.look(at, into),
            Self::Growing(growing) => growing.look(at, into),
            Self::Frozen(pieces) => pieces.look(at, into),
        }
    }
}

/// Yields the blocks of a source in order.
#[derive(Debug)]
pub(super) struct Cutter {
    /// `None` for a file.
    stream: Option<Stream>,
    held: Held,
    size: BlockSize,
    /// For [`BlockSize::Fitting`], and whether there is one copy.
    fitting: Arc<Fitting>,
    guard: Option<Guard>,
    search: Search,
    /// A record in memory may have so many bytes.
    most_bytes: u64,
    /// Number of the last block.
    number: u64,
    /// What was not cut yet lies between these.
    start: u64,
    filled: u64,
    has_ended: bool,
}

impl Cutter {
    pub(super) fn new(
        source: Source,
        (records, size): (Records, BlockSize),
        most_bytes: u64,
        (lender, fitting): (&Lender, Arc<Fitting>),
    ) -> io::Result<Self> {
        let (stream, held, start, filled) = match source {
            Source::Stream(stream) => {
                let growing = Held::Growing(Growing::new(lender));
                (Some(Stream::new(stream, lender)), growing, 0, 0)
            }
            Source::File(file, from) => {
                let end = file.metadata()?.len();
                (None, Held::File(Arc::new(file)), from.min(end), end)
            }
        };
        let has_ended = stream.is_none();
        let search = Search::new(records);
        let number = 0;
        Ok(Self {
            stream,
            held,
            size,
            fitting,
            guard: None,
            search,
            most_bytes,
            number,
            start,
            filled,
            has_ended,
        })
    }

    /// Looks at each block for what the command might not bear.
    pub(super) fn be_cautious(&mut self, caution: &Caution) {
        self.guard = Some(Guard::new(caution));
    }

    /// Begins with what was read of the source before, after a first block that is done.
    pub(super) fn begin_with(&mut self, rest: &[u8]) -> io::Result<()> {
        self.number = 1;
        if let Held::Growing(growing) = &mut self.held {
            growing.push(rest)?;
            self.filled = growing.len();
        }
        if let Held::File(_) = &self.held {
            self.start -= rest.len() as u64;
        }
        Ok(())
    }

    /// Takes the first lines of the input, which every copy gets.
    pub(super) fn header(&mut self, lines: u64) -> Result<Part, CutError> {
        let mut lines_search = Search::new(Records::EndByte(b'\n'));
        let mut known = Counted::nothing(self.start);
        let end = loop {
            match lines_search.nth(&self.held, known, self.filled, lines)? {
                Ok(end) => break end,
                Err(_) if self.has_ended => break self.filled,
                Err(counted) => known = counted,
            }
            self.grow()?;
        };
        Ok(self.cut(end))
    }

    /// The next block; `None` after the last. An input without a byte is one empty block.
    pub(super) fn next(&mut self) -> Result<Option<Block>, CutError> {
        if self.guard.is_some() {
            return self.next_guarded();
        }
        let end = match self.size {
            BlockSize::Records(count) => self.after_records(count)?,
            BlockSize::Bytes(_) | BlockSize::Fitting(_) => self.after_bytes(self.wanted())?,
        };
        if end == self.start && self.number > 0 {
            return Ok(None);
        }
        Ok(Some(self.block(end)))
    }

    /// One more block of what was read already.
    pub(super) fn at_hand(&mut self) -> Result<Option<Block>, CutError> {
        if self.guard.is_some() {
            return Ok(None);
        }
        let end = match self.size {
            BlockSize::Records(count) => {
                let known = Counted::nothing(self.start);
                self.search.nth(&self.held, known, self.filled, count)?.ok()
            }
            BlockSize::Bytes(_) | BlockSize::Fitting(_) => {
                let full = self.start.saturating_add(self.wanted());
                match self.filled > full {
                    true => self.search.last(&self.held, self.start, full)?,
                    false => None,
                }
            }
        };
        Ok(end.filter(|&end| end > self.start).map(|end| self.block(end)))
    }

    fn block(&mut self, end: u64) -> Block {
        self.number += 1;
        Block { number: self.number, part: self.cut(end), is_open: false }
    }

    /// The bytes that the next block should have.
    fn wanted(&self) -> u64 {
        match self.size {
            BlockSize::Bytes(bytes) => bytes.0,
            BlockSize::Fitting(most) => {
                let left = self.stream.is_none().then_some(self.filled - self.start);
                self.fitting.next(most.0, left, self.number)
            }
            BlockSize::Records(_) => STRETCH_BYTES,
        }
    }

    /// Takes everything up to a position.
    fn cut(&mut self, end: u64) -> Part {
        if let Held::Growing(growing) = &mut self.held {
            let growing = std::mem::replace(growing, Growing::new(growing.lender()));
            self.held = Held::Frozen(growing.freeze());
        }
        let whole = match &self.held {
            Held::File(file) => Whole::File(Arc::clone(file)),
            Held::Frozen(pieces) => Whole::Memory(Arc::clone(pieces)),
            Held::Growing(_) => Whole::Memory(Arc::default()),
        };
        let part = Part { whole, range: self.start..end };
        self.start = end;
        part
    }

    /// Where a block of at most so many bytes ends.
    fn after_bytes(&mut self, bytes: u64) -> Result<u64, CutError> {
        // Whether a byte follows decides whether this is the last block, so that a stream is cut as a file is.
        while self.filled - self.start <= bytes && !self.has_ended {
            self.fill(bytes - (self.filled - self.start) + 1)?;
        }
        let full = self.start.saturating_add(bytes);
        if self.filled <= full {
            return Ok(self.filled);
        }
        if let Some(end) = self.search.last(&self.held, self.start, full)? {
            return Ok(end);
        }
        // One record is longer than a block.
        self.after_records(1)
    }

    /// Where a block of so many records ends.
    fn after_records(&mut self, count: u64) -> Result<u64, CutError> {
        let mut known = Counted::nothing(self.start);
        loop {
            match self.search.nth(&self.held, known, self.filled, count)? {
                Ok(end) => return Ok(end),
                Err(_) if self.has_ended => return Ok(self.filled),
                Err(counted) => known = counted,
            }
            let moved = self.grow()?;
            known.after -= moved;
            known.from -= moved;
        }
    }

    /// Reads more of a block that has no end yet; tells by how much its positions have moved to the front.
    fn grow(&mut self) -> Result<u64, CutError> {
        let has = self.filled - self.start;
        if has >= self.most_bytes {
            return Err(CutError::NoEnd(has));
        }
        let start = self.start;
        self.fill(has.max(STRETCH_BYTES))?;
        Ok(start - self.start)
    }

    /// Appends at most `wanted` bytes of the stream, or what completes a stretch; waits for the first of them.
    fn fill(&mut self, wanted: u64) -> Result<(), CutError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if let Held::Frozen(pieces) = &self.held {
            // The rest of a stretch is the beginning of the next one.
            let mut growing = Growing::new(&stream.lender);
            growing.push_from(pieces, self.start..self.filled)?;
            (self.start, self.filled) = (0, growing.len());
            self.held = Held::Growing(growing);
        }
        let Held::Growing(growing) = &mut self.held else { return Ok(()) };
        // Small blocks are cut from what has come, however much that is.
        let wanted = wanted.max(STRETCH_BYTES.saturating_sub(growing.len()));
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).min(READ_BYTES);
        self.has_ended = !stream.fill(growing, wanted)?;
        self.filled = growing.len();
        Ok(())
    }
}

impl Stream {
    fn new(fd: OwnedFd, lender: &Lender) -> Self {
        let widened = widen(&fd, INPUT_PIPE);
        Self { fd, widened, lender: lender.clone() }
    }

    /// Appends at most `wanted` bytes, after waiting for the first of them; tells whether more may come.
    fn fill(&mut self, growing: &mut Growing, wanted: usize) -> Result<bool, CutError> {
        let room = growing.room(wanted)?;
        let most = room.len();
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.fd, &mut *room)) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                growing.commit(count);
                if count < LITTLE_BYTES.min(most) && self.widened.is_some() {
                    thread::sleep(NAP);
                }
            }
            Err(Errno::AGAIN) => {
                fullbore_pipe::transfer::wait_until(&self.fd, rustix::event::PollFlags::IN)
                    .map_err(io::Error::from)?;
            }
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        Ok(true)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(widened) = self.widened.take() {
            widened.put_back(&self.fd);
        }
    }
}

mod guarded;
#[cfg(test)]
mod tests;
