//! The keys of four slots.

use super::key::Packed;

/// The keys of four slots, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Bucket(pub(super) [u8; 64]);

pub(super) const SLOTS: usize = 4;

impl Bucket {
    pub(super) const FREE: Self = Self([0; 64]);

    /// Returns what a slot holds.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> Packed {
        let word = |at: usize| {
            let bytes = self.0[at..].first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        Packed { low: word(16 * slot), high: word(16 * slot + 8) }
    }

    pub(super) fn set(&mut self, slot: usize, key: Packed) {
        self.0[16 * slot..][..16].copy_from_slice(&key.bytes());
    }
}
