//! Where in a stream something is.

use std::fmt;

use crate::Tier;

/// A place in a stream of text.
///
/// Characters are counted by the bytes that begin one (all but `0x80..=0xBF`), so the count does not depend on where
/// blocks end, and is defined for malformed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes before it, from 0.
    pub offset: u64,
    /// Line, from 1; lines end in `\n`.
    pub line: u64,
    /// Characters since the line began, from 1.
    pub column: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { offset: 0, line: 1, column: 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}, line {}, column {}", self.offset, self.line, self.column)
    }
}

impl Place {
    /// The place after `bytes` that begin here.
    #[must_use]
    pub fn after(self, bytes: &[u8]) -> Self {
        self.after_lines(bytes, memchr::memchr_iter(b'\n', bytes).count() as u64)
    }

    /// Where in the stream a `later` place is that is counted from here on.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        Self {
            offset: self.offset + later.offset,
            line: self.line + later.line - 1,
            column: if later.line == 1 { self.column + later.column - 1 } else { later.column },
        }
    }

    /// The same, by a kernel of `tier`, which the CPU has.
    pub(crate) fn after_block(self, block: &[u8], tier: Tier) -> Self {
        #[cfg(target_arch = "x86_64")]
        if tier == Tier::Avx512 {
            return self.after_lines(block, crate::lines_avx512::count(block));
        }
        let _ = tier;
        self.after(block)
    }

    /// The place after `bytes`, in which so many lines end.
    fn after_lines(self, bytes: &[u8], lines: u64) -> Self {
        let last_line = memchr::memrchr(b'\n', bytes).map_or(bytes, |end| &bytes[end + 1..]);
        let column = if lines == 0 { self.column } else { 1 };
        Self {
            offset: self.offset + bytes.len() as u64,
            line: self.line + lines,
            column: column + characters(last_line),
        }
    }
}

/// How many bytes begin a character.
fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| !(0x80..0xC0).contains(*byte)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_however_the_bytes_before_it_are_cut() {
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
        for tier in Tier::all() {
            let by_kernel = Place::default().after_block(&long, tier);
            assert_eq!(by_kernel, Place::default().after(&long), "{tier}");
        }
    }
}
