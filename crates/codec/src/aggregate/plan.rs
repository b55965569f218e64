//! What is to be found out about each group.

use super::quantile::Level;

/// What is to be found out about the values of one path; or, for [`Records`](Self::Records), about the records themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// How many records there are.
    Records,
    /// How many values there are that are not null.
    Count,
    /// The sum of the numbers, exactly.
    Sum,
    /// The sum divided by how many numbers there are.
    Mean,
    /// The least value that is not null.
    Least,
    /// The greatest value that is not null.
    Greatest,
    /// The smallest number such that this part of the numbers is not greater.
    Quantile(Level),
    /// How many different values there are; null is one of them.
    Distinct,
    /// The most frequent values, at most so many, and how often they occur; null is one of them.
    Top(usize),
    /// How many numbers there are between two powers of two.
    Histogram,
}

/// An aggregate, and the number of its path among the values of a record. [`Aggregate::Records`] needs none: it ignores the
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is to be found out.
    pub aggregate: Aggregate,
    /// From 0.
    pub path: usize,
}

/// What is found out about each group, and how much is kept for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many parts a key has; 0 if there is only one group.
    pub keys: usize,
    /// The aggregates of each row.
    pub wanted: Vec<Wanted>,
    /// Most values of a group that are kept to find a quantile exactly; 1,000,000 unless a test wants less.
    pub most_exact_values: usize,
    /// Most different values of a group that are counted exactly; 1,000,000 unless a test wants less.
    pub most_exact_distinct: usize,
}

impl Plan {
    /// Makes a plan with the usual limits.
    #[must_use]
    pub fn new(keys: usize, wanted: Vec<Wanted>) -> Self {
        Self {
            keys,
            wanted,
            most_exact_values: super::MOST_EXACT_VALUES,
            most_exact_distinct: super::MOST_EXACT_DISTINCT,
        }
    }
}
