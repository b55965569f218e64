//! Groups: a value for each distinct key.

use super::error::NoMemory;
use super::growth::{Growth, make_room};
use super::key::{Hash, INLINE_BYTES, Packed, SEGMENT_BITS, SEGMENTS, long_hash, upper};
use super::segment::{Segment, segments};
use super::value::Value;

/// A hash table from keys (any bytes) to values, in [`SEGMENTS`] parts by the first bits of the hash.
///
/// Several threads fill tables of their own with the same seed; afterwards the segments of one number, one of each
/// table, are merged. What comes out does not depend on the seed, nor on who counted what.
#[derive(Clone, Debug)]
pub struct Groups<V> {
    pub(super) segments: Box<[Segment<V>; SEGMENTS]>,
    pub(super) seed: u64,
    pub(super) growth: Growth,
}

/// Buckets of a segment of a new table.
const FIRST_BUCKETS: usize = 4;

impl<V: Value> Groups<V> {
    /// Makes an empty table. A seed that nobody can foresee protects from input that is made to collide. Where there is
    /// no memory for it, the process is aborted, as by other allocations.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::try_new(seed).unwrap_or_else(|error| error.abort())
    }

    /// Makes an empty table, as [`new`](Self::new).
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn try_new(seed: u64) -> Result<Self, NoMemory> {
        let made: Box<[Segment<V>]> = segments(SEGMENTS, FIRST_BUCKETS, seed)?.collect();
        let segments = made.try_into().map_err(|_| NoMemory)?;
        Ok(Self { segments, seed, growth: Growth::default() })
    }

    /// Adds `value` to that of `key`.
    pub fn add(&mut self, key: &[u8], value: V) {
        self.entry(key).absorb(value);
    }

    /// Returns the value of `key`; the default if the key is new. Where there is no memory for it, the process is
    /// aborted, as by other allocations.
    #[inline]
    pub fn entry(&mut self, key: &[u8]) -> &mut V {
        self.try_entry(key).unwrap_or_else(|error| error.abort())
    }

    /// Returns the value of `key`; the default if the key is new.
    ///
    /// # Errors
    /// [`NoMemory`]; then the table is as before.
    #[inline]
    pub fn try_entry(&mut self, key: &[u8]) -> Result<&mut V, NoMemory> {
        entry(&mut self.segments, self.seed, &mut self.growth, key)
    }

    /// Limits the memory of the table, in bytes. A table that must grow beyond that becomes [full](Self::is_full)
    /// instead; it still takes keys, about as many as a quarter of those that it has.
    pub fn set_limit(&mut self, bytes: usize) {
        self.growth.limit = bytes;
    }

    /// Returns whether the table cannot grow within its limit, or Linux refused the memory.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.growth.is_full || self.bytes() > self.growth.limit
    }

    /// Returns how many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::keys).sum()
    }

    /// Returns whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that the table takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(Segment::bytes).sum()
    }

    /// Calls `each` with the number of its segment, each key and its value, one segment after the other.
    ///
    /// # Errors
    /// The first error of `each`, after which it is not called again.
    pub fn try_for_each<E>(
        &self,
        mut each: impl FnMut(usize, &[u8], V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.segments.iter().enumerate().try_for_each(|(number, segment)| {
            segment.try_for_each(|key, value| each(number, key, value))
        })
    }

    /// Removes all keys and keeps most of the memory for others.
    pub fn clear(&mut self) {
        self.growth.is_full = false;
        self.segments.iter_mut().for_each(Segment::clear);
    }

    /// Takes the table apart.
    #[must_use]
    pub fn into_parts(self) -> [Part<V>; SEGMENTS] {
        self.segments.map(Part)
    }
}

/// One segment of a [`Groups`].
#[derive(Debug)]
pub struct Part<V>(pub(super) Segment<V>);

impl<V: Value> Part<V> {
    /// Calls `each` with every key and its value.
    ///
    /// # Errors
    /// The first error of `each`, after which it is not called again.
    pub fn try_for_each<E>(&self, each: impl FnMut(&[u8], V) -> Result<(), E>) -> Result<(), E> {
        self.0.try_for_each(each)
    }

    /// Adds what the segment of the same number of another table has.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn merged(self, other: Self) -> Result<Self, NoMemory> {
        let (mut larger, smaller) =
            if self.0.keys() < other.0.keys() { (other, self) } else { (self, other) };
        larger.0.absorb(&smaller.0)?;
        Ok(larger)
    }
}

/// Returns the value of `key`; the default if the key is new.
#[inline]
pub(super) fn entry<'a, V: Value>(
    segments: &'a mut [Segment<V>; SEGMENTS],
    seed: u64,
    growth: &mut Growth,
    key: &[u8],
) -> Result<&'a mut V, NoMemory> {
    if key.len() <= INLINE_BYTES {
        let packed = Packed::of_short(key);
        add_short(segments, packed.short_hash(seed), packed, growth)
    } else {
        let hash = long_hash(key, seed);
        let number = segment_of(upper(hash));
        make_room(segments, number, growth)?;
        segments[number].long(hash, key)
    }
}

/// Returns the value of a short key; the default if the key is new.
#[inline(never)]
pub(super) fn add_short<'a, V: Value>(
    segments: &'a mut [Segment<V>; SEGMENTS],
    hash: Hash,
    key: Packed,
    growth: &mut Growth,
) -> Result<&'a mut V, NoMemory> {
    let number = segment_of(hash);
    make_room(segments, number, growth)?;
    Ok(segments[number].short(hash, key))
}

/// Returns the number of the segment that has the keys with this hash.
#[inline]
pub(super) fn segment_of(hash: Hash) -> usize {
    (hash >> (Hash::BITS - SEGMENT_BITS)) as usize
}
