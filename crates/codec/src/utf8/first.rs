//! Finds the first character of some bytes, as Unicode defines it.

/// What some bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// A character with its length in bytes.
    Character(char, usize),
    /// A maximal subpart of an ill-formed sequence, with its length in bytes; one U+FFFD replaces it.
    Malformed(usize),
    /// All the bytes may be the beginning of a character.
    Unfinished,
}

/// Returns what `bytes` begin with; they may not be empty.
///
/// Source: The Unicode Standard, table 3-7 (well-formed UTF-8) and section 3.9, "U+FFFD Substitution of Maximal
/// Subparts".
#[inline]
pub(crate) fn first(bytes: &[u8]) -> First {
    let lead = bytes[0];
    if lead < 0x80 {
        return First::Character(lead as char, 1);
    }
    let (length, low, high) = match lead {
        0xC2..=0xDF => (2, 0x80, 0xBF),
        0xE0 => (3, 0xA0, 0xBF),
        0xED => (3, 0x80, 0x9F),
        0xE1..=0xEF => (3, 0x80, 0xBF),
        0xF0 => (4, 0x90, 0xBF),
        0xF1..=0xF3 => (4, 0x80, 0xBF),
        0xF4 => (4, 0x80, 0x8F),
        _ => return First::Malformed(1),
    };
    let mut code_point = u32::from(lead) & (0x7F >> length);
    for index in 1..length {
        let Some(&byte) = bytes.get(index) else { return First::Unfinished };
        let allowed = if index == 1 { low..=high } else { 0x80..=0xBF };
        if !allowed.contains(&byte) {
            return First::Malformed(index);
        }
        code_point = code_point << 6 | u32::from(byte & 0x3F);
    }
    char::from_u32(code_point).map_or(First::Malformed(1), |c| First::Character(c, length))
}

/// Returns the length of `bytes` without an unfinished character at the end.
#[cfg(target_arch = "aarch64")]
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(3)..bytes.len();
    let lead = last.rev().find(|at| bytes[*at] >= 0xC0);
    lead.filter(|at| first(&bytes[*at..]) == First::Unfinished).unwrap_or(bytes.len())
}

/// The bytes of an unfinished character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unfinished {
    bytes: [u8; 4],
    length: usize,
}

impl Unfinished {
    pub(crate) fn is_empty(self) -> bool {
        self.length == 0
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Keeps `bytes`, at most three, for the next block.
    pub(crate) fn keep(bytes: &[u8]) -> Self {
        let mut kept = Self { bytes: [0; 4], length: bytes.len() };
        kept.bytes[..bytes.len()].copy_from_slice(bytes);
        kept
    }

    /// Joins the kept bytes with the beginning of `input`; returns what they begin with and how many bytes of `input`
    /// it contains. After `Unfinished` all of `input` is kept; otherwise nothing is kept any more.
    pub(crate) fn join(&mut self, input: &[u8]) -> (First, [u8; 4], usize) {
        let before = self.length;
        let more = input.len().min(4 - before);
        self.bytes[before..before + more].copy_from_slice(&input[..more]);
        let found = first(&self.bytes[..before + more]);
        let bytes = self.bytes;
        let taken = match found {
            First::Character(_, length) | First::Malformed(length) => {
                self.length = 0;
                length - before
            }
            First::Unfinished => {
                self.length += more;
                more
            }
        };
        (found, bytes, taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries all beginnings that matter: every lead byte with bytes at the edges of the ranges.
    #[test]
    fn the_first_character_agrees_with_the_standard_library() {
        let edges = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE1, 0xFF];
        for lead in 0..=255 {
            for a in edges {
                for b in edges {
                    for c in edges {
                        let bytes = [lead, a, b, c];
                        (1..=4).for_each(|length| agrees(&bytes[..length]));
                    }
                }
            }
        }
    }

    fn agrees(bytes: &[u8]) {
        let chunk = bytes.utf8_chunks().next().unwrap();
        let expected = match chunk.valid().chars().next() {
            Some(character) => First::Character(character, character.len_utf8()),
            None if std::str::from_utf8(bytes).unwrap_err().error_len().is_none() => {
                First::Unfinished
            }
            None => First::Malformed(chunk.invalid().len()),
        };
        assert_eq!(first(bytes), expected, "{bytes:02x?}");
    }
}
