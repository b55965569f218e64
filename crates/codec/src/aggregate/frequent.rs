//! How often each value occurs in each group.

use std::collections::HashMap;

use super::item::{Item, push_value};
use crate::json::query::Value;

type Counts = HashMap<Box<[u8]>, u64>;

/// What a value takes beside its bytes: its slot, the byte of the slot, a slot that is free, and what the allocator adds.
const VALUE_BYTES: usize = 2 * (size_of::<(Box<[u8]>, u64)>() + 1) + 16;

/// The counts of each group.
#[derive(Clone, Debug, Default)]
pub(super) struct Frequent {
    cells: Vec<Option<Box<Counts>>>,
    kept_bytes: usize,
    room: Vec<u8>,
}

impl Frequent {
    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize_with(groups, || None);
    }

    #[inline]
    pub(super) fn add(&mut self, group: u32, value: Value<'_>) {
        self.room.clear();
        push_value(Some(value), &mut self.room);
        let counts = self.cells[group as usize].get_or_insert_default();
        if let Some(count) = counts.get_mut(&*self.room) {
            *count += 1;
        } else {
            counts.insert(self.room.as_slice().into(), 1);
            self.kept_bytes += self.room.len() + VALUE_BYTES;
        }
    }

    /// Takes in what `other` has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        let Some(more) = other.cells[from as usize].take() else { return };
        let counts = self.cells[to as usize].get_or_insert_default();
        for (value, count) in *more {
            let bytes = value.len() + VALUE_BYTES;
            other.kept_bytes -= bytes;
            let kept = counts.entry(value).or_insert_with(|| {
                self.kept_bytes += bytes;
                0
            });
            *kept += count;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<usize>() + self.kept_bytes
    }

    /// Returns the most frequent values of a group; of equally frequent ones the least first.
    pub(super) fn top(&self, group: u32, most: usize) -> Vec<(Item<'_>, u64)> {
        let Some(counts) = &self.cells[group as usize] else { return Vec::new() };
        let mut all: Vec<_> =
            counts.iter().map(|(value, count)| (Item::from_bytes(value), *count)).collect();
        let order = |one: &(Item<'_>, u64), other: &(Item<'_>, u64)| {
            other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0))
        };
        if all.len() > most {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        all
    }
}
