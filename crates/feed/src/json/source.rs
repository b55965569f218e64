//! Cuts the inputs into blocks.
//!
//! A block ends with a line where it can, because most records do. Whoever scans it finds out whether a record ends there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, SeekFrom, fstat, seek};

use super::block::{Block, Origin};
use super::control::Control;
use super::outcome::RunError;
use crate::Input;

/// Bytes of the first block of an input that is no file: little input needs little memory.
const FIRST_BLOCK_BYTES: usize = 64 << 10;
/// Parts of a block of a file, at its end, in which a line end is looked for, one after the other.
const WINDOWS: [usize; 3] = [256, 16, 1];
/// The byte order mark, with which an input may begin.
pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What came of asking for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A block.
    Block,
    /// Nothing: the inputs have ended.
    End,
    /// Nothing: somebody woke the reader.
    Woken,
}

/// The inputs, one after the other.
pub(super) struct Source<'a, I> {
    inputs: I,
    control: &'a Control,
    current: Option<Current>,
    /// What was read already of the next block, from an input that is no file.
    carry: Vec<u8>,
    /// Whether blocks may end anywhere: nobody scans a block before the one before it.
    pub(super) cuts_anywhere: bool,
    window: Vec<u8>,
    /// Bytes of a full block.
    block_bytes: usize,
    begun: Instant,
    /// Time spent on inputs that are no files.
    reading: Duration,
}

/// The input that is being read.
struct Current {
    origin: Arc<Origin>,
    /// The input, if it is no file.
    stream: Option<Input>,
    /// Where the next block begins in it.
    offset: u64,
    /// How long a file was when it was opened.
    size: u64,
    /// Bytes to read into one block.
    room: usize,
}

impl Current {
    fn new(input: Input, block_bytes: usize) -> Self {
        let name = input.name().to_owned();
        let (mut size, mut room) = (0, block_bytes.min(FIRST_BLOCK_BYTES));
        let (file, stream) = match position(&input) {
            Some(begin) => {
                let length = fstat(&input).map_or(0, |stat| stat.st_size.try_into().unwrap_or(0));
                (size, room) = (u64::saturating_sub(length, begin), block_bytes);
                (Some((input, begin)), None)
            }
            None => (None, Some(input)),
        };
        Self { origin: Arc::new(Origin { name, file }), stream, offset: 0, size, room }
    }
}

/// Returns where a regular file is read next; `None` for everything else.
fn position(input: &Input) -> Option<u64> {
    let kind = fstat(input).map(|stat| FileType::from_raw_mode(stat.st_mode));
    if kind == Ok(FileType::RegularFile) { seek(input, SeekFrom::Current(0)).ok() } else { None }
}

