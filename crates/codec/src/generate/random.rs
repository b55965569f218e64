//! Generates bytes that do not compress.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Begun, Source};

/// Generates random bytes, without end: xoshiro256++ (Blackman and Vigna, 2019), not for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Xoshiro256PlusPlus,
    begun: Begun,
}

impl Random {
    /// Starts the stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed), begun: Begun::default() }
    }
}

impl Source for Random {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        let generator = &mut self.generator;
        let word = |text: &mut Vec<u8>| text.extend_from_slice(&generator.next_u64().to_le_bytes());
        let rest = self.begun.text.len() - self.begun.at;
        let (head, rest) = output.split_at_mut(rest.min(output.len()));
        let mut filled = self.begun.fill(head, word);
        let (words, tail) = rest.as_chunks_mut::<8>();
        for word in words {
            *word = self.generator.next_u64().to_le_bytes();
            filled += 8;
        }
        let generator = &mut self.generator;
        let word = |text: &mut Vec<u8>| text.extend_from_slice(&generator.next_u64().to_le_bytes());
        filled + self.begun.fill(tail, word)
    }
}
