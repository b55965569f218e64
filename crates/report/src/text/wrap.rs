//! Breaks sentences into lines without tearing a number from its unit.

use crate::visible;

/// Words that belong to the number before them.
const UNITS: [&str; 18] = [
    "%", "s", "ms", "µs", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "kB/s", "MB/s",
    "GB/s", "CPU", "CPUs", "×",
];

/// The text in lines of at most `columns`, the first behind `first`, the others behind `rest`.
///
/// A word that is longer than a line is cut into pieces.
pub(crate) fn wrap(text: &str, columns: usize, first: &str, rest: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut has_words = false;
    for word in glued_words(text) {
        let needed = visible::width(&word) + usize::from(has_words);
        if has_words && visible::width(&line) + needed > columns {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            has_words = false;
        }
        let room = columns.saturating_sub(visible::width(&line)).max(1);
        if !has_words && visible::width(&word) > room {
            let mut pieces = visible::pieces(&word, room);
            let last = pieces.pop().unwrap_or_default();
            for piece in pieces {
                line.push_str(&piece);
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
            }
            line.push_str(&last);
        } else {
            if has_words {
                line.push(' ');
            }
            line.push_str(&word);
        }
        has_words = true;
    }
    if has_words {
        lines.push(line);
    }
    lines
}

/// A command in backquotes is not torn, unless it is longer than this.
const COMMAND_MAX: usize = 48;

fn glued_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(last) = words.last_mut()
            && last.matches('`').count() % 2 == 1
            && visible::width(last) + visible::width(word) < COMMAND_MAX
        {
            last.push(' ');
            last.push_str(word);
            continue;
        }
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '%' && c != '/');
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            wrap("it waits 96 % of the time", 12, "", "  "),
            ["it waits", "  96 % of", "  the time"]
        );
    }

    #[test]
    fn a_word_longer_than_the_line_is_cut() {
        assert_eq!(wrap("abcdefgh ij", 5, "", " "), ["abcde", " fgh", " ij"]);
        assert_eq!(wrap("", 5, "", " "), Vec::<String>::new());
    }
}