impl<'a, I, E> Source<'a, I>
where
    I: Iterator<Item = Result<Input, E>>,
{
    pub(super) fn new(inputs: I, control: &'a Control, block_bytes: usize) -> Self {
        Self {
            inputs,
            control,
            current: None,
            carry: Vec::new(),
            cuts_anywhere: false,
            window: Vec::new(),
            block_bytes,
            begun: Instant::now(),
            reading: Duration::ZERO,
        }
    }

    /// Returns which part of the time the inputs that are no files took.
    pub(super) fn reading_share(&self) -> f64 {
        self.reading.as_secs_f64() / self.begun.elapsed().as_secs_f64().max(1e-9)
    }

    /// Gets the next block ready. Calls `before_waiting` when that has to wait for an input.
    pub(super) fn take(
        &mut self,
        block: &mut Block,
        before_waiting: impl FnOnce() -> Result<(), RunError<E>>,
    ) -> Result<Taken, RunError<E>> {
        if self.current.is_none() {
            let Some(next) = self.inputs.next() else { return Ok(Taken::End) };
            self.current = Some(Current::new(next.map_err(RunError::Open)?, self.block_bytes));
        }
        let Some(current) = &mut self.current else { return Ok(Taken::End) };
        let bytes = current.room.max(self.carry.len() + current.room / 2 + 1);
        block.make_room(bytes).map_err(|_| RunError::Memory { bytes })?;
        block.origin = Some(Arc::clone(&current.origin));
        block.offset = current.offset;
        (block.is_last, block.ends_line, block.is_planned) = (false, false, false);
        if current.stream.is_none() {
            self.plan(block)?;
        } else {
            let begin = Instant::now();
            let taken = self.read(block, before_waiting);
            self.reading += begin.elapsed();
            if taken? == Taken::Woken {
                return Ok(Taken::Woken);
            }
        }
        let Some(current) = &mut self.current else { return Ok(Taken::End) };
        current.offset += block.len as u64;
        if block.is_last {
            if let Some((file, begin)) = &current.origin.file {
                // Whoever shares the file goes on behind it. A failure changes nothing for us.
                let _ = seek(file, SeekFrom::Start(begin + current.offset));
            }
            self.current = None;
        }
        Ok(Taken::Block)
    }

    /// Decides which part of a file is the next block; reads only the end of a file here.
    fn plan(&mut self, block: &mut Block) -> Result<(), RunError<E>> {
        let Some(Current { origin, offset, size, .. }) = &self.current else { return Ok(()) };
        let Some((file, begin)) = &origin.file else { return Ok(()) };
        if size.saturating_sub(*offset) <= self.block_bytes as u64 {
            return self.read_end(block);
        }
        block.is_planned = true;
        block.len = self.block_bytes;
        let windows = if self.cuts_anywhere { &[][..] } else { &WINDOWS };
        for part in windows {
            let bytes = self.block_bytes.div_ceil(*part);
            let at = self.block_bytes - bytes;
            self.window.resize(bytes, 0);
            let count = file.read_at(&mut self.window, begin + offset + at as u64)?;
            if let Some(end) = record_end(&self.window[..count]) {
                (block.len, block.ends_line) = (at + end, true);
                break;
            }
            if bytes == self.block_bytes
                && let Some(end) = memchr::memrchr(b'\n', &self.window[..count])
            {
                (block.len, block.ends_line) = (end + 1, true);
            }
        }
        self.control.note_read(block.len);
        Ok(())
    }

    /// Reads at most a block at the end of a file, which may have become longer.
    fn read_end(&mut self, block: &mut Block) -> Result<(), RunError<E>> {
        let Some(Current { origin, offset, .. }) = &self.current else { return Ok(()) };
        let Some((file, begin)) = &origin.file else { return Ok(()) };
        block.len = 0;
        while block.len < self.block_bytes {
            let room = &mut block.memory[block.len..self.block_bytes];
            let count = file.read_at(room, begin + offset + block.len as u64)?;
            block.len += count;
            if count == 0 {
                block.is_last = true;
                self.control.note_read(block.len);
                return Ok(());
            }
        }
        if let Some(end) = memchr::memrchr(b'\n', block.bytes()) {
            (block.len, block.ends_line) = (end + 1, true);
        }
        self.control.note_read(block.len);
        Ok(())
    }

    /// Reads from an input that is no file until the block is full, or has whole lines and the next read would wait, or the
    /// input waits within a line.
    fn read(
        &mut self,
        block: &mut Block,
        before_waiting: impl FnOnce() -> Result<(), RunError<E>>,
    ) -> Result<Taken, RunError<E>> {
        let Some(Current { stream: Some(stream), room, .. }) = &mut self.current else {
            return Ok(Taken::End);
        };
        let mut before_waiting = Some(before_waiting);
        let size = block.memory.len();
        block.len = self.carry.len();
        block.memory[..block.len].copy_from_slice(&self.carry);
        self.carry.clear();
        while block.len < size {
            if !self.control.wait_for(&*stream, false) {
                if is_worth_a_scan(block) {
                    break;
                }
                if let Some(before_waiting) = before_waiting.take() {
                    before_waiting()?;
                }
                if !self.control.wait_for(&*stream, true) {
                    self.carry.extend_from_slice(block.bytes());
                    return Ok(Taken::Woken);
                }
            }
            let count = stream.read(&mut block.memory[block.len..])?;
            self.control.note_read(count);
            block.len += count;
            if count == 0 {
                block.is_last = true;
                return Ok(Taken::Block);
            }
        }
        if block.len == size {
            *room = self.block_bytes;
        }
        if self.cuts_anywhere {
            return Ok(Taken::Block);
        }
        let end = record_end(block.bytes());
        let end = end.or_else(|| Some(memchr::memrchr(b'\n', block.bytes())? + 1));
        if let Some(end) = end {
            self.carry.extend_from_slice(&block.bytes()[end..]);
            (block.len, block.ends_line) = (end, true);
        }
        Ok(Taken::Block)
    }
}

/// Tells whether a block has something that can be scanned: anything but the beginning of a byte order mark.
fn is_worth_a_scan(block: &Block) -> bool {
    let bytes = block.bytes();
    let may_be_mark = block.offset == 0 && bytes.len() < MARK.len() && MARK.starts_with(bytes);
    !bytes.is_empty() && !may_be_mark
}

/// Returns the end of the last line after which a record seems to begin: a line that goes on with a bracket or white space
/// is rather the next line of the same record. A line end at the very end counts.
fn record_end(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(at) = memchr::memrchr(b'\n', &bytes[..end]) {
        match bytes.get(at + 1) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | b'}' | b']' | b',' | b':') => end = at,
            _ => return Some(at + 1),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_a_record_seems_to_end() {
        for (text, end) in [
            ("", None),
            ("{}", None),
            ("{}\n", Some(3)),
            ("{}\n{", Some(3)),
            ("{}\n[\n", Some(5)),
            ("{\n  \"a\": 1\n}\n{\n  \"", Some(13)),
            ("[\n  1,\n  2\n]", None),
            ("{}\n\n\n\n", Some(6)),
        ] {
            assert_eq!(record_end(text.as_bytes()), end, "{text:?}");
        }
    }
}
