//! Where in a batch names may be that somebody looks for, and what tells where documents end.

use std::ops::Range;

use super::classes::{ESCAPES, LAST, SECOND_LAST, THIRD_LAST};

/// Bytes that the kernels read in one go.
pub(in crate::json) const BATCH_BYTES: usize = 4096;
/// Blocks of 64 bytes in a batch.
const BLOCKS: usize = BATCH_BYTES / 64;

/// What the text pass finds in 64 bytes beside what it checks.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::json) struct Mark {
    /// First bytes of tokens.
    pub(in crate::json) begins: u64,
    /// Quotes after strings that may be a name in question.
    pub(in crate::json) candidates: u64,
    /// Escaped bytes of strings that may be a name in question.
    pub(in crate::json) escaped: u64,
    /// Tokens of the batch before these bytes.
    pub(in crate::json) tokens: usize,
}

/// What the token pass finds in 64 tokens beside what it checks.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::json) struct Word {
    /// `{` and `[`, `}` and `]`.
    pub(in crate::json) opening: u64,
    pub(in crate::json) closing: u64,
    /// Tokens with which a document ends.
    pub(in crate::json) ends: u64,
    /// Arrays and objects around the first of the tokens.
    pub(in crate::json) depth: u32,
}

/// What was found in a batch.
#[derive(Clone, Debug)]
pub(in crate::json) struct Marks {
    pub(in crate::json) blocks: [Mark; BLOCKS],
    /// Which blocks have candidates or escaped bytes.
    pub(in crate::json) worth: u64,
    pub(in crate::json) words: [Word; BLOCKS],
    /// How many blocks and words were noted.
    pub(in crate::json) blocks_noted: usize,
    pub(in crate::json) words_noted: usize,
    /// Arrays and objects around what follows.
    pub(in crate::json) depth: u32,
}

impl Marks {
    pub(in crate::json) fn new() -> Self {
        Self {
            blocks: [Mark::default(); BLOCKS],
            worth: 0,
            words: [Word::default(); BLOCKS],
            blocks_noted: 0,
            words_noted: 0,
            depth: 0,
        }
    }

    /// Forgets what was found, for the next batch.
    pub(in crate::json) fn forget(&mut self) {
        (self.worth, self.blocks_noted, self.words_noted) = (0, 0, 0);
    }
}

/// Names by their last three bytes; a quote begins a shorter one.
#[derive(Clone, Debug)]
pub(in crate::json) struct Filter {
    /// [`ESCAPES`], and bits of bytes that are the last, second last or third last of a name.
    pub(in crate::json) classes: [u8; 128],
    /// The same bits by the lower four bits of a byte, and by the upper.
    pub(in crate::json) lower: [u8; 16],
    pub(in crate::json) upper: [u8; 16],
    /// Every escape may be in a name, not only `\u`.
    pub(in crate::json) has_escaped: bool,
}

impl Filter {
    /// Makes a filter that lets these names through, and few others.
    pub(in crate::json) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut filter =
            Self { classes: ESCAPES, lower: [0; 16], upper: [0; 16], has_escaped: false };
        for name in names {
            let quoted = name.bytes().rev().chain([b'"']).map(Some).chain([None; 2]);
            for (byte, bit) in quoted.zip([LAST, SECOND_LAST, THIRD_LAST]) {
                match byte {
                    Some(byte) => filter.add(byte, bit),
                    None => (0..=255).for_each(|byte| filter.add(byte, bit)),
                }
            }
            let may_be_escaped = |byte| matches!(byte, 0..0x20 | b'"' | b'\\' | b'/');
            filter.has_escaped |= name.bytes().any(may_be_escaped);
        }
        filter
    }

    fn add(&mut self, byte: u8, bit: u8) {
        self.classes[usize::from(byte % 128)] |= bit;
        self.lower[usize::from(byte % 16)] |= bit;
        self.upper[usize::from(byte / 16)] |= bit;
    }
}

/// Returns the quotes before which the bytes of a name come, the last, the second last and the third last. What comes before
/// the first bytes of the block is not known, so those quotes are kept.
#[inline]
pub(in crate::json) fn candidates(quotes: u64, last: u64, second: u64, third: u64) -> u64 {
    quotes & (last << 1 | 1) & (second << 2 | 3) & (third << 3 | 7)
}

/// Takes what the passes find, or nothing of it.
pub(in crate::json) trait Watch {
    /// The names that are looked for; `None`: nobody looks, and nothing is noted.
    fn filter(&self) -> Option<&Filter>;

    /// Notes what was found in 64 bytes of the batch.
    fn note(&mut self, block: usize, mark: Mark);

    /// Notes what was found in the next 64 tokens of the batch.
    fn note_tokens(&mut self, word: Word);

    /// Takes note that these bytes are valid, with `depth` arrays and objects around what follows. `select` returns the place
    /// of the bit that is 1 and has this many such bits below it. Returns whether to go on.
    fn passed(
        &mut self,
        input: &[u8],
        valid: Range<usize>,
        depth: u32,
        select: impl Fn(u64, usize) -> usize + Copy,
    ) -> bool;
}

/// Nobody looks.
impl Watch for () {
    #[inline]
    fn filter(&self) -> Option<&Filter> {
        None
    }

    #[inline]
    fn note(&mut self, _: usize, _: Mark) {}

    #[inline]
    fn note_tokens(&mut self, _: Word) {}

    #[inline]
    fn passed(
        &mut self,
        _: &[u8],
        _: Range<usize>,
        _: u32,
        _: impl Fn(u64, usize) -> usize + Copy,
    ) -> bool {
        true
    }
}
