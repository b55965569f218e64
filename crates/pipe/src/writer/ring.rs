//! Memory whose pages are lent to a pipe, and renewed for writing on each pass.
//!
//! Renewal maps new pages when that costs less than copying pages a reader still holds.

use std::io;

use super::options::Strategy;
use crate::pages::{Faults, HUGE_BYTES, Pages, minor_faults};

/// How lent pages become safe to write to again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// A child that exits at once makes them copy-on-write: Linux then copies the pages that someone holds.
    Share,
    /// New pages replace them.
    Remap,
}

/// The memory.
#[derive(Debug)]
pub(super) struct Ring {
    pages: Pages,
    /// Length up to which it may grow.
    most: usize,
    renewal: Renewal,
    held: Held,
}

impl Ring {
    /// Maps memory of `len` bytes that may grow to `most`, both rounded up to whole huge pages.
    pub(super) fn map(len: usize, most: usize, renewal: Renewal) -> io::Result<Self> {
        let [len, most] = [len, most].map(|len| len.max(1).next_multiple_of(HUGE_BYTES));
        Ok(Self { pages: Pages::map(len)?, most, renewal, held: Held::new(Faults::OfThread) })
    }

    /// Returns the memory to fill and lend.
    pub(super) fn pages(&mut self) -> &mut Pages {
        &mut self.pages
    }

    /// Returns the memory's length in bytes.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn strategy(&self) -> Strategy {
        match self.renewal {
            Renewal::Share => Strategy::Ring,
            Renewal::Remap => Strategy::Fresh,
        }
    }

    /// Replaces the memory by new memory of `len` bytes, rounded up to whole huge pages. Nothing may wait in the old
    /// one.
    ///
    /// # Errors
    /// ENOMEM: the old memory stays.
    pub(super) fn replace(&mut self, len: usize) -> io::Result<()> {
        self.pages = Pages::map(len.next_multiple_of(HUGE_BYTES))?;
        self.held.start_round();
        Ok(())
    }

    /// Makes the memory safe to write to after all of it was lent. `written` is how many bytes went through it so far.
    ///
    /// # Errors
    /// ENOMEM: there is no memory.
    pub(super) fn renew(&mut self, written: u64) -> io::Result<()> {
        let len = self.pages.len();
        match self.renewal {
            Renewal::Remap => self.pages = Pages::map(len)?,
            Renewal::Share => {
                if len < self.most && written / GROW_AFTER_ROUNDS >= len as u64 {
                    self.pages = Pages::map(self.most.min(2 * len))?;
                } else if self.held.wants_new_pages(len) {
                    self.pages = Pages::map(len)?;
                } else if self.pages.share().is_err() {
                    // The limit of processes is reached: map new pages from now on.
                    self.pages = Pages::map(len)?;
                    self.renewal = Renewal::Remap;
                }
                self.held.start_round();
            }
        }
        Ok(())
    }
}

/// Rounds after which a ring doubles. By then, the children saved in future pay for the new memory.
const GROW_AFTER_ROUNDS: u64 = 32;

/// Detects from page faults whether a reader holds pages for long. Linux then splits each huge page and copies it in
/// 512 faults instead of reusing it in one, and new pages are cheaper.
#[derive(Debug)]
pub(crate) struct Held {
    whose: Faults,
    faults_before: u64,
    /// How many more rounds start with new pages.
    remaps_left: u32,
    /// How many rounds will use new pages the next time.
    remaps_next: u32,
}

/// Most consecutive rounds with new pages, for a reader that holds pages (such as a queue in a relay), before sharing
/// is tried again.
const REMAPS_MAX: u32 = 64;
/// Faults in a round that do not come from the pages: stack and heap after a fork.
const OTHER_FAULTS: u64 = 64;

impl Held {
    /// Makes the detector for memory that is filled by the thread which renews it, or by several.
    pub(crate) fn new(whose: Faults) -> Self {
        Self { whose, faults_before: minor_faults(whose), remaps_left: 0, remaps_next: 1 }
    }

    pub(crate) fn start_round(&mut self) {
        self.faults_before = minor_faults(self.whose);
    }

    pub(crate) fn wants_new_pages(&mut self, len: usize) -> bool {
        if self.remaps_left > 0 {
            self.remaps_left -= 1;
            return true;
        }
        // A ring may have moved to a thread with fewer faults.
        let faults = minor_faults(self.whose).saturating_sub(self.faults_before);
        if faults > OTHER_FAULTS + 16 * (len / HUGE_BYTES) as u64 {
            self.remaps_left = self.remaps_next - 1;
            self.remaps_next = (self.remaps_next * 2).min(REMAPS_MAX);
            return true;
        }
        self.remaps_next = 1;
        false
    }
}
