//! What to count, and with what.

use std::path::PathBuf;

use fullbore_codec::Tier;
use fullbore_codec::group::Order;
use fullbore_codec::lines::Field;
use fullbore_measure::Bytes;

/// What to count, and with what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The byte that ends a line.
    pub end: u8,
    /// The field to count; `None` counts whole lines.
    pub field: Option<Field>,
    /// The order of the rows.
    pub order: Order,
    /// Keep only so many rows, the most frequent ones.
    pub top: Option<usize>,
    /// Leave out what occurs less often.
    pub at_least: u64,
    /// How many threads count; `None`: one, and one more for each idle CPU.
    pub workers: Option<usize>,
    /// Most memory for the distinct lines. What does not fit goes to disk.
    pub memory: Bytes,
    /// The folder for what goes to disk.
    pub folder: PathBuf,
    /// Which kernels run.
    pub tier: Tier,
    /// A number that nobody can foresee, for the hash. The output does not depend on it.
    pub seed: u64,
}
