//! Moves memory eight bytes at a time, on every processor.

use super::vectors::word_as_written;

pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    let (to, to_rest) = to.as_chunks_mut::<8>();
    let (from, from_rest) = from.as_chunks::<8>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = word_as_written(u64::from_ne_bytes(*from)).to_ne_bytes();
    }
    to_rest.copy_from_slice(from_rest);
}

pub(super) fn write(to: &mut [u8], value: u8) {
    let word = u64::from_ne_bytes([value; 8]);
    let (words, rest) = to.as_chunks_mut::<8>();
    for to in words {
        *to = word_as_written(word).to_ne_bytes();
    }
    rest.fill(value);
}

pub(super) fn read(from: &[u8]) -> u64 {
    let words = from.as_chunks::<8>().0.iter();
    words.fold(0, |sum: u64, word| sum.wrapping_add(word_as_written(u64::from_le_bytes(*word))))
}
