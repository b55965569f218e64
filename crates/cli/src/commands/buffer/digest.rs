//! The line with the digest, in the form that the checking program expects.

use crate::args::buffer::HashName;

/// One line that `sha256sum -c`, `b3sum -c` or `xxhsum -c` accepts. Without a name it stands for standard input.
pub(super) fn line(hash: HashName, hex: &str, name: &str) -> String {
    match hash {
        HashName::Sha256 | HashName::Blake3 if name.is_empty() => format!("{hex}  -\n"),
        // A leading backslash means that backslashes in the name are doubled. Names contain no control characters.
        HashName::Sha256 | HashName::Blake3 if name.contains('\\') => {
            format!("\\{hex}  {}\n", name.replace('\\', "\\\\"))
        }
        HashName::Sha256 | HashName::Blake3 => format!("{hex}  {name}\n"),
        // xxhsum 0.8.1 accepts XXH3 only in this form, and doubles no backslashes.
        HashName::Xxh3 if name.is_empty() => format!("XXH3 (stdin) = {hex}\n"),
        HashName::Xxh3 => format!("XXH3 ({name}) = {hex}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_the_checking_programs_read_it() {
        assert_eq!(line(HashName::Sha256, "00", ""), "00  -\n");
        assert_eq!(line(HashName::Blake3, "00", "a b"), "00  a b\n");
        assert_eq!(line(HashName::Xxh3, "00", ""), "XXH3 (stdin) = 00\n");
        assert_eq!(line(HashName::Xxh3, "00", "a\\b"), "XXH3 (a\\b) = 00\n");
        assert_eq!(line(HashName::Sha256, "00", "a\\b"), "\\00  a\\\\b\n");
    }
}
