//! Blocks on their way from the reading thread to a copy.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::cut::Block;
use super::ended::Error;
use super::fitting::{Fitting, Lessons, Seen};
use super::reader::{Cut, Reader};
use super::stop::Stop;
use super::store::Part;

/// What came from the reading thread.
#[derive(Debug)]
pub(super) struct Intake {
    /// `None` when everything is here.
    reader: Option<Reader>,
    header: Option<Part>,
    /// Blocks that no copy works on yet.
    waiting: VecDeque<Block>,
    /// Why no more blocks come; told after those before.
    failed: Option<Error>,
    /// What follows the block that was taken last must go to the same copy.
    is_bound: bool,
    fitting: Arc<Fitting>,
    lessons: Lessons,
}

impl Intake {
    /// Blocks that a reader brings.
    pub(super) fn new(reader: Reader, fitting: Arc<Fitting>) -> Self {
        Self {
            reader: Some(reader),
            header: None,
            waiting: VecDeque::new(),
            failed: None,
            is_bound: false,
            fitting,
            lessons: Lessons::default(),
        }
    }

    /// Blocks that are here.
    pub(super) fn of(header: Option<Part>, blocks: Vec<Block>, fitting: Arc<Fitting>) -> Self {
        Self {
            reader: None,
            header,
            waiting: blocks.into(),
            failed: None,
            is_bound: false,
            fitting,
            lessons: Lessons::default(),
        }
    }

    /// Whether what follows the block that was taken last must go to the same copy.
    pub(super) fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// From now on, blocks are dealt out.
    pub(super) fn deal_out(&self) {
        self.fitting.set_alone(false);
    }

    /// Waits for the next block; `None` after the last, after a failure, and when a signal comes.
    pub(super) fn wait_for_block(&mut self, stop: &Stop) -> Option<Block> {
        while !self.has_block() {
            if self.has_ended() || stop.signal().is_some() {
                return None;
            }
            let bell = stop.bell();
            let news = self.news();
            let ends = [Some(&bell), news.as_ref()];
            let mut fds: Vec<PollFd<'_>> =
                ends.into_iter().flatten().map(|end| PollFd::new(end, PollFlags::IN)).collect();
            // Interrupted: then this look comes early.
            let _ = poll(&mut fds, None);
        }
        self.take()
    }

    /// Learns from a copy that has ended how large the next blocks should be.
    pub(super) fn learn(&mut self, seen: Seen) {
        self.fitting.learn(&mut self.lessons, seen);
    }

    /// The first lines, which every copy gets.
    pub(super) fn header(&self) -> Option<&Part> {
        self.header.as_ref()
    }

    /// Whether no block waits and none will come.
    pub(super) fn has_ended(&self) -> bool {
        self.waiting.is_empty()
            && (self.failed.is_some() || self.reader.as_ref().is_none_or(Reader::has_ended))
    }

    /// Why the input ended early.
    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// Readable when a block may have come; `None` while some wait, and when none will come.
    pub(super) fn news(&self) -> Option<BorrowedFd<'_>> {
        let is_wanted = self.waiting.is_empty() && !self.has_ended();
        self.reader.as_ref().filter(|_| is_wanted).map(Reader::news)
    }

    /// Takes the next block that waits.
    pub(super) fn take(&mut self) -> Option<Block> {
        let block = self.waiting.pop_front()?;
        self.is_bound = block.is_open;
        Some(block)
    }

    /// Gives back a block that could not be worked on yet.
    pub(super) fn put_back(&mut self, block: Block) {
        self.waiting.push_front(block);
    }

    /// Whether a block waits, perhaps one that came just now.
    pub(super) fn has_block(&mut self) -> bool {
        while self.waiting.is_empty() && self.failed.is_none() {
            match self.reader.as_mut().and_then(Reader::take) {
                Some(Cut::Blocks(blocks)) => self.waiting.extend(blocks),
                Some(Cut::Header(header)) => self.header = Some(header),
                Some(Cut::Failed(error)) => {
                    self.failed = Some(error.into());
                }
                None => return false,
            }
        }
        !self.waiting.is_empty()
    }
}
