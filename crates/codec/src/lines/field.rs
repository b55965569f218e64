//! Finds a field of a line.

/// Which field of a line to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The number of the field, from 1.
    pub number: usize,
    /// The byte between two fields. `None`: runs of blanks (spaces and tabs) separate fields, and blanks at the
    /// beginning of the line are skipped.
    pub separator: Option<u8>,
}

impl Field {
    /// Returns the field of `line`; it is empty where the line has fewer fields.
    #[must_use]
    pub fn of(self, line: &[u8]) -> &[u8] {
        match self.separator {
            Some(separator) => self.separated(line, separator),
            None => {
                let fields = line.split(|byte| is_blank(*byte)).filter(|field| !field.is_empty());
                fields.into_iter().nth(self.number.saturating_sub(1)).unwrap_or_default()
            }
        }
    }

    fn separated(self, mut line: &[u8], separator: u8) -> &[u8] {
        for _ in 1..self.number {
            match memchr::memchr(separator, line) {
                Some(at) => line = &line[at + 1..],
                None => return &[],
            }
        }
        memchr::memchr(separator, line).map_or(line, |end| &line[..end])
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_awk() {
        let of = |number, separator, line: &'static str| {
            std::str::from_utf8(Field { number, separator }.of(line.as_bytes())).unwrap()
        };
        assert_eq!(of(1, None, "  a \t b c"), "a");
        assert_eq!(of(3, None, "  a \t b c "), "c");
        assert_eq!(of(4, None, "  a \t b c "), "");
        assert_eq!(of(1, None, ""), "");
        assert_eq!(of(1, Some(b','), ",b,,d"), "");
        assert_eq!(of(2, Some(b','), ",b,,d"), "b");
        assert_eq!(of(3, Some(b','), ",b,,d"), "");
        assert_eq!(of(4, Some(b','), ",b,,d"), "d");
        assert_eq!(of(5, Some(b','), ",b,,d"), "");
        assert_eq!(of(2, Some(b' '), "a  b"), "");
    }
}
