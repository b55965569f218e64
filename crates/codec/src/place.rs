//! Positions in a stream.

use std::fmt;

use crate::tier::Granted;

/// A position in a stream of text.
///
/// Characters are counted by the bytes that begin one (all but `0x80..=0xBF`). So the count does not depend on where
/// blocks end, and is defined for malformed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of bytes before it, from 0.
    pub offset: u64,
    /// Line, from 1; lines end in `\n`.
    pub line: u64,
    /// Column: characters since the line began, from 1.
    pub column: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { offset: 0, line: 1, column: 1 }
    }
}

/// Counts the byte from 1, as lines and columns are: `tail -c +BYTE` begins there.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = self.offset.saturating_add(1);
        write!(f, "byte {byte}, line {}, column {}", self.line, self.column)
    }
}

impl Place {
    /// Returns the position after `bytes` that begin here.
    #[must_use]
    pub fn after(self, bytes: &[u8]) -> Self {
        self.after_lines(bytes, memchr::memchr_iter(b'\n', bytes).count() as u64)
    }

    /// Returns the position in the stream of `later`, which is counted from here.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        Self {
            offset: self.offset + later.offset,
            line: self.line + later.line - 1,
            column: if later.line == 1 { self.column + later.column - 1 } else { later.column },
        }
    }

    /// Returns the position after `block`, counted by a kernel of `tier`.
    pub(crate) fn after_block(self, block: &[u8], tier: Granted) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Granted::Avx512(proof) = tier {
            return self.after_lines(block, crate::lines_avx512::count(proof, block));
        }
        let _ = tier;
        self.after(block)
    }

    /// Returns the position after `bytes`, in which this many lines end.
    pub(crate) fn after_lines(self, bytes: &[u8], lines: u64) -> Self {
        let last_line = memchr::memrchr(b'\n', bytes).map_or(bytes, |end| &bytes[end + 1..]);
        let column = if lines == 0 { self.column } else { 1 };
        Self {
            offset: self.offset + bytes.len() as u64,
            line: self.line + lines,
            column: column + characters(last_line),
        }
    }
}

/// Returns how many bytes begin a character.
fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| !(0x80..0xC0).contains(*byte)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_at_line_1_column_1() {
        assert_eq!(Place::default().to_string(), "byte 1, line 1, column 1");
    }

    #[test]
    fn a_place_does_not_depend_on_how_the_bytes_before_it_are_split() {
        let text = "eins\nzwölf Boxkämpfer\n\nжуть x".as_bytes();
        let whole = Place::default().after(text);
        assert_eq!(whole, Place { offset: 35, line: 4, column: 7 });
        for cut in 0..=text.len() {
            let (before, after) = text.split_at(cut);
            assert_eq!(Place::default().after(before).after(after), whole);
            let later = Place::default().after(after);
            assert_eq!(Place::default().after(before).then(later), whole);
        }
        let long = text.repeat(20);
        for tier in crate::tiers::tested() {
            let by_kernel = Place::default().after_block(&long, tier.granted());
            assert_eq!(by_kernel, Place::default().after(&long), "{tier}");
        }
    }
}
