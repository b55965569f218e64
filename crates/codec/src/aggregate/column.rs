//! What is kept for every group, to answer one or several aggregates of the same path.

use super::distinct::Distinct;
use super::extreme::{End, Extremes};
use super::frequent::Frequent;
use super::histogram::Histograms;
use super::plan::{Aggregate, Plan};
use super::quantile::Quantiles;
use super::short::Short;
use super::sum::Sums;
use crate::json::query::{Kind, Number, Value};

/// A value, and what was read of it for all columns.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    value: Value<'a>,
    kind: Kind,
    short: Option<Short>,
}

impl<'a> Found<'a> {
    #[inline]
    pub(super) fn new(value: Value<'a>) -> Self {
        let kind = value.kind();
        let short = if kind == Kind::Number { Short::read(value.text) } else { None };
        Self { value, kind, short }
    }

    /// Returns the nearest number of 64 bits.
    fn to_f64(self) -> f64 {
        let short = self.short.and_then(Short::to_f64);
        short.unwrap_or_else(|| Number::new(self.value.text).to_f64())
    }
}

/// Values that an aggregate had to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) no_numbers: u64,
    pub(super) too_large: u64,
}

/// What is kept for every group.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Counts(Vec<u64>),
    Sums(Sums),
    Extremes(Extremes),
    Quantiles(Quantiles),
    Distinct(Distinct),
    Frequent(Frequent),
    Histograms(Histograms),
}

impl Kept {
    /// Returns what an aggregate needs; nothing if it needs only the number of records.
    pub(super) fn of(aggregate: Aggregate, plan: &Plan) -> Option<Self> {
        Some(match aggregate {
            Aggregate::Records => return None,
            Aggregate::Count => Self::Counts(Vec::new()),
            Aggregate::Sum | Aggregate::Mean => Self::Sums(Sums::default()),
            Aggregate::Least => Self::Extremes(Extremes::new(End::Least)),
            Aggregate::Greatest => Self::Extremes(Extremes::new(End::Greatest)),
            Aggregate::Quantile(_) => Self::Quantiles(Quantiles::new(plan.most_exact_values)),
            Aggregate::Distinct => Self::Distinct(Distinct::new(plan.most_exact_distinct)),
            Aggregate::Top(_) => Self::Frequent(Frequent::default()),
            Aggregate::Histogram => Self::Histograms(Histograms::default()),
        })
    }

    /// Returns whether this is what an aggregate needs.
    pub(super) fn answers(&self, aggregate: Aggregate) -> bool {
        match (self, aggregate) {
            (Self::Counts(_), Aggregate::Count)
            | (Self::Sums(_), Aggregate::Sum | Aggregate::Mean)
            | (Self::Quantiles(_), Aggregate::Quantile(_))
            | (Self::Distinct(_), Aggregate::Distinct)
            | (Self::Frequent(_), Aggregate::Top(_))
            | (Self::Histograms(_), Aggregate::Histogram) => true,
            (Self::Extremes(kept), Aggregate::Least) => kept.end() == End::Least,
            (Self::Extremes(kept), Aggregate::Greatest) => kept.end() == End::Greatest,
            _ => false,
        }
    }

    fn grow(&mut self, groups: usize) {
        match self {
            Self::Counts(counts) => counts.resize(groups, 0),
            Self::Sums(kept) => kept.grow(groups),
            Self::Extremes(kept) => kept.grow(groups),
            Self::Quantiles(kept) => kept.grow(groups),
            Self::Distinct(kept) => kept.grow(groups),
            Self::Frequent(kept) => kept.grow(groups),
            Self::Histograms(kept) => kept.grow(groups),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Counts(counts) => counts.capacity() * size_of::<u64>(),
            Self::Sums(kept) => kept.bytes(),
            Self::Extremes(kept) => kept.bytes(),
            Self::Quantiles(kept) => kept.bytes(),
            Self::Distinct(kept) => kept.bytes(),
            Self::Frequent(kept) => kept.bytes(),
            Self::Histograms(kept) => kept.bytes(),
        }
    }
}

/// What is kept of the values of one path.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) path: usize,
    pub(super) kept: Kept,
    pub(super) left_out: LeftOut,
}

impl Column {
    pub(super) fn grow(&mut self, groups: usize) {
        self.kept.grow(groups);
    }

    pub(super) fn bytes(&self) -> usize {
        self.kept.bytes()
    }

    /// Takes in a value of a group.
    #[inline]
    pub(super) fn add(&mut self, group: u32, found: Found<'_>) {
        let Found { value, kind, short } = found;
        match &mut self.kept {
            Kept::Distinct(kept) => kept.add(group, value),
            Kept::Frequent(kept) => kept.add(group, value),
            _ if kind == Kind::Null => {}
            Kept::Counts(counts) => counts[group as usize] += 1,
            Kept::Extremes(kept) => kept.add(group, short, value),
            _ if kind != Kind::Number => self.left_out.no_numbers += 1,
            Kept::Sums(kept) => {
                let added = kept.add(group, short, value.text);
                self.left_out.too_large += u64::from(added.is_err());
            }
            Kept::Quantiles(kept) => {
                let added = kept.add(group, short, || found.to_f64());
                self.left_out.too_large += u64::from(!added);
            }
            Kept::Histograms(kept) => {
                let added = kept.add(group, short, || found.to_f64());
                self.left_out.too_large += u64::from(!added);
            }
        }
    }

    /// Takes in what the same column of another table has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        match (&mut self.kept, &mut other.kept) {
            (Kept::Counts(kept), Kept::Counts(more)) => kept[to as usize] += more[from as usize],
            (Kept::Sums(kept), Kept::Sums(more)) => kept.absorb(to, more, from),
            (Kept::Extremes(kept), Kept::Extremes(more)) => kept.absorb(to, more, from),
            (Kept::Quantiles(kept), Kept::Quantiles(more)) => kept.absorb(to, more, from),
            (Kept::Distinct(kept), Kept::Distinct(more)) => kept.absorb(to, more, from),
            (Kept::Frequent(kept), Kept::Frequent(more)) => kept.absorb(to, more, from),
            (Kept::Histograms(kept), Kept::Histograms(more)) => kept.absorb(to, more, from),
            _ => debug_assert!(false, "tables of the same plan have the same columns"),
        }
    }
}
