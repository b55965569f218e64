//! Keys and their values on disk.

use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::IntoIter;

use fullbore_codec::group::Tally;

use crate::buffer::{PAGE_BYTES, Spill};

/// A temporary file without a name to which several threads append.
#[derive(Debug)]
pub(super) struct Scrap {
    file: Spill,
    end: AtomicU64,
}

/// Bytes of a [`Scrap`].
pub(super) type Extent = Range<u64>;

impl Scrap {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: Spill::create(folder)?, end: AtomicU64::new(0) })
    }

    /// Writes bytes behind all others and returns where they are.
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<Extent> {
        let begin = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match self.file.write(bytes, begin) {
            (_, None) => Ok(begin..begin + bytes.len() as u64),
            (_, Some(error)) => Err(error),
        }
    }

    /// Frees the disk space of bytes that were read.
    pub(super) fn free(&self, extent: &Extent) {
        // `punch` frees the page in which the range begins, and others still need what is before it there.
        let begin = extent.start.next_multiple_of(PAGE_BYTES);
        if begin < extent.end {
            self.file.punch(begin, extent.end - begin);
        }
    }
}

/// Most bytes that a number takes.
const NUMBER_BYTES: usize = 10;

/// Appends a key and its value: the numbers of the value, the length of the key, the key.
///
/// # Errors
/// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
pub(super) fn encode<V: Tally>(key: &[u8], value: V, bytes: &mut Vec<u8>) -> io::Result<()> {
    reserve(bytes, key.len() + NUMBER_BYTES * (V::WORDS + 1))?;
    let words = value.to_words();
    words[..V::WORDS].iter().for_each(|word| number(*word, bytes));
    number(key.len() as u64, bytes);
    bytes.extend_from_slice(key);
    Ok(())
}

/// Makes room for more bytes.
///
/// # Errors
/// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
pub(super) fn reserve(bytes: &mut Vec<u8>, more: usize) -> io::Result<()> {
    bytes.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// Appends a number, seven bits to a byte, the lowest first.
fn number(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// Reads what [`number`] wrote, and moves `bytes` behind it.
fn number_of(bytes: &[u8], at: &mut usize) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some(byte) = bytes.get(*at) {
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// A length of something that was in memory.
fn in_memory(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// The records of some extents, one after the other.
#[derive(Debug)]
pub(super) struct Reader<'a, V> {
    scrap: &'a Scrap,
    extents: IntoIter<Extent>,
    /// What is left of the first of them.
    left: Extent,
    buffer: Vec<u8>,
    /// The part of the buffer that was read from the file and not handed out.
    ready: Range<usize>,
    key: Range<usize>,
    value: PhantomData<V>,
}

impl<'a, V: Tally> Reader<'a, V> {
    /// Reads through a buffer of this many bytes, or more where a key is longer.
    pub(super) fn new(scrap: &'a Scrap, extents: Vec<Extent>, buffer_bytes: usize) -> Self {
        let buffer = vec![0; buffer_bytes.max(64)];
        let (extents, left) = (extents.into_iter(), 0..0);
        Self { scrap, extents, left, buffer, ready: 0..0, key: 0..0, value: PhantomData }
    }

    /// Goes to the next record and returns its value; its key is [`key`](Self::key).
    pub(super) fn advance(&mut self) -> io::Result<Option<V>> {
        if self.ready.is_empty() && self.left.is_empty() {
            self.left = self.extents.next().unwrap_or(0..0);
        }
        self.need(NUMBER_BYTES * (V::WORDS + 1))?;
        if self.ready.is_empty() {
            return Ok(None);
        }
        let mut at = self.ready.start;
        let mut words = [0; 2];
        for word in &mut words[..V::WORDS] {
            *word = number_of(&self.buffer, &mut at);
        }
        let length = in_memory(number_of(&self.buffer, &mut at));
        let header = at - self.ready.start;
        self.need(header + length)?;
        let begin = self.ready.start + header;
        self.key = begin..begin + length;
        self.ready.start = self.key.end;
        Ok(Some(V::from_words(words)))
    }

    /// Returns the key of the record that [`advance`](Self::advance) reached.
    pub(super) fn key(&self) -> &[u8] {
        &self.buffer[self.key.clone()]
    }

    /// Makes `bytes` bytes ready, or all that are left.
    fn need(&mut self, bytes: usize) -> io::Result<()> {
        let missing = bytes.saturating_sub(self.ready.len()) as u64;
        if missing == 0 || self.left.is_empty() {
            return Ok(());
        }
        self.buffer.copy_within(self.ready.clone(), 0);
        self.ready = 0..self.ready.len();
        if bytes > self.buffer.len() {
            reserve(&mut self.buffer, bytes - self.ready.len())?;
            self.buffer.resize(bytes, 0);
        }
        let room = (self.buffer.len() - self.ready.end) as u64;
        let count = room.min(self.left.end - self.left.start);
        let end = self.ready.end + in_memory(count);
        let into = &mut self.buffer[self.ready.end..end];
        self.scrap.file.read(self.left.start, into)?;
        self.left.start += count;
        self.ready.end = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_codec::group::Placed;

    #[test]
    fn records_come_back_through_a_buffer_of_any_size() {
        let folder = tempfile::tempdir().unwrap();
        let scrap = Scrap::create(folder.path()).unwrap();
        scrap.append(b"something else").unwrap();
        let keys = [0, 1, 3, 200, 0, 70_000, 5].map(|length| vec![b'k'; length]);
        let values = [0, 1, 127, 128, 1 << 20, u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        for (key, value) in keys.iter().zip(values) {
            encode(key, Placed::from_words([value, !value]), &mut bytes).unwrap();
        }
        let extent = scrap.append(&bytes).unwrap();
        scrap.append(b"more").unwrap();
        let again = scrap.append(&bytes).unwrap();
        for size in [0, 64, 100, 1 << 10, 1 << 20] {
            let mut reader =
                Reader::<Placed>::new(&scrap, vec![extent.clone(), again.clone()], size);
            let pairs = keys.iter().zip(values);
            for (key, value) in pairs.clone().chain(pairs) {
                assert_eq!(reader.advance().unwrap().unwrap().to_words(), [value, !value]);
                assert!(reader.key() == key, "{size}");
            }
            assert!(reader.advance().unwrap().is_none());
        }
    }

    #[test]
    fn what_is_freed_leaves_its_neighbours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let scrap = Scrap::create(folder.path()).unwrap();
        let before = scrap.append(&[1; 5000]).unwrap();
        let freed = scrap.append(&[2; 50_000]).unwrap();
        let behind = scrap.append(&[3; 5000]).unwrap();
        scrap.free(&freed);
        for (extent, byte) in [(before, 1), (behind, 3)] {
            let mut read = [0; 5000];
            scrap.file.read(extent.start, &mut read).unwrap();
            assert!(read == [byte; 5000]);
        }
    }
}
