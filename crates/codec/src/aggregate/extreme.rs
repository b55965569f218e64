//! The least and the greatest value of each group.

use std::cmp::Ordering;

use super::item::{Item, push_value};
use super::short::Short;
use crate::json::query::{Kind, Value};

/// Which value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Greatest,
}

/// The value of one group.
#[derive(Clone, Debug, Default)]
enum Cell {
    #[default]
    None,
    /// A number whose text is this integer's.
    Integer(i64),
    /// Any other, as a tag and bytes.
    Other(Box<[u8]>),
}

/// The value of each group.
#[derive(Clone, Debug)]
pub(super) struct Extremes {
    end: End,
    cells: Vec<Cell>,
    kept_bytes: usize,
    room: Vec<u8>,
}

impl Extremes {
    pub(super) fn new(end: End) -> Self {
        Self { end, cells: Vec::new(), kept_bytes: 0, room: Vec::new() }
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize(groups, Cell::None);
    }

    /// Takes in a value that is not null, of which `short` is the number that could be read.
    #[inline]
    pub(super) fn add(&mut self, group: u32, short: Option<Short>, value: Value<'_>) {
        if let (Some(integer), Cell::None | Cell::Integer(_)) =
            (plain(short, value.text), &self.cells[group as usize])
        {
            return self.add_integer(group, integer);
        }
        let mut room = std::mem::take(&mut self.room);
        room.clear();
        push_value(Some(value), &mut room);
        self.add_bytes(group, &room);
        self.room = room;
    }

    fn add_integer(&mut self, group: u32, integer: i64) {
        let cell = &mut self.cells[group as usize];
        match cell {
            Cell::Integer(kept) if self.end == End::Least => *kept = integer.min(*kept),
            Cell::Integer(kept) => *kept = integer.max(*kept),
            Cell::None => *cell = Cell::Integer(integer),
            Cell::Other(_) => {
                let text = integer.to_string();
                self.add_value(group, Item { kind: Some(Kind::Number), text: text.as_bytes() });
            }
        }
    }

    fn add_value(&mut self, group: u32, item: Item<'_>) {
        let mut bytes = Vec::new();
        item.push_to(&mut bytes);
        self.add_bytes(group, &bytes);
    }

    fn add_bytes(&mut self, group: u32, bytes: &[u8]) {
        let wanted = match self.end {
            End::Least => Ordering::Less,
            End::Greatest => Ordering::Greater,
        };
        let item = Item::from_bytes(bytes);
        let cell = &mut self.cells[group as usize];
        let is_wanted = match cell {
            Cell::None => true,
            Cell::Integer(kept) => {
                let text = kept.to_string();
                item.cmp(&Item { kind: Some(Kind::Number), text: text.as_bytes() }) == wanted
            }
            Cell::Other(kept) => item.cmp(&Item::from_bytes(kept)) == wanted,
        };
        if is_wanted {
            if let Cell::Other(old) = cell {
                self.kept_bytes -= old.len();
            }
            self.kept_bytes += bytes.len();
            *cell = Cell::Other(bytes.into());
        }
    }

    /// Takes in what `other` has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        match std::mem::take(&mut other.cells[from as usize]) {
            Cell::None => {}
            Cell::Integer(integer) => self.add_integer(to, integer),
            Cell::Other(bytes) => {
                other.kept_bytes -= bytes.len();
                self.add_bytes(to, &bytes);
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>() + self.kept_bytes
    }

    /// Calls `show` with the value of a group, if it has one.
    pub(super) fn with<T>(&self, group: u32, show: impl FnOnce(Item<'_>) -> T) -> Option<T> {
        match &self.cells[group as usize] {
            Cell::None => None,
            Cell::Integer(integer) => {
                let text = integer.to_string();
                Some(show(Item { kind: Some(Kind::Number), text: text.as_bytes() }))
            }
            Cell::Other(bytes) => Some(show(Item::from_bytes(bytes))),
        }
    }
}

/// Returns an integer whose text is what it was read from.
fn plain(short: Option<Short>, text: &[u8]) -> Option<i64> {
    let Short { coefficient, places: 0 } = short? else { return None };
    (coefficient != 0 || text == b"0").then_some(coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_absorbed_takes_no_memory_any_more() {
        let mut both = [Extremes::new(End::Least), Extremes::new(End::Least)];
        for (extremes, text) in both.iter_mut().zip([&b"\"b\""[..], b"\"a\""]) {
            extremes.grow(1);
            extremes.add(0, None, Value::new(text));
        }
        let [mut one, mut other] = both;
        let before = one.kept_bytes;
        one.absorb(0, &mut other, 0);
        assert_eq!((one.kept_bytes, other.kept_bytes), (before, 0));
    }
}
