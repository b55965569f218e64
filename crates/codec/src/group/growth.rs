//! Grows a table within a limit.

use super::error::NoMemory;
use super::key::SEGMENTS;
use super::segment::{Segment, segments};
use super::value::Value;

/// How far a table may grow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Most memory, in bytes.
    pub(super) limit: usize,
    /// The table should have grown and could not.
    pub(super) is_full: bool,
}

impl Default for Growth {
    fn default() -> Self {
        Self { limit: usize::MAX, is_full: false }
    }
}

/// Of ten slots, how many are taken when a table grows.
const GROWS_AT: usize = 7;

/// Of ten slots, how many may be taken in a table that cannot grow within its limit.
const FULL_AT: usize = 9;

/// Makes sure that a segment has a free slot.
///
/// # Errors
/// [`NoMemory`].
#[inline]
pub(super) fn make_room<V: Value>(
    all: &mut [Segment<V>; SEGMENTS],
    number: usize,
    growth: &mut Growth,
) -> Result<(), NoMemory> {
    let segment = &all[number];
    if !segment.is_filled(GROWS_AT) || growth.is_full && !segment.is_filled(FULL_AT) {
        return Ok(());
    }
    grow(all, number, growth)
}

/// Grows all segments: hashes spread the keys evenly, so each of them would grow soon.
#[cold]
#[inline(never)]
fn grow<V: Value>(
    all: &mut [Segment<V>; SEGMENTS],
    number: usize,
    growth: &mut Growth,
) -> Result<(), NoMemory> {
    let now = all[number].buckets.len();
    let must = all[number].is_filled(FULL_AT);
    let step = (now / 4).max(1);
    let bucket = Segment::<V>::BUCKET_BYTES;
    let used: usize = all.iter().map(Segment::bytes).sum();
    let within = growth.limit.saturating_sub(used) / (SEGMENTS * bucket);
    let more = if within >= step { within.min(now) } else { step };
    if within >= step || must {
        let seed = all[0].seed();
        match segments(SEGMENTS, now + more, seed) {
            Ok(larger) => {
                // One after the other: the memory of a segment that has moved is free for the next.
                all.iter_mut().zip(larger).for_each(|(old, larger)| old.move_into(larger));
                return Ok(());
            }
            Err(error) if must => return Err(error),
            Err(_) => {}
        }
    }
    growth.is_full = true;
    Ok(())
}
