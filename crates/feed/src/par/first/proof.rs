//! Whether several copies write what the first one does, tried on what that was given.

use memchr::memrchr;

use super::super::ended::{Error, Event};

/// Returns the first byte of the output that differs, if any does.
type Differs<'a> = dyn Fn(&[u8]) -> Result<Option<u64>, Error> + 'a;

/// Remembers the beginning of the input, and tries dealing it out before the rest is.
pub(crate) struct Proof<'a> {
    bytes: Vec<u8>,
    most: usize,
    differs: &'a Differs<'a>,
    tell: &'a mut dyn FnMut(Event),
}

impl<'a> Proof<'a> {
    /// Of so many bytes.
    pub(crate) fn new(most: u64, differs: &'a Differs<'a>, tell: &'a mut dyn FnMut(Event)) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { bytes: Vec::new(), most, differs, tell }
    }

    /// Remembers what the first copy is given.
    pub(super) fn remember(&mut self, given: &[u8]) {
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(&given[..room.min(given.len())]);
    }

    /// Whether there is as much as is to be tried.
    pub(super) fn is_ready(&self) -> bool {
        self.bytes.len() == self.most
    }

    /// Whether whole records of it give the same both ways. What cannot be tried is not proved, and no failure: the first copy
    /// needs no other.
    pub(super) fn holds(self, record_end: u8) -> bool {
        let Some(last) = memrchr(record_end, &self.bytes) else { return false };
        let found = match (self.differs)(&self.bytes[..=last]) {
            Ok(None) => Event::Proved(last as u64 + 1),
            Ok(Some(at)) => Event::Differs(at),
            // Blocks have outputs that cannot become one.
            Err(Error::Merging(..) | Error::MergeCommand(_)) => Event::Differs(0),
            Err(_) => return false,
        };
        (self.tell)(found);
        matches!(found, Event::Proved(_))
    }
}
