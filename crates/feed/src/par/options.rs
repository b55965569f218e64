//! How to deal out a stream.

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, PIECE_BYTES};

use super::caution::Caution;
use super::crew::Jobs;
use super::cut::BlockSize;
use super::joblog::Joblog;
use super::merge::Merge;
use super::records::Records;
use super::status::StatusRule;

/// What to do when copies fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    /// After so many failures.
    pub after: u64,
    /// End the copies that run, too, instead of waiting for them.
    pub now: bool,
}

/// How to deal out a stream.
#[derive(Debug)]
pub struct Options {
    /// What separates the records.
    pub records: Records,
    /// How many of them make a block.
    pub block: BlockSize,
    /// Lines at the beginning of the input that every copy gets first. The first lines of its output are passed on from
    /// the first block only.
    pub header_lines: u64,
    /// How many copies run at the same time.
    pub jobs: Jobs,
    /// Blocks and output that wait may take so much memory; then nothing more is read.
    pub window: Bytes,
    /// Pass on whole outputs in the order in which copies end, not in that of the input.
    pub is_unordered: bool,
    /// How outputs become one; by default they are put one after the other.
    pub merge: Option<Merge>,
    /// Which exit status follows from those of the copies.
    pub status: StatusRule,
    /// When to give up; by default a failed copy stops nothing.
    pub halt: Option<Halt>,
    /// How often a failed block is tried again. Its output is passed on only when its copy has ended.
    pub retries: u32,
    /// Where to note every copy.
    pub joblog: Option<Joblog>,
    /// Work on so much of the beginning of the input (at most a quarter of the window, and at least two blocks) twice, in
    /// blocks and in one piece. If output or status differ, one copy of the command gets everything. With `caution`, that
    /// happens before blocks are dealt out.
    pub proved: Option<Bytes>,
    /// Begin with one copy that takes everything as it comes, and deal out only once it is what the input waits for, slow,
    /// and a CPU is idle. What would not have been written by one copy of the command is not written: nothing after the block
    /// of a copy that failed.
    pub caution: Option<Caution>,
    /// What Linux grants pipes here.
    pub pipe_limits: Limits,
}

impl Options {
    /// The part of the window that may be in use before another block is dealt out. Meanwhile one more can be read; and
    /// pieces of memory may not be full.
    pub(super) fn used_bytes(&self) -> Bytes {
        let block = match self.block {
            BlockSize::Bytes(bytes) | BlockSize::Fitting(bytes) => bytes.0,
            BlockSize::Records(_) => 0,
        };
        let window = self.window.0;
        let apart = block.saturating_add(2 * PIECE_BYTES as u64);
        Bytes(window.saturating_sub(apart).max(window / 2))
    }
}
