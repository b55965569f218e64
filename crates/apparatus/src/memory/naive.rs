//! The naive versions, which the tests compare with.

/// Copies byte by byte, up to the shorter length.
pub fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Sets every byte to the value.
pub fn write(to: &mut [u8], value: u8) {
    for to in to {
        *to = value;
    }
}

/// Returns the wrapping sum of all whole little-endian words of 8 bytes.
#[must_use]
pub fn read(from: &[u8]) -> u64 {
    let words = from.as_chunks::<8>().0.iter();
    words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}
