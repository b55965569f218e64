//! Cuts for a command that is dealt out with caution: while there is one copy, whatever has come; and whatever might be
//! more than it bears stays with one copy.

use super::{Block, CutError, Cutter, STRETCH_BYTES};

impl Cutter {
    /// The next block, marked if what follows must go to the same copy.
    pub(super) fn next_guarded(&mut self) -> Result<Option<Block>, CutError> {
        let is_alone = self.fitting.is_alone() && self.stream.is_some();
        let (end, is_open) = if is_alone { self.what_has_come()? } else { self.a_block()? };
        if end == self.start && self.number > 0 {
            return Ok(None);
        }
        let mut block = self.block(end);
        let is_borne = match &mut self.guard {
            Some(guard) => guard.bears(&block.part)?,
            None => true,
        };
        block.is_open = is_open || !is_borne;
        if block.is_open {
            self.fitting.set_alone(true);
        }
        Ok(Some(block))
    }

    /// Whole records of what has come, or part of one that is long; waits for the first bytes.
    fn what_has_come(&mut self) -> Result<(u64, bool), CutError> {
        loop {
            let has = self.filled - self.start;
            if has > 0 {
                if let Some(end) = self.search.last(&self.held, self.start, self.filled)? {
                    return Ok((end, false));
                }
                if has >= STRETCH_BYTES {
                    return Ok((self.filled, true));
                }
            }
            if self.has_ended {
                return Ok((self.filled, false));
            }
            self.fill(1)?;
        }
    }

    /// A block as it fits the copies; part of a record that does not fit into the window.
    fn a_block(&mut self) -> Result<(u64, bool), CutError> {
        match self.after_bytes(self.wanted()) {
            Ok(end) => Ok((end, false)),
            Err(CutError::NoEnd(_)) => Ok((self.filled, true)),
            Err(error) => Err(error),
        }
    }
}
