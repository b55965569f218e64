//! Expressions as trees.

use super::row::Record;
use super::test::Test;

/// A part of an expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// True if all are.
    All(Vec<Node>),
    /// True if one is.
    Any(Vec<Node>),
    Test(Test),
}

impl Node {
    pub(super) fn holds(&self, record: Record<'_>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(record)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(record)),
            Self::Test(test) => test.holds(record),
        }
    }
}
