//! How a writer may go about it.

use std::fmt;
use std::str::FromStr;

use fullbore_measure::Bytes;

/// A way to get bytes into a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Large write(2).
    Copy,
    /// vmsplice(2) of huge pages that are unmapped after use.
    Fresh,
    /// vmsplice(2) from a ring of huge pages that is made copy-on-write before each reuse.
    Ring,
    /// vmsplice(2) from two buffers in turn: unsafe, for comparison only, and never chosen.
    DoubleBuffer,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "copy",
            Self::Fresh => "fresh",
            Self::Ring => "ring",
            Self::DoubleBuffer => "double",
        })
    }
}

impl FromStr for Strategy {
    type Err = String;

    /// Reads `copy`, `fresh` or `ring`.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "copy" => Ok(Self::Copy),
            "fresh" => Ok(Self::Fresh),
            "ring" => Ok(Self::Ring),
            _ => Err(format!("{name}: not one of copy, fresh, ring")),
        }
    }
}

/// How a [`PipeWriter`](crate::PipeWriter) works; the default suits every stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The way to use from the first byte on, as far as it is possible here; `None`: the fastest safe one, once
    /// there is enough to write.
    pub strategy: Option<Strategy>,
    /// Size of the ring; rounded up to 2 MiB. Larger rings need fewer children, until they leave the cache.
    pub ring: Bytes,
    /// How much goes to the pipe at once without a copy.
    pub chunk: Bytes,
    /// How much goes to write(2) at once.
    pub block: Bytes,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: None,
            ring: Bytes(16 << 20),
            chunk: Bytes(1 << 20),
            block: Bytes(256 << 10),
        }
    }
}

impl Options {
    /// With the way that is to be used.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// With a ring of this size.
    #[must_use]
    pub fn ring(mut self, ring: Bytes) -> Self {
        self.ring = ring;
        self
    }

    /// With chunks of this size, for both vmsplice and write(2).
    #[must_use]
    pub fn chunk(mut self, chunk: Bytes) -> Self {
        (self.chunk, self.block) = (chunk, chunk);
        self
    }
}
