//! Cuts the input into blocks of whole records.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{Moved, Patience};
use fullbore_pipe::{Widened, widen};

use super::records::{Counted, Records, Search};
use super::store::{Part, Store};

/// A file in memory holds several blocks until it has so many bytes.
const STORE_BYTES: u64 = 1 << 20;

/// The first blocks of [`BlockSize::Growing`].
const LEAST_GROWING: u64 = 2 << 20;

/// The capacity that a pipe on standard input gets: then its writer seldom waits.
const INPUT_PIPE: Bytes = Bytes(1 << 20);

/// After taking less than so much from a pipe, the reading thread naps: were it to wait for the next bytes, every write
/// of the producer would wake it.
const LITTLE_BYTES: usize = 256 << 10;

/// A pipe of 1 MiB takes longer to fill, even at 4 GB/s.
const NAP: Duration = Duration::from_micros(150);

/// Pieces in which what cannot be spliced is read.
const PIECE_BYTES: usize = 128 << 10;

/// How large blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockSize {
    /// At most so many bytes, unless a single record is longer.
    Bytes(Bytes),
    /// A sixth of the input so far, at least 2 MiB and at most so many bytes. So small inputs are divided, too, on
    /// large ones starting processes costs little, and at the end no copy works alone for long. The same input is always
    /// cut at the same places.
    Growing(Bytes),
    /// Exactly so many records; the last block may have fewer.
    Records(u64),
}

impl BlockSize {
    /// The bytes of the block after the first `so_far` bytes; `None` when records are counted.
    fn bytes(self, so_far: u64) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.0),
            Self::Growing(most) => Some((so_far / 6).max(LEAST_GROWING).min(most.0)),
            Self::Records(_) => None,
        }
    }
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
    /// It is a file in memory.
    pub(super) is_in_memory: bool,
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
    /// It could not be spliced.
    is_read: bool,
}

/// Yields the blocks of a source in order.
#[derive(Debug)]
pub(super) struct Cutter {
    /// `None` for a file.
    stream: Option<Stream>,
    store: Store,
    file: Arc<File>,
    size: BlockSize,
    search: Search,
    /// A record in memory may have so many bytes.
    most_bytes: u64,
    /// Number of the last block, and the bytes of all blocks.
    number: u64,
    so_far: u64,
    /// What was not cut yet lies between these.
    start: u64,
    filled: u64,
    has_ended: bool,
}

impl Cutter {
    pub(super) fn new(
        source: Source,
        records: Records,
        size: BlockSize,
        most_bytes: u64,
    ) -> io::Result<Self> {
        let store = Store::new()?;
        let search = Search::new(records);
        let (stream, file, start, filled) = match source {
            Source::Stream(stream) => (Some(stream), Arc::clone(store.file()), 0, 0),
            Source::File(file, from) => {
                let end = file.metadata()?.len();
                (None, Arc::new(file), from.min(end), end)
            }
        };
        let has_ended = stream.is_none();
        Ok(Self {
            stream: stream.map(Stream::new),
            store,
            file,
            size,
            search,
            most_bytes,
            number: 0,
            so_far: 0,
            start,
            filled,
            has_ended,
        })
    }

    /// Takes the first lines of the input, which every copy gets.
    pub(super) fn header(&mut self, lines: u64) -> Result<Part, CutError> {
        let mut lines_search = Search::new(Records::EndByte(b'\n'));
        let start = self.start;
        let mut known = Counted::nothing(start);
        let end = loop {
            match lines_search.nth(&self.file, known, self.filled, lines)? {
                Ok(end) => break end,
                Err(_) if self.has_ended => break self.filled,
                Err(counted) => known = counted,
            }
            self.grow()?;
        };
        self.start = end;
        Ok(Part { file: Arc::clone(&self.file), range: start..end })
    }

    /// The next block; `None` after the last. An input without a byte is one empty block.
    pub(super) fn next(&mut self) -> Result<Option<Block>, CutError> {
        self.begin_store()?;
        let end = match (self.size, self.size.bytes(self.so_far)) {
            (BlockSize::Records(count), _) => self.after_records(count)?,
            (_, bytes) => self.after_bytes(bytes.unwrap_or(STORE_BYTES))?,
        };
        if end == self.start && self.number > 0 {
            return Ok(None);
        }
        self.number += 1;
        self.so_far += end - self.start;
        let part = Part { file: Arc::clone(&self.file), range: self.start..end };
        self.start = end;
        Ok(Some(Block { number: self.number, part, is_in_memory: self.stream.is_some() }))
    }

