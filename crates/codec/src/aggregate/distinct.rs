//! How many different values there are: exactly up to a number, then estimated.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64;

use super::item::push_value;
use crate::json::query::Value;

/// Most different values of a group that are kept.
pub const MOST_EXACT_DISTINCT: usize = 1_000_000;

/// Most values that are kept in a list.
const MOST_LISTED: usize = 16;

/// Bits of a hash that choose the register of an estimate.
const REGISTER_BITS: u32 = 16;

const REGISTERS: usize = 1 << REGISTER_BITS;

/// Typical error of an estimate, as a share of it: 1.04 ÷ √65,536.
pub const DISTINCT_ERROR: f64 = 0.004;

/// Takes hashes as they are.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The values of one group, as hashes. Two values have the same hash with a probability of 1 to 2^64, so among a million
/// values two are taken for one with a probability of 1 to 37 million.
#[derive(Clone, Debug)]
enum Set {
    Few(Vec<u64>),
    Many(HashSet<u64, BuildHasherDefault<AsItIs>>),
    Estimate(Box<[u8]>),
}

impl Set {
    fn add(&mut self, hash: u64, most: usize) {
        match self {
            Self::Few(list) if list.contains(&hash) => {}
            Self::Few(list) if list.len() < MOST_LISTED.min(most) => list.push(hash),
            Self::Few(list) => {
                let all = list.drain(..).chain([hash]).collect();
                *self = Self::Many(all);
                self.limit(most);
            }
            Self::Many(set) => {
                set.insert(hash);
                self.limit(most);
            }
            Self::Estimate(registers) => register(registers, hash),
        }
    }

    fn limit(&mut self, most: usize) {
        if let Self::Many(set) = self
            && set.len() > most
        {
            let mut registers = vec![0; REGISTERS].into_boxed_slice();
            set.iter().for_each(|hash| register(&mut registers, *hash));
            *self = Self::Estimate(registers);
        }
    }

    fn absorb(&mut self, other: Self, most: usize) {
        match (&mut *self, other) {
            (_, Self::Few(list)) => list.iter().for_each(|hash| self.add(*hash, most)),
            (_, Self::Many(set)) => set.iter().for_each(|hash| self.add(*hash, most)),
            (Self::Estimate(kept), Self::Estimate(more)) => {
                kept.iter_mut().zip(more).for_each(|(kept, more)| *kept = more.max(*kept));
            }
            (_, estimate @ Self::Estimate(_)) => {
                let own = std::mem::replace(self, estimate);
                self.absorb(own, most);
            }
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Few(list) => list.capacity() * size_of::<u64>(),
                // The table has a byte beside each slot, and seven of eight slots may be taken.
                Self::Many(set) => set.capacity() / 7 * 8 * (size_of::<u64>() + 1),
                Self::Estimate(registers) => registers.len(),
            }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Few(list) => list.len() as u64,
            Self::Many(set) => set.len() as u64,
            Self::Estimate(registers) => estimate(registers),
        }
    }
}

/// Notes a hash: each register keeps the greatest position of the first one among the other bits.
///
/// Source: Flajolet, Fusy, Gandouet and Meunier, `HyperLogLog` (2007).
fn register(registers: &mut [u8], hash: u64) {
    let at = usize::try_from(hash >> (u64::BITS - REGISTER_BITS)).unwrap_or_default();
    let rest = hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1);
    let position = rest.leading_zeros() + 1;
    registers[at] = registers[at].max(position.to_le_bytes()[0]);
}

/// Returns the estimate of a set that has more than five values for each register, so that nothing has to be corrected.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is positive and below 2^64"
)]
#[expect(clippy::cast_precision_loss, reason = "there are few registers")]
fn estimate(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let factor = 0.7213 / (1.0 + 1.079 / count);
    // Powers of two are added exactly, in any order.
    let sum: f64 = registers.iter().map(|position| 0.5_f64.powi(i32::from(*position))).sum();
    (factor * count * count / sum).round() as u64
}

/// The different values of each group.
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    cells: Vec<Option<Box<Set>>>,
    most: usize,
    kept_bytes: usize,
    room: Vec<u8>,
}

impl Distinct {
    /// Keeps at most so many different values of a group.
    pub(super) fn new(most: usize) -> Self {
        Self { cells: Vec::new(), most, kept_bytes: 0, room: Vec::new() }
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize_with(groups, || None);
    }

    #[inline]
    pub(super) fn add(&mut self, group: u32, value: Value<'_>) {
        self.room.clear();
        push_value(Some(value), &mut self.room);
        let hash = xxh3_64(&self.room);
        let cell = &mut self.cells[group as usize];
        let before = cell.as_ref().map_or(0, |set| set.bytes());
        let set = cell.get_or_insert_with(|| Box::new(Set::Few(Vec::new())));
        set.add(hash, self.most);
        self.kept_bytes = self.kept_bytes + set.bytes() - before;
    }

    /// Takes in what `other` has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        let Some(more) = other.cells[from as usize].take() else { return };
        other.kept_bytes -= more.bytes();
        let cell = &mut self.cells[to as usize];
        let before = cell.as_ref().map_or(0, |set| set.bytes());
        match cell {
            Some(set) => set.absorb(*more, self.most),
            None => *cell = Some(more),
        }
        self.kept_bytes += cell.as_ref().map_or(0, |set| set.bytes());
        self.kept_bytes -= before;
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<usize>() + self.kept_bytes
    }

    pub(super) fn count(&self, group: u32) -> u64 {
        self.cells[group as usize].as_ref().map_or(0, |set| set.count())
    }

    /// Returns whether a group has too many values to keep.
    pub(super) fn is_estimated(&self, group: u32) -> bool {
        self.cells[group as usize].as_ref().is_some_and(|set| matches!(**set, Set::Estimate(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_near_and_does_not_depend_on_who_saw_what() {
        let hashes: Vec<u64> = (0..400_000_u64).map(|n| xxh3_64(&n.to_le_bytes())).collect();
        let fill = |part: &[u64]| {
            let mut set = Set::Few(Vec::new());
            part.iter().for_each(|hash| set.add(*hash, 1000));
            set
        };
        let whole = fill(&hashes).count();
        assert!(whole.abs_diff(400_000) < 400_000 / 80, "{whole}");
        for cut in [1, 10, 900, 200_000, 399_990] {
            let mut set = fill(&hashes[..cut]);
            set.absorb(fill(&hashes[cut..]), 1000);
            assert_eq!(set.count(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn up_to_the_limit_the_number_is_exact() {
        for count in [0, 1, 16, 17, 999, 1000] {
            let mut set = Set::Few(Vec::new());
            (0..count).chain(0..count).for_each(|n: u64| set.add(xxh3_64(&n.to_le_bytes()), 1000));
            assert_eq!(set.count(), count);
            assert!(!matches!(set, Set::Estimate(_)));
        }
    }
}
