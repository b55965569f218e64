//! A hash table with short keys in its slots, four to a cache line, and long ones in an arena.

use super::bucket::{Bucket, SLOTS};
use super::error::NoMemory;
use super::key::{Hash, Packed, SEGMENT_BITS, long_hash, upper};
use super::room::{Room, Rooms};
use super::value::Value;
use crate::kernel::prefetch_value;

/// The values of four slots. If they are counts, they lie in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Values<V>(pub(super) [V; SLOTS]);

/// One part of a [`Groups`](super::Groups): the keys whose hashes begin with the same bits.
#[derive(Clone, Debug)]
pub(super) struct Segment<V> {
    pub(super) buckets: Room<Bucket>,
    pub(super) values: Room<Values<V>>,
    arena: Vec<u8>,
    keys: usize,
    seed: u64,
}

/// Bytes in front of a key in the arena: its length.
const LENGTH_BYTES: usize = 8;

/// Most memory of an arena that stays when the keys are removed.
const KEPT_BYTES: usize = 64 << 10;

/// Makes `count` empty segments of `buckets` buckets each, in common mappings.
///
/// # Errors
/// [`NoMemory`].
pub(super) fn segments<V: Value>(
    count: usize,
    buckets: usize,
    seed: u64,
) -> Result<impl Iterator<Item = Segment<V>>, NoMemory> {
    let keys = Rooms::free(count, buckets)?;
    let values = Rooms::filled(count, buckets, Values([V::default(); SLOTS]))?;
    let made = keys.zip(values);
    Ok(made.map(move |(buckets, values)| Segment {
        buckets,
        values,
        arena: Vec::new(),
        keys: 0,
        seed,
    }))
}

impl<V: Value> Segment<V> {
    /// Returns how many keys there are.
    pub(super) fn keys(&self) -> usize {
        self.keys
    }

