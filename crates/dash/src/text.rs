//! Text from strangers, made harmless and cut to size.

use ratatui::buffer::CellWidth;

/// Longest text that is looked at, in characters: more than any terminal line holds.
const LONGEST: usize = 2_000;

/// What stands for the rest of a text that does not fit.
const ELLIPSIS: char = '…';

/// `text` on one line, with everything replaced that could move the cursor, hide or reorder what is shown:
/// white space becomes one space, control characters become their pictures (`␛`), invisible ones become `·`.
pub(crate) fn neutralise(text: &str) -> String {
    let mut safe = String::with_capacity(text.len().min(LONGEST));
    for character in text.trim().chars().take(LONGEST) {
        match character {
            c if c.is_whitespace() => {
                if !safe.ends_with(' ') {
                    safe.push(' ');
                }
            }
            c if c.is_ascii_control() => safe.push(picture(c)),
            c if c.is_control() || is_invisible(c) => safe.push('·'),
            c => safe.push(c),
        }
    }
    safe
}

/// The symbol that stands for an ASCII control character.
fn picture(control: char) -> char {
    match control {
        '\u{7f}' => '\u{2421}',
        c => char::from_u32(0x2400 + u32::from(c)).unwrap_or('·'),
    }
}

/// Characters without a width of their own: format and direction controls, joiners, variation selectors, tags,
/// and combining marks (which could be stacked without end on one column).
fn is_invisible(character: char) -> bool {
    matches!(u32::from(character), 0xad | 0x61c | 0xfff9..=0xfffb | 0xe0000..=0xe0fff)
        || character.encode_utf8(&mut [0; 4]).cell_width() == 0
}

/// Columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(character: char) -> usize {
    usize::from(character.encode_utf8(&mut [0; 4]).cell_width())
}

/// `text` in at most `columns`; what was cut off is an ellipsis.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += char_width(character);
        if used + 1 > columns {
            break;
        }
        cut.push(character);
    }
    if columns > 0 {
        cut.truncate(cut.trim_end().len());
        cut.push(ELLIPSIS);
    }
    cut
}

/// `text` broken between words into at most `lines` of `columns`; what does not fit is an ellipsis.
pub(crate) fn wrap(text: &str, columns: usize, lines: usize) -> Vec<String> {
    let mut wrapped = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && wrapped.len() < lines {
        if wrapped.len() + 1 == lines || width(rest) <= columns {
            wrapped.push(fit(rest, columns));
            break;
        }
        let (line, after) = rest.split_at(break_point(rest, columns));
        if line.is_empty() {
            break;
        }
        wrapped.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    wrapped
}

/// Where to end the first line: after the last word that fits, or within a word wider than the line.
fn break_point(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut after_word = None;
    for (at, character) in text.char_indices() {
        if character == ' ' {
            after_word = Some(at);
        }
        used += char_width(character);
        if used > columns {
            return after_word.unwrap_or(at);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_harmless() {
        assert_eq!(neutralise("a\u{1b}[2Jb\u{7}"), "a␛[2Jb␇");
        assert_eq!(neutralise("  sh -c '\n\tls\r\n' "), "sh -c ' ls '");
        assert_eq!(neutralise("a\u{202e}b\u{200b}c\u{9b}d\u{7f}"), "a·b·c·d␡");
        assert_eq!(neutralise("e\u{301}\u{301}"), "e··");
        assert!(neutralise(&"x".repeat(1 << 20)).len() <= LONGEST);
    }

    #[test]
    fn cut_text_ends_in_an_ellipsis_and_never_exceeds_its_columns() {
        assert_eq!(fit("sort -n", 7), "sort -n");
        assert_eq!(fit("sort -n", 6), "sort…");
        assert_eq!(fit("sort", 0), "");
        assert_eq!(fit("日本語", 4), "日…");
        for columns in 0..10 {
            assert!(width(&fit("日本語 text", columns)) <= columns);
        }
    }

    #[test]
    fn wrapped_text_breaks_between_words() {
        assert_eq!(wrap("one two three", 8, 2), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 8, 2), ["one two", "three f…"]);
        assert_eq!(wrap("abcdefghij", 4, 3), ["abcd", "efgh", "ij"]);
        assert!(wrap("x", 0, 3).len() <= 3);
    }
}
