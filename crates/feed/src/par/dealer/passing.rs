//! What happens to the output of the copies.

use rustix::event::PollFlags;

use super::Dealer;
use crate::par::ended::{Error, Event};
use crate::par::job::{Job, Release};
use crate::par::sink::Passed;

impl<E: FnMut(Event)> Dealer<'_, E> {
    /// When the output of the first block in the row is passed on.
    fn release(&self) -> Release {
        if self.options.is_unordered {
            Release::FirstDone
        } else if self.collector.is_some() || self.options.retries > 0 {
            Release::WhenDone
        } else {
            Release::AtOnce
        }
    }

    /// Passes on the output of the block whose turn it is, and of those after it that have ended.
    pub(super) fn pass(&mut self) -> Result<bool, Error> {
        let mut is_pressed = self.pace.was_full && self.sinks[0].ran_low();
        self.pace.was_full = false;
        loop {
            if self.options.is_unordered {
                self.bring_ended_to_front();
            }
            let release = self.release();
            let Some(job) = self.jobs.front_mut() else { return Ok(is_pressed) };
            if job.is_held(release) {
                return Ok(is_pressed);
            }
            if self.collector.is_some() {
                self.collect()?;
                continue;
            }
            is_pressed |= job.out.is_nearly_full();
            let passed = job.out.pass(&mut self.sinks[0]).map_err(Error::Writing)?;
            let errors = job.err.pass(&mut self.sinks[1]);
            // Nobody listens to what it says; its output still counts.
            if errors.is_err() {
                job.err.discard();
            }
            self.pace.was_full = passed == Passed::Full;
            if !job.is_done() {
                return Ok(is_pressed);
            }
            self.jobs.pop_front();
        }
    }

    /// Gives the output of the first block in the row to the collector.
    fn collect(&mut self) -> Result<(), Error> {
        let (Some(mut job), Some(collector)) = (self.jobs.pop_front(), &mut self.collector) else {
            return Ok(());
        };
        let block = job.position.block;
        let taken = collector.take(job.out.take_kept(), self.sinks[0].fd());
        taken.map_err(|trouble| Error::of_merge(block, trouble))?;
        let window = self.options.window;
        if collector.held_bytes() > window.0 {
            return Err(Error::TooMuchToMerge(window));
        }
        // Few bytes, and nobody waits for them in order with the output, which comes at the end.
        job.err.keep(true).map_err(|error| Error::Moving(block, error))?;
        let mut tries = job.err.pass(&mut self.sinks[1]);
        while matches!(tries, Ok(Passed::Full)) {
            let _ = fullbore_pipe::transfer::wait_until(self.sinks[1].fd(), PollFlags::OUT);
            tries = job.err.pass(&mut self.sinks[1]);
        }
        Ok(())
    }

    /// Brings a block whose copy has ended to the front, unless part of the front one was passed on.
    fn bring_ended_to_front(&mut self) {
        let Some(front) = self.jobs.front() else { return };
        if front.is_begun || front.has_ended() {
            return;
        }
        if let Some(index) = self.jobs.iter().position(Job::has_ended)
            && let Some(job) = self.jobs.remove(index)
        {
            self.jobs.push_front(job);
        } else if self.room_bytes() == 0
            // What is merged, or may be tried again, waits for its end.
            && self.collector.is_none()
            && self.options.retries == 0
            && let Some(front) = self.jobs.front_mut()
        {
            front.is_begun = true;
        }
    }

    /// Keeps the output of the blocks whose turn it is not.
    pub(super) fn keep(&mut self) -> Result<bool, Error> {
        let mut is_pressed = false;
        let release = self.release();
        let mut room = self.room_bytes();
        for (index, job) in self.jobs.iter_mut().enumerate() {
            // The first must come to its end, or nothing does.
            if room == 0 && index > 0 {
                break;
            }
            let is_front = index == 0;
            if is_front && !job.is_held(release) {
                continue;
            }
            let before = job.kept_bytes();
            let has_ended = !job.is_running();
            for output in [&mut job.out, &mut job.err] {
                is_pressed |= output.is_nearly_full();
                let kept = output.keep(has_ended);
                kept.map_err(|error| Error::Moving(job.position.block, error))?;
            }
            room = room.saturating_sub(job.kept_bytes().saturating_sub(before));
        }
        Ok(is_pressed)
    }
}
