//! Counts lines as simply as possible; the oracle for [`Groups`](super::Groups).

use std::collections::BTreeMap;

/// Returns how often each line occurs. Lines end in `end`; the last one may lack it.
#[must_use]
pub fn count(text: &[u8], end: u8) -> BTreeMap<Vec<u8>, u64> {
    let mut counts = BTreeMap::new();
    let body = text.strip_suffix(&[end]).unwrap_or(text);
    if !text.is_empty() {
        for line in body.split(|byte| *byte == end) {
            *counts.entry(line.to_vec()).or_default() += 1;
        }
    }
    counts
}
