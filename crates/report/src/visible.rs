//! Text of other programs, made safe to show: a command line may hold escape sequences, newlines or text that runs backwards.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text on one line, with every character that would steer a terminal or reorder a page replaced by a visible sign.
///
/// Control characters become their pictures (`␛`), line breaks `↵`, tabs a space; characters that change
/// the direction of text or have no width of their own become `�`. Joiners and variation signs are among them: in a command they hide more than they show.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(sign).collect()
}

fn sign(character: char) -> char {
    match character {
        '\n' => '↵',
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => '�',
        other => other,
    }
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
