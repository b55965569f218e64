//! Groups as rows in an order.

use std::cmp::{Ordering, Reverse};

use super::column::{Kept, LeftOut};
use super::grouped::{Grouped, Parts};
use super::histogram::Range;
use super::item::Item;
use super::key;
use super::plan::{Aggregate, Wanted};
use super::quantile::Ranked;
use super::short::Short;
use crate::few;
use crate::json::query::{Kind, Number};

/// What is known about a group: the answer to an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<'a> {
    /// There was no value.
    Nothing,
    /// How many.
    Count(u64),
    /// The text of a JSON number.
    Number(String),
    /// One of the values: its kind, and its text as an [`Item`] has it.
    Value(Kind, Vec<u8>),
    /// Values and how often they occur, the most frequent first.
    Top(Vec<(Item<'a>, u64)>),
    /// Ranges and how many numbers they have, the least numbers first.
    Ranges(Vec<(Range, u64)>),
}

impl Answer<'_> {
    /// Compares two answers to the same aggregate by value. Nothing is less than anything; lists are compared by their greatest
    /// count.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => {
                Number::new(one.as_bytes()).cmp(&Number::new(other.as_bytes()))
            }
            (Self::Value(kind, text), Self::Value(other_kind, other)) => {
                let item = Item { kind: Some(*kind), text };
                item.cmp(&Item { kind: Some(*other_kind), text: other })
            }
            (one, other) => one.weight().cmp(&other.weight()),
        }
    }

    fn weight(&self) -> Option<u64> {
        match self {
            Self::Nothing => None,
            Self::Top(list) => list.iter().map(|(_, count)| *count).max(),
            Self::Ranges(list) => list.iter().map(|(_, count)| *count).max(),
            Self::Count(_) | Self::Number(_) | Self::Value(..) => Some(0),
        }
    }
}

/// Something to tell the user about the answers to an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// So many values are not numbers and were left out.
    NoNumbers(u64),
    /// So many numbers are too large (or too long, for a sum) and were left out.
    TooLarge(u64),
    /// So many groups have too many values, so the answer is an estimate.
    Estimated(u64),
}

/// What rows are sorted by; rows that are equal in it are sorted by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// All parts of the key, from the first to the last.
    Keys,
    /// A part of the key (from 0), then the others.
    Key(usize),
    /// The answer to an aggregate (from 0), the greatest first.
    Aggregate(usize),
}

/// Groups as rows in an order.
#[derive(Debug)]
pub struct Rows {
    parts: Parts,
    order: Vec<u32>,
}

impl Rows {
    /// Takes the rows of all groups and sorts them.
    #[must_use]
    pub fn new(grouped: Grouped, by: SortBy) -> Self {
        let mut parts = grouped.into_parts();
        for column in &mut parts.columns {
            if let Kept::Quantiles(kept) = &mut column.kept {
                kept.sort();
            }
        }
        let order = match by {
            SortBy::Keys => parts.by_key(0),
            SortBy::Key(part) => parts.by_key(part),
            SortBy::Aggregate(number) => parts.by_aggregate(parts.plan.wanted[number]),
        };
        Self { parts, order }
    }

    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns a part of the key of a row; all numbers are from 0.
    ///
    /// # Panics
    /// When there is no such row or part.
    #[must_use]
    pub fn key(&self, row: usize, part: usize) -> Item<'_> {
        self.parts.key(self.order[row], part)
    }

    /// Returns the answer to an aggregate of the plan; all numbers are from 0.
    ///
    /// # Panics
    /// When there is no such row or aggregate.
    #[must_use]
    pub fn answer(&self, row: usize, number: usize) -> Answer<'_> {
        self.parts.answer(self.order[row], self.parts.plan.wanted[number])
    }

    /// Returns what there is to tell about the answers to an aggregate of the plan.
    ///
    /// # Panics
    /// When there is no such aggregate.
    #[must_use]
    pub fn notes(&self, number: usize) -> Vec<Note> {
        let Wanted { aggregate, path } = self.parts.plan.wanted[number];
        let Some(column) = self.parts.column(aggregate, path) else { return Vec::new() };
        let LeftOut { no_numbers, too_large } = column.left_out;
        let estimated = self.order.iter().filter(|group| match &column.kept {
            Kept::Quantiles(kept) => kept.is_estimated(**group),
            Kept::Distinct(kept) => kept.is_estimated(**group),
            _ => false,
        });
        let estimated = estimated.count() as u64;
        let notes = [
            (no_numbers, Note::NoNumbers(no_numbers)),
            (too_large, Note::TooLarge(too_large)),
            (estimated, Note::Estimated(estimated)),
        ];
        notes.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note).collect()
    }
}

