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

    /// Whether whole records of it give the same both ways.
    pub(super) fn holds(&mut self, record_end: u8) -> Result<bool, Error> {
        let end = memrchr(record_end, &self.bytes).map_or(0, |at| at + 1);
        let bytes = &self.bytes[..end];
        let difference = if end == 0 { Some(0) } else { (self.differs)(bytes)? };
        (self.tell)(difference.map_or(Event::Proved(end as u64), Event::Differs));
        self.bytes = Vec::new();
        Ok(difference.is_none())
    }
}
