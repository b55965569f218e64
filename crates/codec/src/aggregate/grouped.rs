//! Groups of records, and what is kept for each.

use super::column::{Column, Found, Kept, LeftOut};
use super::key;
use super::plan::{Aggregate, Plan};
use super::recent::{Recent, Text};
use crate::few;
use crate::group::{Groups, Value as TableValue};
use crate::json::query::Value;

/// The number of a group, from 1; 0 for one that is new.
#[derive(Clone, Copy, Debug, Default)]
struct Slot(u32);

impl TableValue for Slot {
    /// Only the table of one worker has these numbers, so no two of them meet.
    fn absorb(&mut self, other: Self) {
        *self = other;
    }
}

/// Records divided into groups by the values of keys, and what the aggregates of a [`Plan`] need of each group.
///
/// Several threads fill groups of their own with the same seed, which are then joined by [`absorb`](Self::absorb). What comes
/// out depends neither on the seed nor on who saw which record.
#[derive(Clone, Debug)]
pub struct Grouped {
    plan: Plan,
    table: Groups<Slot>,
    records: Vec<u64>,
    columns: Vec<Column>,
    recent: Recent,
    key: Vec<u8>,
}

impl Grouped {
    /// Makes groups without records. A seed that nobody can foresee protects from keys that are made to collide.
    #[must_use]
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for wanted in &plan.wanted {
            let is_there = columns
                .iter()
                .any(|column| column.path == wanted.path && column.kept.answers(wanted.aggregate));
            if is_there {
                continue;
            }
            if let Some(kept) = Kept::of(wanted.aggregate, plan) {
                columns.push(Column { path: wanted.path, kept, left_out: LeftOut::default() });
            }
        }
        columns.sort_by_key(|column| column.path);
        let mut grouped = Self {
            plan: plan.clone(),
            table: Groups::new(seed),
            records: Vec::new(),
            columns,
            recent: Recent::default(),
            key: Vec::new(),
        };
        if plan.keys == 0 {
            // Without keys there is one group, even if it has no records.
            grouped.group(&[]);
        }
        grouped
    }

    /// Takes in a record: the values of its keys, and those of the paths of the plan.
    ///
    /// # Panics
    /// When there are fewer values than the plan has paths.
    #[inline]
    pub fn add(&mut self, keys: &[Option<Value<'_>>], values: &[Option<Value<'_>>]) {
        let group = self.group_of(keys);
        self.records[group as usize] += 1;
        let mut found = None;
        for column in &mut self.columns {
            found = match found {
                Some((path, found)) if path == column.path => Some((path, found)),
                _ => values[column.path].map(|value| (column.path, Found::new(value))),
            };
            if let Some((_, found)) = found {
                column.add(group, found);
            }
        }
    }

    #[inline]
    fn group_of(&mut self, keys: &[Option<Value<'_>>]) -> u32 {
        let text = Text::of(keys);
        if let Some(group) = text.and_then(|text| self.recent.get(&text)) {
            return group;
        }
        let mut key = std::mem::take(&mut self.key);
        key::write(keys, &mut key);
        let group = self.group(&key);
        self.key = key;
        if let Some(text) = text {
            self.recent.set(text, group);
        }
        group
    }

    /// Returns the group of a key, which is added if it is new.
    #[inline]
    fn group(&mut self, key: &[u8]) -> u32 {
        let slot = self.table.entry(key);
        if slot.0 == 0 {
            let groups = self.records.len() + 1;
            slot.0 = u32::try_from(groups).unwrap_or(u32::MAX);
            self.records.push(0);
            self.columns.iter_mut().for_each(|column| column.grow(groups));
        }
        slot.0 - 1
    }

    /// Returns how many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the memory that all groups take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::bytes).sum();
        self.table.bytes() + self.records.capacity() * size_of::<u64>() + columns
    }

    /// Takes in what other groups of the same plan have; stops when `go_on` of the memory that both take is false, which is
    /// asked from time to time. Returns whether everything was taken in.
    pub fn absorb(&mut self, mut other: Self, go_on: impl Fn(usize) -> bool) -> bool {
        let table = std::mem::replace(&mut other.table, Groups::new(0));
        let table_bytes = table.bytes();
        let mut since = 0;
        let joined = table.try_for_each(|_, key, slot| {
            let (to, from) = (self.group(key), slot.0 - 1);
            self.records[to as usize] += other.records[from as usize];
            for (column, more) in self.columns.iter_mut().zip(&mut other.columns) {
                column.absorb(to, more, from);
            }
            since += 1;
            let is_due = since % ABSORBED_BETWEEN_QUESTIONS == 0;
            if is_due && !go_on(self.bytes() + other.bytes() + table_bytes) {
                Err(())
            } else {
                Ok(())
            }
        });
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            column.left_out.no_numbers += more.left_out.no_numbers;
            column.left_out.too_large += more.left_out.too_large;
        }
        joined.is_ok() && go_on(self.bytes())
    }

    pub(super) fn into_parts(self) -> Parts {
        Parts {
            plan: self.plan,
            table: Keys::of(&self.table),
            records: self.records,
            columns: self.columns,
        }
    }
}

/// Groups that are taken in before the memory is looked at again.
const ABSORBED_BETWEEN_QUESTIONS: usize = 1024;

/// Groups without their table.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) plan: Plan,
    pub(super) table: Keys,
    pub(super) records: Vec<u64>,
    pub(super) columns: Vec<Column>,
}

impl Parts {
    /// Returns the column that answers an aggregate.
    pub(super) fn column(&self, aggregate: Aggregate, path: usize) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns.find(|column| column.path == path && column.kept.answers(aggregate))
    }
}

/// The key of each group.
#[derive(Debug)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    /// Where the key of a group begins and ends.
    places: Vec<(u64, u64)>,
}

impl Keys {
    fn of(table: &Groups<Slot>) -> Self {
        let mut keys = Self { bytes: Vec::new(), places: vec![(0, 0); table.len()] };
        let each = table.try_for_each(|_, key, slot| {
            let begin = keys.bytes.len() as u64;
            few::append(&mut keys.bytes, key);
            keys.places[slot.0 as usize - 1] = (begin, keys.bytes.len() as u64);
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = each;
        keys
    }

    /// Returns the key of a group.
    #[expect(clippy::cast_possible_truncation, reason = "keys are in memory")]
    pub(super) fn get(&self, group: u32) -> &[u8] {
        let (begin, end) = self.places[group as usize];
        &self.bytes[begin as usize..end as usize]
    }
}
