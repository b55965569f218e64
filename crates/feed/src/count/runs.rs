//! Sorted rows on disk.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use fullbore_codec::group::Tally;

use super::gather::held;
use super::merge::List;
use super::options::Options;
use super::records::{Extent, Scrap, encode};

/// Sorted lists of rows in a temporary file, which is made for the first of them.
#[derive(Debug)]
pub(super) struct Runs {
    folder: PathBuf,
    scrap: OnceLock<Scrap>,
    runs: Mutex<Vec<Vec<Extent>>>,
    /// Memory for the buffers of all runs while they are merged, in bytes.
    merge_bytes: usize,
}

/// Bytes written or read at once, at most.
const PIECE_BYTES: usize = 256 << 10;

/// Bytes of a run read at once, at least.
const LEAST_PIECE_BYTES: usize = 4 << 10;

impl Runs {
    pub(super) fn new(options: &Options, merge_bytes: usize) -> Self {
        let (scrap, runs) = (OnceLock::new(), Mutex::new(Vec::new()));
        Self { folder: options.folder.clone(), scrap, runs, merge_bytes }
    }

    fn scrap(&self) -> io::Result<&Scrap> {
        if self.scrap.get().is_none() {
            // Of two threads that come here at the same time, one keeps its file.
            let _ = self.scrap.set(Scrap::create(&self.folder)?);
        }
        self.scrap.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Writes the rows that `each` gives, in the order of the run.
    ///
    /// # Errors
    /// When the disk fails.
    pub(super) fn add(&self, each: impl FnOnce(&mut Run<'_>) -> io::Result<()>) -> io::Result<()> {
        let bytes = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
        let mut run = Run { scrap: self.scrap()?, bytes, extents: Vec::new() };
        each(&mut run)?;
        run.flush()?;
        if !run.extents.is_empty() {
            held(&self.runs).push(run.extents);
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        held(&self.runs).is_empty()
    }

    /// Returns the runs as lists to merge.
    pub(super) fn lists<V: Tally>(&self) -> Vec<List<'_, V>> {
        let runs = std::mem::take(&mut *held(&self.runs));
        let Some(scrap) = self.scrap.get() else { return Vec::new() };
        let buffer = self.merge_bytes / runs.len().max(1);
        let buffer = buffer.clamp(LEAST_PIECE_BYTES, PIECE_BYTES);
        runs.into_iter().map(|run| List::records(scrap, run, buffer)).collect()
    }
}

/// A run that is being written.
#[derive(Debug)]
pub(super) struct Run<'a> {
    scrap: &'a Scrap,
    bytes: Vec<u8>,
    extents: Vec<Extent>,
}

impl Run<'_> {
    /// Appends a row. No row lies in two extents.
    pub(super) fn put<V: Tally>(&mut self, key: &[u8], value: V) -> io::Result<()> {
        encode(key, value, &mut self.bytes)?;
        if self.bytes.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.bytes.is_empty() {
            self.extents.push(self.scrap.append(&self.bytes)?);
            self.bytes.clear();
            self.bytes.shrink_to(2 * PIECE_BYTES);
        }
        Ok(())
    }
}
