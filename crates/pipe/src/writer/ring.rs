//! Memory whose pages are lent to a pipe, and made safe to write to again each time round.

use std::io;

use super::options::Strategy;
use crate::pages::{Faults, HUGE_BYTES, Pages, minor_faults};

/// How pages that were lent become safe to write to again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// By a child that exits at once: Linux then copies the pages that someone holds.
    Share,
    /// They are given up for new ones.
    Remap,
    /// Not at all: whoever still holds them sees them change.
    Never,
}

/// The memory.
#[derive(Debug)]
pub(super) struct Ring {
    pages: Pages,
    /// How long it may become.
    most: usize,
    renewal: Renewal,
    held: Held,
}

impl Ring {
    /// Memory of `len` bytes that grows to `most`, both rounded up to whole huge pages.
    pub(super) fn map(len: usize, most: usize, renewal: Renewal) -> io::Result<Self> {
        let [len, most] = [len, most].map(|len| len.max(1).next_multiple_of(HUGE_BYTES));
        Ok(Self { pages: Pages::map(len)?, most, renewal, held: Held::new(Faults::OfThread) })
    }

    /// The memory to be filled and lent.
    pub(super) fn pages(&mut self) -> &mut Pages {
        &mut self.pages
    }

    /// Bytes of memory.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn strategy(&self) -> Strategy {
        match self.renewal {
            Renewal::Share => Strategy::Ring,
            Renewal::Remap => Strategy::Fresh,
            Renewal::Never => Strategy::DoubleBuffer,
        }
    }

    /// Gives the memory back, and takes new of `len` bytes, rounded up to whole huge pages. Nothing may wait in the old one.
    ///
    /// # Errors
    /// ENOMEM: the old memory stays.
    pub(super) fn replace(&mut self, len: usize) -> io::Result<()> {
        self.pages = Pages::map(len.next_multiple_of(HUGE_BYTES))?;
        self.held.start_round();
        Ok(())
    }

    /// All of the memory was lent: makes it safe to write to. `written` bytes went through it so far.
    ///
    /// # Errors
    /// ENOMEM: there is none.
    pub(super) fn renew(&mut self, written: u64) -> io::Result<()> {
        let len = self.pages.len();
        match self.renewal {
            Renewal::Never => {}
            Renewal::Remap => self.pages = Pages::map(len)?,
            Renewal::Share => {
                if len < self.most && written / GROW_AFTER_ROUNDS >= len as u64 {
                    self.pages = Pages::map(self.most.min(2 * len))?;
                } else if self.held.wants_new_pages(len) {
                    self.pages = Pages::map(len)?;
                } else if self.pages.share().is_err() {
                    // At the limit of processes: new pages from now on.
                    self.pages = Pages::map(len)?;
                    self.renewal = Renewal::Remap;
                }
                self.held.start_round();
            }
        }
        Ok(())
    }
}

/// Rounds before a ring is doubled: then the new memory has been paid for by the children that it will save.
const GROW_AFTER_ROUNDS: u64 = 32;

/// Finds out from page faults whether someone holds the pages for long: then each huge page is split and copied in
/// 512 faults instead of being taken over in one, and new pages are cheaper.
#[derive(Debug)]
pub(super) struct Held {
    whose: Faults,
    faults_before: u64,
    /// Rounds that still begin with new pages.
    remaps_left: u32,
    /// How many rounds the next time.
    remaps_next: u32,
}

/// A reader that holds pages (a queue in a relay) is given new ones for at most this many rounds before sharing is
/// tried again.
const REMAPS_MAX: u32 = 64;
/// Faults of a round that have nothing to do with the pages: stack and heap after a fork.
const OTHER_FAULTS: u64 = 64;

impl Held {
    /// For memory that is filled by the thread which renews it, or by several.
    pub(super) fn new(whose: Faults) -> Self {
        Self { whose, faults_before: minor_faults(whose), remaps_left: 0, remaps_next: 1 }
    }

    pub(super) fn start_round(&mut self) {
        self.faults_before = minor_faults(self.whose);
    }

    pub(super) fn wants_new_pages(&mut self, len: usize) -> bool {
        if self.remaps_left > 0 {
            self.remaps_left -= 1;
            return true;
        }
        // A ring may have gone to another thread, which had fewer.
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
