//! Keys as 16 bytes, and their hashes.

use crate::few;

/// Longest key that a slot holds itself.
pub(super) const INLINE_BYTES: usize = 15;

/// Shift of the byte that tells what a slot holds.
const TAG_SHIFT: u32 = 56;

/// Tag of a key that lies in the arena.
const LONG: u64 = 0xFF;

/// A key of up to 15 bytes, with its length + 1 in the last byte; or, of a longer one, where it lies in the arena (low)
/// and 56 bits of its hash (high). A free slot is all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) low: u64,
    pub(super) high: u64,
}

/// How many bits of a hash choose the segment.
pub(super) const SEGMENT_BITS: u32 = 6;

/// How many segments [`Groups`](super::Groups) has.
pub const SEGMENTS: usize = 1 << SEGMENT_BITS;

/// The upper half of a key's hash. Its first bits choose the segment, the others the bucket.
pub(super) type Hash = u32;

impl Packed {
    pub(super) const FREE: Self = Self { low: 0, high: 0 };

    /// Packs 16 bytes of which the first `len` are the key and all others zero.
    #[inline]
    pub(super) fn short(low: u64, high: u64, len: usize) -> Self {
        Self { low, high: high | (len as u64 + 1) << TAG_SHIFT }
    }

    /// Packs a key of at most 15 bytes.
    #[inline]
    pub(super) fn of_short(key: &[u8]) -> Self {
        let (low, high) = halves(few::word(key));
        Self::short(low, high, key.len())
    }

    /// Packs a longer key with this hash that lies at `at` in the arena.
    #[inline]
    pub(super) fn long(at: usize, hash: u64) -> Self {
        Self { low: at as u64, high: hash >> 8 | LONG << TAG_SHIFT }
    }

    /// Returns whether the key lies in the arena.
    #[inline]
    pub(super) fn is_long(self) -> bool {
        self.high >> TAG_SHIFT == LONG
    }

    /// Returns the 16 bytes of a short key: the key, zeros, and its length + 1.
    #[inline]
    pub(super) fn bytes(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes()
    }

    /// Returns the hash.
    #[inline]
    pub(super) fn hash(self, seed: u64) -> Hash {
        if self.is_long() { upper(self.high << 8) } else { self.short_hash(seed) }
    }

    /// Returns the hash of a short key.
    #[inline]
    pub(super) fn short_hash(self, seed: u64) -> Hash {
        upper(folded(self.low ^ seed, self.high ^ second(seed)))
    }
}

/// A number without a pattern (the digits of the golden ratio).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The other secret number: were it known, somebody could choose keys that make a factor 0.
#[inline]
fn second(seed: u64) -> u64 {
    seed.rotate_left(32) ^ MIX
}

/// Multiplies, and joins both halves of the product: every bit of the input reaches the upper bits of the result.
#[inline]
fn folded(one: u64, other: u64) -> u64 {
    let (low, high) = halves(u128::from(one) * u128::from(other));
    low ^ high
}

/// Returns the lower and the upper half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
pub(super) fn halves(both: u128) -> (u64, u64) {
    (both as u64, (both >> 64) as u64)
}

/// Returns the bits of a hash that choose segment and bucket.
#[inline]
pub(super) fn upper(hash: u64) -> Hash {
    (hash >> 32) as Hash
}

/// Returns the hash of a key of more than 15 bytes.
pub(super) fn long_hash(key: &[u8], seed: u64) -> u64 {
    let (blocks, rest) = key.as_chunks::<16>();
    let second = second(seed);
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(MIX);
    for block in blocks {
        let (low, high) = halves(u128::from_le_bytes(*block));
        hash = folded(low ^ hash, high ^ second).wrapping_add(hash.rotate_left(29));
    }
    let (low, high) = halves(few::word(rest));
    folded(folded(low ^ hash, high ^ second) ^ seed, hash ^ MIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_made_against_the_known_number_do_not_collide() {
        for seed in [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0xA5A5_1234_0F0F_9999] {
            let (mut short, mut long) = (HashSet::new(), HashSet::new());
            for number in 0..10_000_u64 {
                let key = [format!("{number:08}").as_bytes(), &MIX.to_le_bytes()].concat();
                long.insert(long_hash(&key, seed));
                short.insert(Packed::of_short(&key[..15]).short_hash(seed));
            }
            assert!(long.len() > 9_900 && short.len() > 9_900, "{} {}", long.len(), short.len());
        }
    }
}
