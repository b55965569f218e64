//! Cuts the input into blocks of whole records.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{Moved, Patience};

use super::records::{Counted, Records, Search};
use super::store::{Part, Store};

/// A file in memory holds several blocks until it has so many bytes.
const STORE_BYTES: u64 = 1 << 20;

/// Pieces in which what cannot be spliced is read.
const PIECE_BYTES: usize = 128 << 10;

/// How large blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockSize {
    /// At most so many bytes, unless a single record is longer.
    Bytes(Bytes),
    /// A sixteenth of the input so far, at least 1 MiB and at most so many bytes. So small inputs are divided, too, on
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
            Self::Growing(most) => Some((so_far / 16).max(STORE_BYTES).min(most.0)),
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

/// Yields the blocks of a source in order.
#[derive(Debug)]
pub(super) struct Cutter {
    stream: Option<OwnedFd>,
    /// The stream could not be spliced.
    is_read: bool,
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
            stream,
            is_read: false,
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
        let Some(stream) = &self.stream else { return Ok(()) };
        // Small blocks are cut from what has come, however much that is.
        let wanted = wanted.max(STORE_BYTES.saturating_sub(self.store.len()));
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        if !self.is_read {
            match self.store.take(stream, wanted, Patience::Waits) {
                Ok(Moved::Bytes(_)) => {}
                Ok(Moved::End) => self.has_ended = true,
                Ok(Moved::WouldBlock) => wait_for_input(stream)?,
                // A terminal, a socket, a device.
                Ok(_) => self.is_read = true,
                Err(error) => return Err(error.source.into()),
            }
        }
        if self.is_read {
            let mut piece = vec![0; wanted.min(PIECE_BYTES)];
            match rustix::io::retry_on_intr(|| rustix::io::read(stream, &mut piece)) {
                Ok(0) => self.has_ended = true,
                Ok(count) => self.store.push(&piece[..count])?,
                Err(rustix::io::Errno::AGAIN) => wait_for_input(stream)?,
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
        }
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

/// Waits until a non-blocking stream has something to read.
fn wait_for_input(stream: impl AsFd) -> io::Result<()> {
    Ok(fullbore_pipe::transfer::wait_until(stream, rustix::event::PollFlags::IN)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::thread;

    use proptest::prelude::*;

    /// All blocks of a stream that comes in pieces of `piece` bytes.
    fn blocks(input: &[u8], piece: usize, records: &Records, size: BlockSize) -> Vec<Vec<u8>> {
        let (reader, mut writer) = io::pipe().unwrap();
        let pieces: Vec<Vec<u8>> = input.chunks(piece.max(1)).map(<[u8]>::to_vec).collect();
        let feeding = thread::spawn(move || {
            for piece in pieces {
                writer.write_all(&piece).unwrap();
            }
        });
        let source = Source::Stream(reader.into());
        let blocks = all(Cutter::new(source, records.clone(), size, u64::MAX).unwrap());
        feeding.join().unwrap();
        blocks
    }

    fn all(mut cutter: Cutter) -> Vec<Vec<u8>> {
        let mut blocks = Vec::new();
        while let Some(block) = cutter.next().unwrap() {
            assert_eq!(block.number, blocks.len() as u64 + 1);
            let mut bytes = vec![0; usize::try_from(block.part.len()).unwrap()];
            block.part.file.read_exact_at(&mut bytes, block.part.range.start).unwrap();
            blocks.push(bytes);
        }
        blocks
    }

    /// Where the records of a whole input end, by the slowest rule that can be right.
    fn ends(input: &[u8], records: &Records) -> Vec<usize> {
        let is_end = |at: &usize| match records {
            Records::EndByte(byte) => input[at - 1] == *byte,
            Records::End(mark) => input[..*at].ends_with(mark),
            Records::Start(mark) => input[*at..].starts_with(mark),
            Records::Between(end, start) => {
                input[..*at].ends_with(end) && input[*at..].starts_with(start)
            }
        };
        (1..input.len()).filter(is_end).chain([input.len()]).collect()
    }

    fn any_records() -> impl Strategy<Value = Records> {
        // No mark overlaps itself: of such marks only some of the occurrences count.
        prop_oneof![
            Just(Records::EndByte(b'a')),
            Just(Records::End(b"ab".to_vec())),
            Just(Records::Start(b"ab".to_vec())),
            Just(Records::Between(b"a".to_vec(), b"b".to_vec())),
        ]
    }

    proptest! {
        #[test]
        fn blocks_are_whole_records_and_nothing_is_lost(
            input in prop::collection::vec(prop::sample::select(b"abc".to_vec()), 0..400),
            piece in 1_usize..50,
            records in any_records(),
            bytes in 1_u64..60,
        ) {
            let found = blocks(&input, piece, &records, BlockSize::Bytes(Bytes(bytes)));
            prop_assert_eq!(found.concat(), input.clone());
            let ends = ends(&input, &records);
            // What begins the next record is looked at, too.
            let beyond = match &records {
                Records::EndByte(_) | Records::End(_) => 0,
                Records::Start(mark) | Records::Between(_, mark) => mark.len(),
            };
            let fits = |end: usize, most: usize| {
                end + if end == input.len() { 0 } else { beyond } <= most
            };
            let mut at = 0;
            for block in &found {
                let most = at + usize::try_from(bytes).unwrap();
                // As much as fits, or one record.
                let later = || ends.iter().copied().filter(|&end| end > at);
                let expected = later().rfind(|&end| fits(end, most)).or(later().next());
                at += block.len();
                prop_assert_eq!(Some(at), expected.or(Some(0)));
            }
        }

        #[test]
        fn blocks_have_as_many_records_as_was_asked_for(
            input in prop::collection::vec(prop::sample::select(b"abc".to_vec()), 1..300),
            piece in 1_usize..50,
            records in any_records(),
            count in 1_usize..5,
        ) {
            let found = blocks(&input, piece, &records, BlockSize::Records(count as u64));
            prop_assert_eq!(found.concat(), input.clone());
            let ends = ends(&input, &records);
            let wanted: Vec<usize> = ends.chunks(count).map(|ends| ends[ends.len() - 1]).collect();
            let got: Vec<usize> = found
                .iter()
                .scan(0, |at, block| {
                    *at += block.len();
                    Some(*at)
                })
                .collect();
            prop_assert_eq!(got, wanted);
        }
    }

    #[test]
    fn a_stream_of_several_stores_is_cut_as_a_file_is() {
        let mut input = Vec::new();
        for number in 0..400_000 {
            writeln!(input, "{number} {}", "z".repeat(number % 31)).unwrap();
        }
        input.extend_from_slice(&[b'q'; 3 << 20]);
        input.extend_from_slice(b"\nlast");
        let lines = Records::EndByte(b'\n');
        for size in [
            BlockSize::Bytes(Bytes(10_000)),
            BlockSize::Growing(Bytes(2 << 20)),
            BlockSize::Records(70_000),
        ] {
            let stream = blocks(&input, 99_991, &lines, size);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&input).unwrap();
            let source = Source::File(file, 0);
            let file = all(Cutter::new(source, lines.clone(), size, u64::MAX).unwrap());
            assert!(stream.concat() == input, "{size:?}");
            assert!(stream == file, "{size:?}");
        }
    }

    #[test]
    fn a_record_without_an_end_fails_at_the_limit() {
        let (reader, mut writer) = io::pipe().unwrap();
        let feeding = thread::spawn(move || while writer.write_all(&[0; 9999]).is_ok() {});
        let source = Source::Stream(reader.into());
        let size = BlockSize::Bytes(Bytes(1000));
        let mut cutter = Cutter::new(source, Records::EndByte(b'\n'), size, 3 << 20).unwrap();
        let Err(CutError::NoEnd(bytes)) = cutter.next() else { panic!("no error") };
        assert!((3 << 20..8 << 20).contains(&bytes), "{bytes}");
        drop(cutter);
        feeding.join().unwrap();
    }

    #[test]
    fn an_empty_input_is_one_empty_block_and_a_header_is_taken_first() {
        let lines = Records::EndByte(b'\n');
        assert_eq!(blocks(b"", 1, &lines, BlockSize::Records(3)), [b"".to_vec()]);
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"h\ni\na\nb\n").unwrap();
        drop(writer);
        let source = Source::Stream(reader.into());
        let mut cutter = Cutter::new(source, lines, BlockSize::Records(1), u64::MAX).unwrap();
        let header = cutter.header(2).unwrap();
        assert_eq!(header.range, 0..4);
        assert_eq!(all(cutter), [b"a\n", b"b\n"]);
    }
}
