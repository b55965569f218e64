//! The account of one pipe: how long it lived, how long its sides waited on it.

/// Times of a pipe, from the start of the run. The difference of two of them is a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PipeAccount {
    pub(crate) life_ns: f64,
    pub(crate) writer_blocked_ns: f64,
    pub(crate) reader_blocked_ns: f64,
    /// Samples in which the pipe was alive.
    pub(crate) samples: u64,
}

impl PipeAccount {
    /// What happened since an earlier state of the account.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            life_ns: self.life_ns - earlier.life_ns,
            writer_blocked_ns: self.writer_blocked_ns - earlier.writer_blocked_ns,
            reader_blocked_ns: self.reader_blocked_ns - earlier.reader_blocked_ns,
            samples: self.samples - earlier.samples,
        }
    }

    /// Adds the times of another pipe.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.life_ns += other.life_ns;
        self.writer_blocked_ns += other.writer_blocked_ns;
        self.reader_blocked_ns += other.reader_blocked_ns;
        self.samples += other.samples;
    }

    /// Whether a side ever waited on it.
    pub(crate) fn was_waited_for(&self) -> bool {
        self.writer_blocked_ns + self.reader_blocked_ns > 0.0
    }
}
