//! One sorted list of rows out of several.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

use fullbore_codec::group::{Order, Rows, Tally};

use super::records::{Extent, Reader, Scrap, reserve};

/// A sorted list of rows.
pub(super) enum List<'a, V> {
    /// In memory, with the number of the next row.
    Rows(Rows<V>, usize),
    /// On disk.
    Records(Reader<'a, V>),
}

impl<'a, V: Tally> List<'a, V> {
    /// Returns the rows in some extents, read through a buffer of this size.
    pub(super) fn records(scrap: &'a Scrap, extents: Vec<Extent>, buffer_bytes: usize) -> Self {
        Self::Records(Reader::new(scrap, extents, buffer_bytes))
    }

    /// Writes the key of the next row to `key` and returns its value.
    fn advance(&mut self, key: &mut Vec<u8>) -> io::Result<Option<V>> {
        key.clear();
        match self {
            Self::Rows(rows, next) if *next < rows.len() => {
                let mut room = [0; 16];
                let (bytes, value) = rows.get(*next, &mut room);
                reserve(key, bytes.len())?;
                key.extend_from_slice(bytes);
                *next += 1;
                Ok(Some(value))
            }
            Self::Rows(..) => Ok(None),
            Self::Records(records) => {
                let value = records.advance()?;
                if value.is_some() {
                    reserve(key, records.key().len())?;
                    key.extend_from_slice(records.key());
                }
                Ok(value)
            }
        }
    }
}

/// A list at one of its rows. The one with the first row is the greatest, as a heap needs it.
struct Cursor<'a, V> {
    key: Vec<u8>,
    value: V,
    order: Order,
    list: List<'a, V>,
}

impl<V: Tally> Ord for Cursor<'_, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare((&other.key, other.value), (&self.key, self.value))
    }
}

impl<V: Tally> PartialOrd for Cursor<'_, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Tally> PartialEq for Cursor<'_, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<V: Tally> Eq for Cursor<'_, V> {}

/// Calls `each` with the first `most` rows of all lists, which are sorted by `order` and have no key in common.
pub(super) fn merge<V: Tally, E: From<io::Error>>(
    lists: Vec<List<'_, V>>,
    order: Order,
    most: usize,
    mut each: impl FnMut(&[u8], V) -> Result<(), E>,
) -> Result<(), E> {
    let mut heap = BinaryHeap::with_capacity(lists.len());
    for mut list in lists {
        let mut key = Vec::new();
        if let Some(value) = list.advance(&mut key)? {
            heap.push(Cursor { key, value, order, list });
        }
    }
    for _ in 0..most {
        let Some(mut cursor) = heap.peek_mut() else { break };
        each(&cursor.key, cursor.value)?;
        let Cursor { key, value, list, .. } = &mut *cursor;
        match list.advance(key)? {
            Some(next) => *value = next,
            None => drop(PeekMut::pop(cursor)),
        }
    }
    Ok(())
}
