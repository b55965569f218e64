//! What does not fit into memory: written to disk in parts that fit, and counted part by part.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fullbore_codec::group::{Groups, SEGMENTS, Tally};

use super::records::{Extent, Reader, Scrap, encode};

/// Tables that were too large for memory. The keys of a segment are in one part, whichever table they come from.
#[derive(Debug)]
pub(super) struct Overflow {
    scrap: Scrap,
    /// The extents of each segment.
    parts: Mutex<Vec<Vec<Extent>>>,
}

/// Bytes that are written or read at once.
const PIECE_BYTES: usize = 256 << 10;

impl Overflow {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let parts = Mutex::new(vec![Vec::new(); SEGMENTS]);
        Ok(Self { scrap: Scrap::create(folder)?, parts })
    }

    /// Writes all that a table has.
    pub(super) fn add<V: Tally>(&self, groups: &Groups<V>) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(2 * PIECE_BYTES);
        let mut of = 0;
        groups.try_for_each(|segment, key, value| {
            if segment != of || bytes.len() >= PIECE_BYTES {
                self.write(of, &mut bytes)?;
                of = segment;
            }
            encode(key, value, &mut bytes)
        })?;
        self.write(of, &mut bytes)
    }

    fn write(&self, segment: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        if !bytes.is_empty() {
            let extent = self.scrap.append(bytes)?;
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts[segment].push(extent);
            bytes.clear();
        }
        Ok(())
    }

    /// Calls `each` with every record of a segment, and frees its space on disk.
    fn read<V: Tally>(
        &self,
        segment: usize,
        mut each: impl FnMut(&[u8], V) -> io::Result<()>,
    ) -> io::Result<()> {
        let extents = {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut parts[segment])
        };
        for extent in extents {
            let mut reader = Reader::<V>::new(&self.scrap, vec![extent.clone()], PIECE_BYTES);
            while let Some(value) = reader.advance()? {
                each(reader.key(), value)?;
            }
            self.scrap.free(&extent);
        }
        Ok(())
    }
}

/// What counting parts needs.
#[derive(Clone, Debug)]
pub(super) struct Recount {
    /// Most memory for one part, in bytes.
    pub(super) memory: usize,
    pub(super) folder: PathBuf,
    pub(super) seed: u64,
}

/// What a record takes in a table beside its key, about, in bytes.
const RECORD_BYTES: usize = 32;

/// Parts of parts of parts: beyond them, memory would hold only few of the keys anyway.
const MOST_DEPTH: u32 = 4;

impl Recount {
    fn table<V: Tally>(&self, seed: u64) -> io::Result<Groups<V>> {
        let mut table = Groups::try_new(seed).map_err(|_| io::ErrorKind::OutOfMemory)?;
        table.set_limit(self.memory);
        Ok(table)
    }

    /// Counts a segment, and calls `each` with tables that have no key in common.
    pub(super) fn count<V: Tally>(
        &self,
        overflow: &Overflow,
        segment: usize,
        each: &mut impl FnMut(Groups<V>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.count_at(1, overflow, segment, each)
    }

    fn count_at<V: Tally>(
        &self,
        depth: u32,
        overflow: &Overflow,
        segment: usize,
        each: &mut impl FnMut(Groups<V>) -> io::Result<()>,
    ) -> io::Result<()> {
        // All keys here begin with the same bits of the last hash.
        let seed = self.seed.wrapping_add(u64::from(depth)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mut groups: Groups<V> = self.table(seed)?;
        let mut deeper: Option<Overflow> = None;
        let mut unseen = 0;
        overflow.read(segment, |key, value| {
            groups.try_entry(key).map_err(|_| io::ErrorKind::OutOfMemory)?.absorb(value);
            unseen += key.len() + RECORD_BYTES;
            if depth == MOST_DEPTH || unseen < PIECE_BYTES {
                return Ok(());
            }
            unseen = 0;
            if groups.is_full() {
                let to = match deeper.take() {
                    Some(deeper) => deeper,
                    None => Overflow::create(&self.folder)?,
                };
                to.add(&groups)?;
                deeper = Some(to);
                groups.clear();
            }
            Ok(())
        })?;
        let Some(deeper) = deeper else { return each(groups) };
        deeper.add(&groups)?;
        drop(groups);
        (0..SEGMENTS).try_for_each(|part| self.count_at(depth + 1, &deeper, part, each))
    }
}
