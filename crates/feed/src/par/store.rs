//! Bytes that wait: parts of files, and files in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fullbore_pipe::transfer::{Moved, Patience, TransferError, to_file};
use rustix::fs::{MemfdFlags, memfd_create};

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) file: Arc<File>,
    pub(super) range: Range<u64>,
}

impl Part {
    pub(super) fn len(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// A file in memory, without a name, that grows at its end. What was stored is never written again, so its pages can be
/// spliced to others.
#[derive(Debug)]
pub(super) struct Store {
    file: Arc<File>,
    len: u64,
}

impl Store {
    /// # Errors
    /// EMFILE, ENOMEM. Source: memfd_create(2).
    pub(super) fn new() -> io::Result<Self> {
        let file = memfd_create("fullbore-par", MemfdFlags::CLOEXEC)?;
        Ok(Self { file: Arc::new(File::from(file)), len: 0 })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Appends at most `at_most` bytes of a pipe.
    pub(super) fn take(
        &mut self,
        pipe: impl AsFd,
        at_most: usize,
        patience: Patience,
    ) -> Result<Moved, TransferError> {
        let moved = to_file(pipe, &self.file, self.len, at_most, patience)?;
        if let Moved::Bytes(bytes) = moved {
            self.len += bytes as u64;
        }
        Ok(moved)
    }

    /// Reads bytes back, as many as there are from `at` on and fit.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(into, at)
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.len)?;
        self.len += bytes.len() as u64;
        Ok(())
    }
}
