//! Counts lines with NEON: 64 bytes are compared with the line end at once.
#![allow(unsafe_code)]

use super::error::NoMemory;
use super::groups::Groups;
use super::lines_of::{Text, portable_find, portable_key, run};
use super::value::Tally;
use crate::lines;
use crate::tier::Neon;

/// Counts lines like the portable kernel.
pub(super) fn add_lines<V: Tally>(
    _: Neon,
    groups: &mut Groups<V>,
    text: Text<'_>,
) -> Result<(), NoMemory> {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(groups, text) }
}

#[target_feature(enable = "neon")]
fn kernel<V: Tally>(groups: &mut Groups<V>, text: Text<'_>) -> Result<(), NoMemory> {
    run(groups, text, |window, end| lines::neon::ends(window, end), portable_key, portable_find)
}
