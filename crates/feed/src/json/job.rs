//! A block on its way: what was found in it, and what became of it.

use fullbore_codec::Place;
use fullbore_codec::json::query::Scanner;

use super::block::Block;
use super::options::Options;
use super::outcome::{Invalid, RunError, Spot};
use super::scan::{Found, Wrong};
use super::source::MARK;

/// Memory that is given back after a block that needed more.
const MOST_KEPT_BYTES: usize = 8 << 20;

/// Why nothing comes after a block.
#[derive(Debug)]
pub(super) enum Fault<E> {
    /// The input is wrong, or the task refuses a record.
    Invalid(Invalid),
    /// Reading or writing failed.
    Failure(RunError<E>),
}

/// A block on its way.
#[derive(Debug)]
pub(super) struct Job<E> {
    pub(super) number: u64,
    pub(super) block: Block,
    /// The end of the block before and this one, if a record lies in both.
    pub(super) joined: Vec<u8>,
    pub(super) is_scanned: bool,
    pub(super) found: Found,
    /// Where the text begins in its input. Of a file, only the offset is known.
    pub(super) place: Place,
    /// How far it is from there to the rest that `found` names.
    pub(super) length: Place,
    pub(super) output: Vec<u8>,
    /// How many errors in it were skipped.
    pub(super) skipped: u64,
    pub(super) fault: Option<Fault<E>>,
}

impl<E> Default for Job<E> {
    fn default() -> Self {
        Self {
            number: 0,
            block: Block::default(),
            joined: Vec::new(),
            is_scanned: false,
            found: Found::default(),
            place: Place::default(),
            length: Place::default(),
            output: Vec::new(),
            skipped: 0,
            fault: None,
        }
    }
}

impl<E> Job<E> {
    /// Returns what was scanned.
    pub(super) fn text(&self) -> &[u8] {
        if self.joined.is_empty() { self.block.bytes() } else { &self.joined }
    }

    /// Scans the text as if a record began at its beginning.
    pub(super) fn scan(&mut self, scanner: &mut Scanner, options: &Options) {
        let text = if self.joined.is_empty() { self.block.bytes() } else { &self.joined };
        let has_mark = self.joined.is_empty() && self.block.offset == 0 && text.starts_with(MARK);
        let begin = if has_mark { MARK.len() } else { 0 };
        self.found.scan(text, begin, self.block.is_last, scanner, options);
        self.is_scanned = true;
        let end = self.found.rest.begin().unwrap_or(text.len());
        self.length = self.distance(end);
    }

    /// Returns how far byte `at` of the text is from its beginning; for a file only in bytes.
    pub(super) fn distance(&self, at: usize) -> Place {
        let is_file = self.block.origin.as_ref().is_some_and(|origin| origin.file.is_some());
        if is_file {
            Place { offset: at as u64, ..Place::default() }
        } else {
            Place::default().after(&self.text()[..at])
        }
    }

    /// Says where an error is.
    pub(super) fn spot(&self, wrong: &Wrong) -> Spot {
        let at = wrong.at.min(self.text().len());
        Spot {
            origin: self.block.origin.clone(),
            place: self.place.after(&self.text()[..at]),
            what: wrong.what.clone(),
            kind: wrong.kind,
        }
    }

    /// Makes it ready for another block; keeps its memory.
    pub(super) fn clear(&mut self) {
        for memory in [&mut self.joined, &mut self.output] {
            memory.clear();
            memory.shrink_to(MOST_KEPT_BYTES);
        }
        self.found.clear();
        (self.is_scanned, self.skipped) = (false, 0);
        self.block.origin = None;
    }
}
