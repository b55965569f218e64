//! Work that is the same in every trial: a known number of steps, each of which needs the one before.

use std::fmt;
use std::hint::black_box;

/// One step: a multiplication by an odd constant, and the high bits brought down.
///
/// Source of the constant: 2^64 ÷ the golden ratio, made odd.
fn step(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// A stream of words that cost their maker a number of passes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source {
    hash: u64,
}

impl Source {
    /// Fills `burst` (whole words): the first pass makes it, the others go over it.
    pub(super) fn make(&mut self, burst: &mut [u8], passes: u64) {
        for pass in 0..passes {
            for word in burst.as_chunks_mut::<8>().0 {
                self.hash = step(self.hash, pass);
                *word = self.hash.to_le_bytes();
            }
        }
    }
}

/// Digest of a stream, the same wherever it is cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Digest {
    hash: u64,
    bytes: u64,
    /// The bytes of a word that is not complete.
    rest: u64,
}

impl Digest {
    /// Takes the next bytes: the first pass is the digest, the others only cost.
    pub(super) fn take(&mut self, bytes: &[u8], passes: u64) {
        let missing = usize::try_from(self.bytes.wrapping_neg() % 8).unwrap_or(0);
        let (head, whole) = bytes.split_at(missing.min(bytes.len()));
        let (words, tail) = whole.as_chunks::<8>();
        head.iter().for_each(|byte| self.take_byte(*byte));
        for word in words {
            self.hash = step(self.hash, u64::from_le_bytes(*word));
        }
        self.bytes += 8 * words.len() as u64;
        tail.iter().for_each(|byte| self.take_byte(*byte));
        for pass in 1..passes {
            let words = words.iter().map(|word| u64::from_le_bytes(*word));
            black_box(words.fold(pass, step));
        }
    }

    fn take_byte(&mut self, byte: u8) {
        self.rest |= u64::from(byte) << (8 * (self.bytes % 8));
        self.bytes += 1;
        if self.bytes.is_multiple_of(8) {
            self.hash = step(self.hash, self.rest);
            self.rest = 0;
        }
    }

    /// Bytes taken.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", step(step(self.hash, self.rest), self.bytes))
    }
}

/// Works through this many words.
pub(super) fn busy(words: u64) {
    black_box((0..words).fold(0, step));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_same_wherever_the_stream_is_cut() {
        let mut stream = vec![0; 4096];
        Source::default().make(&mut stream, 2);
        stream.truncate(4093);
        let digest = |step: usize, passes| {
            let mut digest = Digest::default();
            stream.chunks(step).for_each(|piece| digest.take(piece, passes));
            assert_eq!(digest.bytes(), 4093);
            digest.to_string()
        };
        let whole = digest(4096, 1);
        for step in [1, 3, 8, 17, 1000] {
            assert_eq!(digest(step, 3), whole, "in steps of {step}");
        }
        stream[4000] ^= 1;
        let mut changed = Digest::default();
        changed.take(&stream, 1);
        assert_ne!(changed.to_string(), whole);
    }
}
