//! One copy that takes everything as it comes, where dealing out might be noticed.

use std::time::Instant;

use rustix::process::Signal;

use super::Dealer;
use crate::par::cut::Block;
use crate::par::ended::{Error, Event};

impl<E: FnMut(Event)> Dealer<'_, E> {
    /// Gives what has come to the copy that takes everything, if there is one; tells whether it goes on to do so.
    ///
    /// It ends, after whole records, as soon as more waits than it has taken and a CPU is idle.
    pub(super) fn goes_on_alone(&mut self) -> Result<bool, Error> {
        while let Some(job) = self.jobs.back_mut().filter(|job| job.is_open()) {
            if job.has_left() {
                // It wants no more, as head does: then nobody does.
                self.tally.is_over = true;
                return Ok(true);
            }
            let is_fed = job.is_fed();
            if !self.intake.has_block() {
                let has_ended = self.intake.has_ended();
                self.set_last_open(!has_ended)?;
                return Ok(!has_ended);
            }
            if !is_fed {
                return Ok(!self.may_deal());
            }
            let Some(block) = self.intake.take() else { return Ok(true) };
            self.give_last(block)?;
        }
        Ok(false)
    }

    /// Begins to deal out if more than one copy may run and the last block ends where the next may go to another. Where the
    /// reader of the output has no room, more copies would gain nothing, and the producer would see that more is read.
    fn may_deal(&mut self) -> bool {
        let running = self.jobs.iter().filter(|job| job.is_running()).count();
        if self.intake.is_bound()
            || self.pace.was_full
            || self.crew.may_run(running, Instant::now()) <= running
        {
            return false;
        }
        self.intake.deal_out();
        (self.on_event)(Event::Dealing);
        if let Some(job) = self.jobs.back_mut() {
            job.set_open(false);
        }
        true
    }

    fn give_last(&mut self, block: Block) -> Result<(), Error> {
        let Some(job) = self.jobs.back_mut() else { return Ok(()) };
        let number = job.position.block;
        job.widen(self.means.pipe_bytes);
        job.give(block.part);
        job.feed().map(drop).map_err(|error| Error::Moving(number, error))
    }

    fn set_last_open(&mut self, is_open: bool) -> Result<(), Error> {
        let Some(job) = self.jobs.back_mut() else { return Ok(()) };
        job.set_open(is_open);
        let number = job.position.block;
        job.feed().map(drop).map_err(|error| Error::Moving(number, error))
    }

    /// Whether no more input is taken although there is some.
    pub(super) fn takes_no_more(&self) -> bool {
        self.tally.halted.is_some() || self.tally.is_over
    }

    /// Whether one copy of the command would have ended with this status before the end of the input.
    pub(super) fn has_failed(&self, status: u8) -> bool {
        let failed_from = self.options.caution.and_then(|caution| caution.failed_from);
        failed_from.is_some_and(|least| status >= least)
    }

    /// Ends all copies after this one, whose output nobody may see.
    pub(super) fn give_up_after(&mut self, index: usize) {
        let after = self.jobs.split_off(index + 1);
        for mut job in after {
            job.cut_off();
            job.signal(Signal::KILL);
            job.wait();
        }
        self.tally.is_over = true;
    }
}
