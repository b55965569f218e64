//! Finds line ends without intrinsics, eight bytes at a time.

/// Returns a mask of the bytes that are `end`; the lowest bit stands for the first byte.
#[inline]
pub(crate) fn ends(window: &[u8; 64], end: u8) -> u64 {
    let (words, _) = window.as_chunks::<8>();
    let masks = words.iter().enumerate().map(|(index, word)| of_word(*word, end) << (8 * index));
    masks.fold(0, |all, mask| all | mask)
}

/// Returns the mask of eight bytes.
#[inline]
fn of_word(word: [u8; 8], end: u8) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const ALL_BUT_HIGH: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    // A byte is zero where it is `end`; the sum sets the highest bit of all others, without a carry into the next byte.
    let differs = u64::from_le_bytes(word) ^ (LOW * u64::from(end));
    let is_end = !(((differs & ALL_BUT_HIGH) + ALL_BUT_HIGH) | differs | ALL_BUT_HIGH);
    // One bit in each byte, gathered in the highest byte.
    (is_end >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
