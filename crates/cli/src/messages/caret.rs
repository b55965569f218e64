//! Mistakes in a text that the user wrote, shown with a caret below the place.

use std::fmt;

use fullbore_measure::visible;
use unicode_width::UnicodeWidthStr;

/// A mistake in an argument.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// The command, and what is wrong.
    pub(crate) message: String,
    /// The argument.
    pub(crate) text: String,
    /// Where in it, in bytes.
    pub(crate) at: usize,
    /// What to do; may be empty.
    pub(crate) hint: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl Mistake {
    /// Returns the message, the text, and the caret.
    pub(super) fn lines(&self) -> String {
        let before = self.text.get(..self.at).unwrap_or(&self.text);
        let column = visible(before).width();
        let (message, text) = (visible(&self.message), visible(&self.text));
        let mut lines = format!("fullbore: {message}\n  {text}\n  {:column$}^\n", "");
        if !self.hint.is_empty() {
            lines.push_str(&format!("hint: {}\n", visible(&self.hint)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_below_the_place() {
        let lines = |text: &str, at| {
            let hint = String::new();
            Mistake { message: "m".to_owned(), text: text.to_owned(), at, hint }.lines()
        };
        assert_eq!(lines(".a..b", 3), "fullbore: m\n  .a..b\n     ^\n");
        assert_eq!(lines("", 0), "fullbore: m\n  \n  ^\n");
        assert_eq!(lines(".日本\n.", 8), "fullbore: m\n  .日本↵.\n        ^\n");
    }
}
