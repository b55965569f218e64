//! Finds line ends with NEON.
#![allow(unsafe_code)]

use crate::neon::Block;
#[cfg(test)]
use crate::tier::Neon;

/// Returns a mask of the bytes that are `end`; the lowest bit stands for the first byte.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn ends(window: &[u8; 64], end: u8) -> u64 {
    Block::load(window, 0).equal(end)
}

/// Calls [`ends`].
#[cfg(test)]
pub(crate) fn ends_of(_: Neon, window: &[u8; 64], end: u8) -> u64 {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { ends(window, end) }
}
