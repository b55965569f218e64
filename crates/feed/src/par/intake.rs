//! Blocks on their way from the reading thread to a copy.

use std::os::fd::BorrowedFd;

use fullbore_measure::Bytes;

use super::cut::{Block, CutError};
use super::ended::Error;
use super::reader::{Cut, Reader};
use super::store::Part;

/// What came from the reading thread.
#[derive(Debug)]
pub(super) struct Intake {
    reader: Reader,
    header: Option<Part>,
    /// A block that no copy works on yet.
    waiting: Option<Block>,
    /// Why no more blocks come; told after those before.
    failed: Option<Error>,
}

impl Intake {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, header: None, waiting: None, failed: None }
    }

    /// The first lines, which every copy gets.
    pub(super) fn header(&self) -> Option<&Part> {
        self.header.as_ref()
    }

    /// Whether no block waits and none will come.
    pub(super) fn has_ended(&self) -> bool {
        self.waiting.is_none() && (self.failed.is_some() || self.reader.has_ended())
    }

    /// Why the input ended early.
    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// Readable when a block may have come; `None` while one waits, and when none will come.
    pub(super) fn news(&self) -> Option<BorrowedFd<'_>> {
        let is_wanted = self.waiting.is_none() && !self.has_ended();
        is_wanted.then(|| self.reader.news())
    }

    /// Takes the block that waits.
    pub(super) fn take(&mut self) -> Option<Block> {
        self.waiting.take()
    }

    /// Gives back a block that could not be worked on yet.
    pub(super) fn put_back(&mut self, block: Block) {
        self.waiting = Some(block);
    }

    /// Whether a block waits, perhaps one that came just now.
    pub(super) fn has_block(&mut self) -> bool {
        while self.waiting.is_none() && self.failed.is_none() {
            match self.reader.take() {
                Some(Cut::Block(block)) => self.waiting = Some(block),
                Some(Cut::Header(header)) => self.header = Some(header),
                Some(Cut::Failed(error)) => {
                    self.failed = Some(match error {
                        CutError::Reading(error) => Error::Reading(error),
                        CutError::NoEnd(bytes) => Error::NoRecordEnd(Bytes(bytes)),
                    });
                }
                None => return false,
            }
        }
        self.waiting.is_some()
    }
}
