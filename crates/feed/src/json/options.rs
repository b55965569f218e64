//! How records are read.

use std::thread::available_parallelism;

use fullbore_codec::Tier;
use fullbore_codec::json::query::Duplicates;
use fullbore_measure::Bytes;

/// How records are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernels to use.
    pub tier: Tier,
    /// The columns of each table: members by their names from the outside to the inside; no name is the whole record.
    pub members: Vec<Vec<String>>,
    /// Which member counts if a name occurs more than once.
    pub duplicates: Duplicates,
    /// How many threads; `None`: one, and one more for each idle CPU.
    pub workers: Option<usize>,
    /// A longer record is an error. A record needs memory for about twice its length.
    pub max_record: Bytes,
    /// Whether to go on after an error, at the next line.
    pub skips_invalid: bool,
    /// Bytes read at a time: [`BLOCK_BYTES`], less only to test.
    pub block_bytes: usize,
}

impl Options {
    /// Returns how many threads there may be.
    pub(super) fn most_workers(&self) -> usize {
        let cpus = || available_parallelism().map_or(1, usize::from);
        self.workers.unwrap_or_else(cpus).max(1)
    }
}

/// Bytes of a block: large enough that handing it on costs nothing, small enough for the cache.
pub const BLOCK_BYTES: usize = 1 << 20;

/// Most bytes of a record unless the user says otherwise.
pub const MAX_RECORD: Bytes = Bytes(1 << 30);