    /// Where a block of at most so many bytes ends.
    fn after_bytes(&mut self, bytes: u64) -> Result<u64, CutError> {
        let full = self.start.saturating_add(bytes);
        // Whether a byte follows decides whether this is the last block, so that a stream is cut as a file is.
        while self.filled <= full && !self.has_ended {
            self.fill(full - self.filled + 1)?;
        }
        if self.filled <= full {
            return Ok(self.filled);
        }
        if let Some(end) = self.search.last(&self.file, self.start, full)? {
            return Ok(end);
        }
        // One record is longer than a block.
        self.after_records(1)
    }

    /// Where a block of so many records ends.
    fn after_records(&mut self, count: u64) -> Result<u64, CutError> {
        let mut known = Counted::nothing(self.start);
        loop {
            match self.search.nth(&self.file, known, self.filled, count)? {
                Ok(end) => return Ok(end),
                Err(_) if self.has_ended => return Ok(self.filled),
                Err(counted) => known = counted,
            }
            self.grow()?;
        }
    }

    /// Reads more of a block that has no end yet.
    fn grow(&mut self) -> Result<(), CutError> {
        let has = self.filled - self.start;
        if has >= self.most_bytes {
            return Err(CutError::NoEnd(has));
        }
        self.fill(has.max(STORE_BYTES))
    }

    /// Appends at most `wanted` bytes of the stream to the file in memory; waits for the first of them.
    fn fill(&mut self, wanted: u64) -> Result<(), CutError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        // Small blocks are cut from what has come, however much that is.
        let wanted = wanted.max(STORE_BYTES.saturating_sub(self.store.len()));
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        self.has_ended = !stream.fill(&mut self.store, wanted)?;
        self.filled = self.store.len();
        Ok(())
    }

    /// Begins a new file in memory, so that the old one goes with its last block.
    fn begin_store(&mut self) -> io::Result<()> {
        if self.stream.is_none() || self.start < STORE_BYTES {
            return Ok(());
        }
        let mut store = Store::new()?;
        let mut piece = vec![0; PIECE_BYTES];
        while self.start < self.filled {
            let left = usize::try_from(self.filled - self.start).unwrap_or(usize::MAX);
            let piece = &mut piece[..left.min(PIECE_BYTES)];
            self.file.read_exact_at(piece, self.start)?;
            store.push(piece)?;
            self.start += piece.len() as u64;
        }
        self.file = Arc::clone(store.file());
        (self.start, self.filled) = (0, store.len());
        self.store = store;
        Ok(())
    }
}

impl Stream {
    fn new(fd: OwnedFd) -> Self {
        let widened = widen(&fd, INPUT_PIPE);
        Self { fd, widened, is_read: false }
    }

    /// Appends at most `wanted` bytes to a file in memory, after waiting for the first of them; tells whether more may
    /// come.
    fn fill(&mut self, store: &mut Store, wanted: usize) -> Result<bool, CutError> {
        if !self.is_read {
            match store.take(&self.fd, wanted, Patience::Waits) {
                Ok(Moved::Bytes(bytes)) => {
                    if bytes < LITTLE_BYTES.min(wanted) && self.widened.is_some() {
                        thread::sleep(NAP);
                    }
                    return Ok(true);
                }
                Ok(Moved::End) => return Ok(false),
                Ok(Moved::WouldBlock) => {
                    wait_for_input(&self.fd)?;
                    return Ok(true);
                }
                // A terminal, a socket, a device.
                Ok(_) => self.is_read = true,
                Err(error) => return Err(error.source.into()),
            }
        }
        let mut piece = vec![0; wanted.min(PIECE_BYTES)];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.fd, &mut piece)) {
            Ok(0) => return Ok(false),
            Ok(count) => store.push(&piece[..count])?,
            Err(rustix::io::Errno::AGAIN) => wait_for_input(&self.fd)?,
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

/// Waits until a non-blocking stream has something to read.
fn wait_for_input(stream: impl AsFd) -> io::Result<()> {
    Ok(fullbore_pipe::transfer::wait_until(stream, rustix::event::PollFlags::IN)?)
}

#[cfg(test)]
mod tests;
