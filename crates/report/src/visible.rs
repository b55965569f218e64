//! Text of other programs, made safe to show: a command line may hold escape sequences, newlines or text that runs backwards.

use fullbore_measure::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text on one line, harmless.
pub(crate) fn line(text: &str) -> String {
    visible(text).into_owned()
}

/// The columns a terminal needs for the text.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to at most `columns`, ending in `…` when something was left out.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if width(&kept) + 1 > columns {
            kept.pop();
            break;
        }
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text cut to at most `columns` pieces that a terminal can show one under the other.
pub(crate) fn pieces(text: &str, columns: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide > columns.max(1) && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
            used = 0;
        }
        piece.push(character);
        used += wide;
    }
    pieces.push(piece);
    pieces
}

/// The text of [`line()`], in which a page does not tear a number from its percent sign.
pub(crate) fn sentence(text: &str) -> String {
    line(text).replace(" %", "\u{a0}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        let hostile = "a\u{1b}[2J\nb\r\u{9b}31m\u{202e}c\u{7f}\0";
        assert_eq!(line(hostile), "a␛[2J↵b␍�31m�c␡␀");
    }

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("abc", 1), "…");
    }
}
