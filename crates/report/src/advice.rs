//! An advice, taken apart into words to read and commands to paste.

/// One part of an advice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// To be read.
    Words(&'a str),
    /// To be pasted into a shell.
    Command(&'a str),
}

/// The parts of an advice: what stands in backticks is a command; without backticks, so is what looks like one,
/// alone or at the end after a colon.
pub(crate) fn parts(advice: &str) -> Vec<Part<'_>> {
    let advice = advice.trim();
    if advice.matches('`').count() >= 2 {
        return advice
            .split('`')
            .enumerate()
            .map(|(place, text)| (place % 2 == 1, text.trim()))
            .filter(|(_, text)| !text.is_empty())
            .map(
                |(is_command, text)| {
                    if is_command { Part::Command(text) } else { Part::Words(text) }
                },
            )
            .collect();
    }
    if let Some(colon) = advice.find(": ") {
        let (words, command) = advice.split_at(colon + 1);
        if !has_syntax(words) && looks_like_a_command(command.trim()) {
            return vec![Part::Words(words), Part::Command(command.trim())];
        }
    }
    if looks_like_a_command(advice) {
        return vec![Part::Command(advice)];
    }
    if advice.is_empty() { Vec::new() } else { vec![Part::Words(advice)] }
}

/// A program's name, then options, a pipe sign or an assignment; prose has a full stop at its end.
fn looks_like_a_command(text: &str) -> bool {
    let Some(first) = text.split_whitespace().next() else {
        return false;
    };
    let is_program = first.starts_with(|c: char| c.is_ascii_lowercase() || c == '/' || c == '.')
        || first
            .split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
    is_program && has_syntax(text) && !text.ends_with('.') && !text.contains(". ")
}

/// Whether the text holds an option or a pipe sign.
fn has_syntax(text: &str) -> bool {
    text.split_whitespace().any(|word| word == "|" || (word.starts_with('-') && word.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_prose() {
        assert_eq!(
            parts("fullbore par -j2 -- jq -c .price"),
            [Part::Command("fullbore par -j2 -- jq -c .price")]
        );
        assert_eq!(
            parts("give the work to two: fullbore par -j2 -- jq -c .x"),
            [Part::Words("give the work to two:"), Part::Command("fullbore par -j2 -- jq -c .x")]
        );
        assert_eq!(
            parts("run `stdbuf -oL x` instead"),
            [Part::Words("run"), Part::Command("stdbuf -oL x"), Part::Words("instead")]
        );
        assert_eq!(parts("Use a faster disk."), [Part::Words("Use a faster disk.")]);
        assert_eq!(
            parts("jq is slow with - as input."),
            [Part::Words("jq is slow with - as input.")]
        );
        assert_eq!(parts(""), []);
    }
}
