//! Makes untrusted text harmless for a terminal or a log.

use std::borrow::Cow;

/// Returns `text` on one line, and replaces every character that would steer a terminal, or hide or reorder what is
/// shown, by a visible sign.
///
/// ASCII control characters become their pictures (`␛` for escape), newlines `↵`, tabs a space. Other control
/// characters, and those that change the direction of text or have no width, become `\u{fffd}`. That includes joiners
/// and variation selectors: in a name they hide more than they show.
///
/// ```
/// assert_eq!(fullbore_measure::visible("a\u{1b}[2J\u{202e}b"), "a␛[2J\u{fffd}b");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| sign(character) == character) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(sign).collect())
}

fn sign(character: char) -> char {
    match character {
        '\n' => '↵',
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
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
        | '\u{e0000}'..='\u{e0fff}' => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_steers_a_terminal_is_left() {
        let text: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        let safe = visible(&text);
        assert!(!safe.contains(char::is_control) && !safe.contains('\u{202e}'));
        assert!(safe.contains('␛') && safe.contains('␡'));
    }

    #[test]
    fn readable_text_stays_unchanged() {
        let text = "gost seal: reading: Дата 🙂 e\u{301}/…: No such file";
        assert_eq!(visible(text), text);
    }
}