impl Parts {
    fn key(&self, group: u32, part: usize) -> Item<'_> {
        key::part(self.table.get(group), part, self.plan.keys)
    }

    fn groups(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    /// Compares two keys: one part first, then all from the first to the last.
    fn compare(&self, one: u32, other: u32, first: usize) -> Ordering {
        let parts = std::iter::once(first).chain(0..self.plan.keys);
        let mut orders = parts.map(|part| self.key(one, part).cmp(&self.key(other, part)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn by_key(&self, first: usize) -> Vec<u32> {
        if self.plan.keys == 0 {
            return self.groups().collect();
        }
        let mut rows: Vec<_> =
            self.groups().map(|group| (prefix(self.key(group, first)), group)).collect();
        rows.sort_unstable_by(|(prefix, one), (other_prefix, other)| {
            prefix.cmp(other_prefix).then_with(|| self.compare(*one, *other, first))
        });
        rows.into_iter().map(|(_, group)| group).collect()
    }

    fn by_aggregate(&self, wanted: Wanted) -> Vec<u32> {
        let mut order = self.by_key(0);
        // The sort is stable, so equal answers stay in the order of their keys.
        if let Aggregate::Records = wanted.aggregate {
            order.sort_by_key(|group| Reverse(self.records[*group as usize]));
            return order;
        }
        let mut rows: Vec<_> =
            order.into_iter().map(|group| (self.answer(group, wanted), group)).collect();
        rows.sort_by(|(one, _), (other, _)| other.compare(one));
        rows.into_iter().map(|(_, group)| group).collect()
    }

    fn answer(&self, group: u32, Wanted { aggregate, path }: Wanted) -> Answer<'_> {
        if aggregate == Aggregate::Records {
            return Answer::Count(self.records[group as usize]);
        }
        let Some(column) = self.column(aggregate, path) else { return Answer::Nothing };
        let number = |text: Option<String>| text.map_or(Answer::Nothing, Answer::Number);
        match (&column.kept, aggregate) {
            (Kept::Counts(counts), _) => Answer::Count(counts[group as usize]),
            (Kept::Sums(kept), Aggregate::Mean) => {
                number(kept.mean(group).map(|(mean, exponent)| match exponent {
                    0 => shortest(mean),
                    exponent => format!("{}e{exponent}", shortest(mean)),
                }))
            }
            (Kept::Sums(kept), _) => number(kept.text(group)),
            (Kept::Extremes(kept), _) => {
                let value = kept.with(group, |item| Some((item.kind?, item.text.to_vec())));
                value.flatten().map_or(Answer::Nothing, |(kind, text)| Answer::Value(kind, text))
            }
            (Kept::Quantiles(kept), Aggregate::Quantile(level)) => {
                number(kept.at(group, level).map(|ranked| match ranked {
                    Ranked::Integer(integer) => integer.to_string(),
                    Ranked::Other(other) => shortest(other),
                }))
            }
            (Kept::Distinct(kept), _) => Answer::Count(kept.count(group)),
            (Kept::Frequent(kept), Aggregate::Top(most)) => match kept.top(group, most) {
                list if list.is_empty() => Answer::Nothing,
                list => Answer::Top(list),
            },
            (Kept::Histograms(kept), _) => match kept.ranges(group) {
                list if list.is_empty() => Answer::Nothing,
                list => Answer::Ranges(list),
            },
            _ => Answer::Nothing,
        }
    }
}

/// Returns the shortest text of a JSON number that is nearest to this one.
#[must_use]
pub fn shortest(number: f64) -> String {
    let text = format!("{number:?}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(integer) => integer.to_owned(),
        None => text,
    }
}

/// Bits of a prefix that tell the kind.
const KIND_BITS: u32 = 3;

/// Returns a number that is less only if the item is.
fn prefix(item: Item<'_>) -> u128 {
    let kind = item.kind.map_or(0, |kind| kind as u128 + 1) << (u128::BITS - KIND_BITS);
    let value = match item.kind {
        Some(Kind::Number) => {
            let short = Short::read(item.text).and_then(Short::to_f64);
            // Zero has no sign here.
            let number = short.unwrap_or_else(|| Number::new(item.text).to_f64()) + 0.0;
            let bits = number.to_bits();
            let ordered = if number < 0.0 { !bits } else { bits | 1 << (u64::BITS - 1) };
            u128::from(ordered) << u64::BITS
        }
        _ => few::word(&item.text[..item.text.len().min(16)]).swap_bytes(),
    };
    kind | value >> KIND_BITS
}
