//! Values that are written in an expression.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::json::query::number::{Number, Small};
use crate::json::query::value::{Kind, Value};

/// Up to so many values are compared one after the other.
const FEW: usize = 8;
/// Bytes of the longest escape, which decodes to one byte at least.
const LONGEST_ESCAPE: usize = 6;

/// A value that is written in an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Number {
        text: Vec<u8>,
        /// The value, if it is one that is compared at once.
        small: Option<Small>,
    },
    /// Decoded.
    String(Vec<u8>),
}

/// The values between the parentheses of `in`.
#[derive(Clone, Debug)]
pub(super) enum Set {
    Few(Vec<Literal>),
    Many {
        strings: HashSet<Vec<u8>>,
        /// Texts, sorted by value.
        numbers: Vec<Vec<u8>>,
        others: Vec<Literal>,
    },
}

impl Literal {
    pub(super) fn number(text: &[u8]) -> Self {
        let small = Number::new(text).decimal().and_then(Small::of_decimal);
        Self::Number { text: text.to_vec(), small }
    }

    /// Whether the value is equal to the literal.
    pub(super) fn equals(&self, value: Value<'_>) -> bool {
        match self {
            Self::String(literal) => equals_string(value, literal),
            _ => self.compare(value) == Some(Ordering::Equal),
        }
    }

    /// Compares a value with the literal, if both are of the same kind.
    pub(super) fn compare(&self, value: Value<'_>) -> Option<Ordering> {
        match (self, value.kind()) {
            (Self::Number { text, small }, Kind::Number) => {
                let number = Number::new(value.text);
                Some(match (number.small(), small) {
                    (Some(value), Some(small)) => value.compare(*small),
                    _ => number.cmp(&Number::new(text)),
                })
            }
            (Self::String(literal), Kind::String) => Some(value.decoded().as_ref().cmp(literal)),
            (Self::Bool(literal), Kind::False) => Some(false.cmp(literal)),
            (Self::Bool(literal), Kind::True) => Some(true.cmp(literal)),
            (Self::Null, Kind::Null) => Some(Ordering::Equal),
            _ => None,
        }
    }
}

/// Whether the value is a string that is equal to the literal when it is decoded.
fn equals_string(value: Value<'_>, literal: &[u8]) -> bool {
    let [b'"', inside @ .., b'"'] = value.text else { return false };
    if inside.len() == literal.len() {
        // An escape is longer than what it stands for.
        return inside == literal && memchr::memchr(b'\\', inside).is_none();
    }
    let can_be_equal = (literal.len()..=literal.len() * LONGEST_ESCAPE).contains(&inside.len());
    can_be_equal && memchr::memchr(b'\\', inside).is_some() && *value.decoded() == *literal
}

impl Set {
    pub(super) fn new(literals: Vec<Literal>) -> Self {
        if literals.len() <= FEW {
            return Self::Few(literals);
        }
        let (mut strings, mut numbers, mut others) = (HashSet::new(), Vec::new(), Vec::new());
        for literal in literals {
            match literal {
                Literal::String(string) => drop(strings.insert(string)),
                Literal::Number { text, .. } => numbers.push(text),
                Literal::Null | Literal::Bool(_) => others.push(literal),
            }
        }
        numbers.sort_by(|one, two| Number::new(one).cmp(&Number::new(two)));
        others.dedup();
        Self::Many { strings, numbers, others }
    }

    pub(super) fn contains(&self, value: Value<'_>) -> bool {
        match (self, value.kind()) {
            (Self::Few(literals), _) => literals.iter().any(|literal| literal.equals(value)),
            (Self::Many { strings, .. }, Kind::String) => strings.contains(&*value.decoded()),
            (Self::Many { numbers, .. }, Kind::Number) => {
                let number = Number::new(value.text);
                numbers.binary_search_by(|text| Number::new(text).cmp(&number)).is_ok()
            }
            (Self::Many { others, .. }, _) => others.iter().any(|literal| literal.equals(value)),
        }
    }
}