    /// Returns the number that its hashes begin with.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the memory that the segment takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * Self::BUCKET_BYTES + self.arena.len()
    }

    /// Memory of a bucket and its values, in bytes.
    pub(super) const BUCKET_BYTES: usize = size_of::<Bucket>() + size_of::<Values<V>>();

    /// Returns whether more than so many of ten slots are taken.
    #[inline]
    pub(super) fn is_filled(&self, tenths: usize) -> bool {
        self.keys * 10 >= self.buckets.len() * SLOTS * tenths
    }

    /// Returns the bucket in which the search for a hash begins.
    #[inline]
    pub(super) fn home(&self, hash: Hash) -> usize {
        ((u64::from(hash << SEGMENT_BITS) * self.buckets.len() as u64) >> 32) as usize
    }

    /// Returns a key of the arena.
    pub(super) fn in_arena(&self, at: u64) -> &[u8] {
        key_at(&self.arena, at)
    }

    /// Returns the value of a short key, which is added if it is new. The segment must have a free slot.
    #[inline]
    pub(super) fn short(&mut self, hash: Hash, key: Packed) -> &mut V {
        let (bucket, slot, is_new) = self.find(hash, |found| found == key);
        if is_new {
            self.put(bucket, slot, key);
        }
        &mut self.values[bucket].0[slot]
    }

    /// Returns the value of a long key, which is added if it is new. The segment must have a free slot.
    ///
    /// # Errors
    /// [`NoMemory`]: the arena has no room for the key.
    pub(super) fn long(&mut self, hash: u64, key: &[u8]) -> Result<&mut V, NoMemory> {
        let packed = Packed::long(self.arena.len(), hash);
        let arena = &self.arena;
        let is_key = |found: Packed| found.high == packed.high && key_at(arena, found.low) == key;
        let (bucket, slot, is_new) = self.find(upper(hash), is_key);
        if is_new {
            self.arena.try_reserve(LENGTH_BYTES + key.len()).map_err(|_| NoMemory)?;
            self.arena.extend_from_slice(&(key.len() as u64).to_le_bytes());
            self.arena.extend_from_slice(key);
            self.put(bucket, slot, packed);
        }
        Ok(&mut self.values[bucket].0[slot])
    }

    fn put(&mut self, bucket: usize, slot: usize, key: Packed) {
        self.buckets[bucket].set(slot, key);
        self.values[bucket].0[slot] = V::default();
        self.keys += 1;
    }

    /// Returns the slot of the key, or the free one where it belongs, and whether it is free.
    #[inline]
    fn find(&self, hash: Hash, is_key: impl Fn(Packed) -> bool) -> (usize, usize, bool) {
        let mut at = self.home(hash);
        loop {
            for slot in 0..SLOTS {
                let found = self.buckets[at].get(slot);
                if found == Packed::FREE {
                    return (at, slot, true);
                }
                if is_key(found) {
                    return (at, slot, false);
                }
            }
            at = if at + 1 == self.buckets.len() { 0 } else { at + 1 };
        }
    }

    /// Moves everything into `larger`, which is empty and has more room, and becomes it.
    pub(super) fn move_into(&mut self, mut larger: Self) {
        larger.arena = std::mem::take(&mut self.arena);
        // Buckets are in the order of their hashes, so both tables are gone through from the front to the back.
        for (key, value) in self.slots() {
            let (bucket, slot, _) = larger.find(key.hash(self.seed), |_| false);
            larger.put(bucket, slot, key);
            larger.values[bucket].0[slot] = value;
        }
        *self = larger;
    }

    /// Adds everything that another segment with the same seed has.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(super) fn absorb(&mut self, other: &Self) -> Result<(), NoMemory> {
        // The keys come in the order of their hashes: without room for all of them at first, those of the first half
        // would fill the first half of the table, and every search there would be long.
        let wanted = (self.keys + other.keys) * 10 / (SLOTS * 7) + 1;
        if wanted > self.buckets.len()
            && let Some(larger) = segments(1, wanted, self.seed)?.next()
        {
            self.move_into(larger);
        }
        for (key, value) in other.slots() {
            if key.is_long() {
                let key = other.in_arena(key.low);
                self.long(long_hash(key, self.seed), key)?.absorb(value);
            } else {
                self.short(key.short_hash(self.seed), key).absorb(value);
            }
        }
        Ok(())
    }

    /// Removes all keys and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.buckets.fill(Bucket::FREE);
        self.arena.clear();
        self.arena.shrink_to(KEPT_BYTES);
        self.keys = 0;
    }

    /// Brings the values of a bucket into the cache.
    #[inline]
    pub(super) fn prefetch_values(&self, bucket: usize) {
        prefetch_value(&self.values[bucket]);
    }

    /// Calls `each` with every key and its value.
    ///
    /// # Errors
    /// The first error of `each`.
    pub(super) fn try_for_each<E>(
        &self,
        mut each: impl FnMut(&[u8], V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.slots().try_for_each(|(key, value)| {
            if key.is_long() {
                return each(self.in_arena(key.low), value);
            }
            let bytes = key.bytes();
            each(&bytes[..usize::from(bytes[15]) - 1], value)
        })
    }

    /// Returns the arena, in which long keys lie.
    pub(super) fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// Returns the arena itself.
    pub(super) fn into_arena(self) -> Vec<u8> {
        self.arena
    }

    /// Returns every key with its value.
    pub(super) fn slots(&self) -> impl Iterator<Item = (Packed, V)> {
        let slots = self.buckets.iter().zip(&*self.values);
        let each = slots.flat_map(|(bucket, values)| {
            (0..SLOTS).map(move |slot| (bucket.get(slot), values.0[slot]))
        });
        each.filter(|(key, _)| *key != Packed::FREE)
    }
}

/// Returns the key that begins at `at` of an arena.
#[expect(clippy::cast_possible_truncation, reason = "the arena is in memory")]
pub(super) fn key_at(arena: &[u8], at: u64) -> &[u8] {
    let at = at as usize;
    let length = arena[at..].first_chunk::<LENGTH_BYTES>().copied().unwrap_or_default();
    &arena[at + LENGTH_BYTES..][..u64::from_le_bytes(length) as usize]
}
