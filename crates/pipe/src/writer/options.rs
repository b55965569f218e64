//! Options of a writer.

use std::fmt;
use std::str::FromStr;

use fullbore_measure::Bytes;

use crate::pages::{HUGE_BYTES, PAGE_BYTES};

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
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "copy",
            Self::Fresh => "fresh",
            Self::Ring => "ring",
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

/// How a [`PipeWriter`](crate::PipeWriter) works. The default suits every stage.
///
/// A size outside its range counts as the nearest one inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The way to use from the first byte on, where possible. `None` selects the fastest safe one, once there is enough
    /// to write.
    pub strategy: Option<Strategy>,
    /// Size of the ring: 2 MiB to 1 GiB, rounded up to a multiple of 2 MiB; 16 MiB by default. Larger rings need fewer
    /// children, until they no longer fit in the cache.
    pub ring: Bytes,
    /// How many bytes to collect before lending them to the pipe: 4 KiB to 1 GiB; 1 MiB by default.
    pub chunk: Bytes,
    /// How many bytes to collect before calling write(2): 1 byte to 64 MiB; 256 KiB by default.
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
    /// Sets the way to use.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Sets the size of the ring.
    #[must_use]
    pub fn ring(mut self, ring: Bytes) -> Self {
        self.ring = ring;
        self
    }

    /// Sets the sizes of chunks for vmsplice(2) (`chunk`) and for write(2) (`block`).
    #[must_use]
    pub fn chunk(mut self, chunk: Bytes) -> Self {
        (self.chunk, self.block) = (chunk, chunk);
        self
    }
}

/// The sizes of [`Options`], each clamped to its range, so that no sum of them overflows and their memory can be
/// allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) ring: usize,
    pub(super) chunk: usize,
    pub(super) block: usize,
}

impl Sizes {
    pub(super) fn of(options: &Options) -> Self {
        let within = |wanted: Bytes, least: usize, most: usize| {
            usize::try_from(wanted.0).unwrap_or(most).clamp(least, most)
        };
        Self {
            ring: within(options.ring, HUGE_BYTES, 1 << 30).next_multiple_of(HUGE_BYTES),
            chunk: within(options.chunk, PAGE_BYTES, 1 << 30),
            block: within(options.block, 1, 64 << 20),
        }
    }
}
