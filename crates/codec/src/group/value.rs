//! What is kept for each group.

/// What a table keeps beside a key. The default is that of a group without a member.
pub trait Value: Copy + Default + Send + 'static {
    /// Adds what another table kept for the same key.
    fn absorb(&mut self, other: Self);
}

/// A value that counts lines.
pub trait Tally: Value {
    /// How many numbers [`to_words`](Self::to_words) has to store.
    const WORDS: usize;

    /// Makes the value of one line that begins at `position` of the stream, in bytes.
    fn one(position: u64) -> Self;

    /// Returns how many lines there were.
    fn count(self) -> u64;

    /// Returns where the first of them began, in bytes; 0 for a value that does not keep it.
    fn first(self) -> u64;

    /// Returns the value as numbers, of which the first [`WORDS`](Self::WORDS) count.
    fn to_words(self) -> [u64; 2];

    /// Returns the value that [`to_words`](Self::to_words) stored.
    fn from_words(words: [u64; 2]) -> Self;
}

impl Value for u64 {
    #[inline]
    fn absorb(&mut self, other: Self) {
        *self += other;
    }
}

impl Tally for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn one(_: u64) -> Self {
        1
    }

    fn count(self) -> u64 {
        self
    }

    fn first(self) -> u64 {
        0
    }

    fn to_words(self) -> [u64; 2] {
        [self, 0]
    }

    fn from_words(words: [u64; 2]) -> Self {
        words[0]
    }
}

/// How many lines there were, and where the first began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    count: u64,
    first: u64,
}

impl Default for Placed {
    fn default() -> Self {
        Self { count: 0, first: u64::MAX }
    }
}

impl Value for Placed {
    #[inline]
    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.min(other.first);
    }
}

impl Tally for Placed {
    const WORDS: usize = 2;

    #[inline]
    fn one(position: u64) -> Self {
        Self { count: 1, first: position }
    }

    fn count(self) -> u64 {
        self.count
    }

    fn first(self) -> u64 {
        self.first
    }

    fn to_words(self) -> [u64; 2] {
        [self.count, self.first]
    }

    fn from_words([count, first]: [u64; 2]) -> Self {
        Self { count, first }
    }
}
