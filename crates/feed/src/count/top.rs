//! The most frequent rows.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fullbore_codec::group::{Order, Tally};

/// At most so many rows: the first ones by [`Order::Count`].
#[derive(Debug)]
pub(super) struct Top<V> {
    most: usize,
    /// Memory of the rows, about.
    bytes: usize,
    /// The last of them is at the top.
    rows: BinaryHeap<Row<V>>,
}

#[derive(Debug)]
struct Row<V> {
    key: Box<[u8]>,
    value: V,
}

impl<V: Tally> Ord for Row<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        Order::Count.compare((&self.key, self.value), (&other.key, other.value))
    }
}

impl<V: Tally> PartialOrd for Row<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Tally> PartialEq for Row<V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<V: Tally> Eq for Row<V> {}

impl<V> Row<V> {
    /// What a row takes: itself in a heap that grows, and a block of memory, both about.
    fn bytes(&self) -> usize {
        2 * size_of::<Self>() + 16 + self.key.len()
    }
}

impl<V: Tally> Top<V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, bytes: 0, rows: BinaryHeap::new() }
    }

    /// Returns the memory that the rows take, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the row in if it is among the first ones.
    pub(super) fn offer(&mut self, key: &[u8], value: V) {
        if self.rows.len() >= self.most {
            let is_later = |last: &Row<V>| {
                Order::Count.compare((key, value), (&last.key, last.value)) != Ordering::Less
            };
            if self.rows.peek().is_none_or(is_later) {
                return;
            }
            self.bytes -= self.rows.pop().map_or(0, |row| row.bytes());
        }
        let row = Row { key: key.into(), value };
        self.bytes += row.bytes();
        self.rows.push(row);
    }

    /// Returns an empty list for as many rows.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.most)
    }

    /// Takes in the rows of another.
    pub(super) fn join(mut self, other: Self) -> Self {
        other.rows.iter().for_each(|row| self.offer(&row.key, row.value));
        self
    }

    /// Calls `each` with the rows in this order.
    pub(super) fn in_order<E>(
        self,
        order: Order,
        mut each: impl FnMut(&[u8], V) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = self.rows.into_vec();
        rows.sort_unstable_by(|one, other| {
            order.compare((&one.key, one.value), (&other.key, other.value))
        });
        rows.iter().try_for_each(|row| each(&row.key, row.value))
    }
}
