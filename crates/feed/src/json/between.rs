//! What is left between two blocks: the beginning of a record that goes on.

use fullbore_codec::Place;
use fullbore_codec::json::Validator;
use fullbore_codec::json::query::Scanner;

use super::job::Job;
use super::options::Options;
use super::scan::{Rest, too_long_at};

/// A record of which at least this part of a block was there before is scanned only when it has ended: scanned again with
/// each block, it would take time as the square of its length.
const LONG_PART: usize = 4;

/// What the blocks so far left for the next one.
#[derive(Debug, Default)]
pub(super) struct Between {
    /// The beginning of a record.
    rest: Vec<u8>,
    /// Where that is in its input, or where the next block begins. Of a file, only the offset is known.
    place: Place,
    /// Looks for the end of a long record.
    checker: Option<Validator>,
    /// Whether the next block begins within a line that is to be skipped.
    skips_line: bool,
}

impl Between {
    /// Tells whether the next block begins between two records.
    pub(super) fn is_clear(&self) -> bool {
        self.rest.is_empty() && !self.skips_line
    }

    /// Takes over a block that was scanned and that nothing was left for.
    pub(super) fn settle<E>(&mut self, job: &mut Job<E>, options: &Options) {
        job.place = self.place;
        self.keep(job, options);
    }

    /// Scans a block after what was left.
    pub(super) fn join<E>(&mut self, job: &mut Job<E>, scanner: &mut Scanner, options: &Options) {
        let is_last = job.block.is_last;
        let mut from = 0;
        if self.skips_line {
            let end = memchr::memchr(b'\n', job.block.bytes());
            from = end.map_or(job.block.len, |end| end + 1);
            self.skips_line = end.is_none();
            self.place = self.place.then(job.distance(from));
        }
        if self.is_clear() && from == 0 {
            job.scan(scanner, options);
            return self.settle(job, options);
        }
        job.place = self.place;
        let before = self.rest.len();
        self.rest.extend_from_slice(&job.block.bytes()[from..]);
        if !is_last && (self.rest.is_empty() || self.is_within_record(before, options)) {
            job.found.clear();
            job.is_scanned = true;
            return self.refuse_too_long(job, options);
        }
        self.checker = None;
        std::mem::swap(&mut job.joined, &mut self.rest);
        self.rest.clear();
        if job.joined.is_empty() {
            // The end of an input within a line that is skipped.
            job.block.len = 0;
        }
        job.scan(scanner, options);
        self.keep(job, options);
    }

    /// Keeps what a scanned block leaves.
    fn keep<E>(&mut self, job: &mut Job<E>, options: &Options) {
        if job.block.is_last {
            *self = Self::default();
            return;
        }
        self.place = job.place.then(job.length);
        self.skips_line = job.found.rest == Rest::Skips;
        self.rest.clear();
        if let Some(begin) = job.found.rest.begin() {
            self.rest.extend_from_slice(&job.text()[begin..]);
            self.refuse_too_long(job, options);
        }
    }

    /// Tells whether everything there is belongs to one record that has not ended. `before` bytes were there before.
    fn is_within_record(&mut self, before: usize, options: &Options) -> bool {
        if before < options.block_bytes / LONG_PART {
            return false;
        }
        let (old, new) = self.rest.split_at(before);
        let checker = self.checker.get_or_insert_with(|| {
            let mut checker = Validator::new(options.tier);
            // It was scanned, so it is valid.
            let _ = checker.push(old);
            checker
        });
        checker.push(new).is_ok() && checker.documents() == 0
    }

    /// Makes a beginning of a record that is too long an error.
    fn refuse_too_long<E>(&mut self, job: &mut Job<E>, options: &Options) {
        if self.rest.len() as u64 <= options.max_record.0 {
            return;
        }
        let rest = if options.skips_invalid { Rest::Skips } else { Rest::Wrong };
        let at = match job.found.rest {
            Rest::Begins(at) => at,
            // The record began before this text: the place of the text is that of the record.
            _ => 0,
        };
        job.found.add_wrong(too_long_at(at, options.max_record), rest);
        self.place = self.place.after(&self.rest);
        self.rest = Vec::new();
        self.checker = None;
        self.skips_line = true;
    }
}
