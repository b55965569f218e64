//! Groups as rows in an order.

use std::cmp::Ordering;

use super::error::NoMemory;
use super::groups::Part;
use super::key::Packed;
use super::segment::key_at;
use super::value::Tally;

/// An order of lines and how often they occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By their bytes, as `LC_ALL=C sort`.
    Key,
    /// The most frequent first; of equally frequent ones the greatest first, as `LC_ALL=C sort -rn` has them.
    Count,
    /// As they first occurred; needs a [`Tally`] that keeps it.
    First,
}

impl Order {
    /// Compares two rows.
    pub fn compare<V: Tally>(self, one: (&[u8], V), other: (&[u8], V)) -> Ordering {
        self.by_value(one.1, other.1).then_with(|| self.directed(one.0.cmp(other.0)))
    }

    fn by_value<V: Tally>(self, one: V, other: V) -> Ordering {
        match self {
            Self::Key => Ordering::Equal,
            Self::Count => other.count().cmp(&one.count()),
            Self::First => one.first().cmp(&other.first()),
        }
    }

    /// Turns the order of two keys around where the order of the rows needs that.
    fn directed(self, keys: Ordering) -> Ordering {
        if self == Self::Count { keys.reverse() } else { keys }
    }
}

/// Rows in an order.
#[derive(Debug)]
pub struct Rows<V> {
    rows: Vec<Row<V>>,
    arenas: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
struct Row<V> {
    /// The key, zeros and its length + 1; of a long key its first 15 bytes and 255. As a number, the first byte first.
    prefix: u128,
    /// Where a long key is: the number of its arena, and the place in it.
    at: (usize, u64),
    value: V,
}

/// What the last byte of the prefix says of a long key.
const LONG: u8 = 0xFF;

impl<V: Tally> Row<V> {
    fn new(key: Packed, value: V, arena: usize, arenas: &[u8]) -> Self {
        if !key.is_long() {
            return Self { prefix: u128::from_be_bytes(key.bytes()), at: (arena, 0), value };
        }
        let mut prefix = [LONG; 16];
        prefix[..15].copy_from_slice(&key_at(arenas, key.low)[..15]);
        Self { prefix: u128::from_be_bytes(prefix), at: (arena, key.low), value }
    }

    fn is_long(&self) -> bool {
        self.prefix.to_be_bytes()[15] == LONG
    }
}

impl<V: Tally> Rows<V> {
    /// Takes the rows that `wanted` lets through out of segments, and sorts them.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(
        parts: Vec<Part<V>>,
        order: Order,
        wanted: impl Fn(V) -> bool,
    ) -> Result<Self, NoMemory> {
        let count = parts.iter().map(|part| part.0.slots().filter(|(_, v)| wanted(*v)).count());
        let mut rows = Self { rows: Vec::new(), arenas: Vec::new() };
        rows.rows.try_reserve_exact(count.sum()).map_err(|_| NoMemory)?;
        for Part(segment) in parts {
            let number = rows.arenas.len();
            let wanted = segment.slots().filter(|(_, value)| wanted(*value));
            let made = wanted.map(|(key, value)| Row::new(key, value, number, segment.arena()));
            rows.rows.extend(made);
            rows.arenas.push(segment.into_arena());
        }
        rows.sort(order);
        Ok(rows)
    }

    fn sort(&mut self, order: Order) {
        let arenas = &self.arenas;
        let keys = |one: &Row<V>, other: &Row<V>| {
            one.prefix.cmp(&other.prefix).then_with(|| {
                if one.is_long() {
                    long(arenas, one).cmp(long(arenas, other))
                } else {
                    Ordering::Equal
                }
            })
        };
        self.rows.sort_unstable_by(|one, other| {
            order.by_value(one.value, other.value).then_with(|| order.directed(keys(one, other)))
        });
    }

    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the key and the value of a row. A short key is written to `room`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn get<'a>(&'a self, row: usize, room: &'a mut [u8; 16]) -> (&'a [u8], V) {
        let row = &self.rows[row];
        if row.is_long() {
            return (long(&self.arenas, row), row.value);
        }
        *room = row.prefix.to_be_bytes();
        let length = usize::from(room[15]) - 1;
        (&room[..length], row.value)
    }
}

fn long<'a, V>(arenas: &'a [Vec<u8>], row: &Row<V>) -> &'a [u8] {
    key_at(&arenas[row.at.0], row.at.1)
}
