//! The smallest parts of an expression.

use std::cmp::Ordering;

use regex::bytes::Regex;

use super::literal::{Literal, Set};
use super::row::{Record, Row};
use crate::json::query::order::order;
use crate::json::query::time::{Cut, Instant};
use crate::json::query::value::{Kind, Value};

/// A test of one or two values.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) check: Check,
    pub(super) is_negated: bool,
    /// Whether it depends on an element of the array.
    pub(super) needs_element: bool,
}

/// What a test finds out. A `cell` is the number of a path.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Literal { cell: usize, relation: Relation, literal: Literal },
    Cells { one: usize, relation: Relation, two: usize },
    Instant { time: Time, relation: Relation, instant: Instant },
    Times { one: Time, relation: Relation, two: Time },
    Matches { cell: usize, regex: Regex },
    In { cell: usize, set: Set },
    Exists { cell: usize },
    IsTrue { cell: usize },
}

/// The time in a cell, as far as it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) cell: usize,
    pub(super) cut: Cut,
}

/// How the left side must compare to the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Test {
    pub(super) fn holds(&self, record: Record<'_>) -> bool {
        let holds = if self.needs_element {
            record.elements().any(|row| self.check.holds(row))
        } else {
            self.check.holds(record.common())
        };
        holds != self.is_negated
    }
}

impl Check {
    fn holds(&self, row: Row<'_>) -> bool {
        match self {
            Self::Literal { cell, relation, literal } => {
                row.value(*cell).is_some_and(|value| match relation {
                    Relation::Equal => literal.equals(value),
                    _ => relation.suits(literal.compare(value)),
                })
            }
            Self::Cells { one, relation, two } => {
                let values = row.value(*one).zip(row.value(*two));
                relation.suits(values.and_then(|(one, two)| compare(one, two)))
            }
            Self::Instant { time, relation, instant } => {
                relation.suits(row.time(*time).map(|time| time.cmp(instant)))
            }
            Self::Times { one, relation, two } => {
                let times = row.time(*one).zip(row.time(*two));
                relation.suits(times.map(|(one, two)| one.cmp(&two)))
            }
            Self::Matches { cell, regex } => {
                row.string(*cell).is_some_and(|string| regex.is_match(&string.decoded()))
            }
            Self::In { cell, set } => row.value(*cell).is_some_and(|value| set.contains(value)),
            Self::Exists { cell } => row.value(*cell).is_some(),
            Self::IsTrue { cell } => row.value(*cell).is_some_and(|value| value.text == b"true"),
        }
    }
}

impl<'a> Row<'a> {
    fn value(self, cell: usize) -> Option<Value<'a>> {
        let range = self.cells.get(cell)?;
        (!range.is_empty()).then(|| Value::new(&self.text[range.clone()]))
    }

    fn string(self, cell: usize) -> Option<Value<'a>> {
        self.value(cell).filter(|value| value.kind() == Kind::String)
    }

    fn time(self, time: Time) -> Option<Instant> {
        let instant = Instant::parse(&self.string(time.cell)?.decoded())?;
        Some(instant.cut(time.cut))
    }
}

/// Compares two values of the same kind.
fn compare(one: Value<'_>, two: Value<'_>) -> Option<Ordering> {
    let is_bool = |kind| matches!(kind, Kind::False | Kind::True);
    let (kind, other) = (one.kind(), two.kind());
    (kind == other || is_bool(kind) && is_bool(other)).then(|| order(one, two))
}

impl Relation {
    fn suits(self, order: Option<Ordering>) -> bool {
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }

    /// Returns the relation of the right side to the left one.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}
