//! Everything the program says on standard error, in one form: `fullbore: what: object: cause`, then at most one hint.

pub(crate) mod caret;
pub(crate) mod secret;
mod usage;

use std::fmt;
use std::io::{Write, stderr};

use clap::Subcommand;
use fullbore_measure::visible;

use self::caret::Mistake;
use crate::args::Task;
use crate::exit::Exit;

pub(crate) use usage::usage;

/// A failure, and a hint what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) exit: Exit,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Prints a message and a hint on standard error, and ignores a closed standard error.
///
/// Names of files and arguments may come from strangers. So control characters never reach the terminal, and what may be a key
/// is hidden.
pub(crate) fn complain(message: &str, hint: &str) {
    let mut text = format!("fullbore: {}\n", shown(message));
    if !hint.is_empty() {
        text.push_str(&format!("hint: {}\n", shown(hint)));
    }
    say(&text);
}

fn shown(text: &str) -> String {
    let text = &without_numbers(text);
    // Hide keys only for `fullbore gost` and unknown commands; elsewhere, 64 digits are the name of a file.
    let first = std::env::args_os().nth(1).and_then(|word| word.into_string().ok());
    let may_have_keys = first.is_none_or(|word| word == "gost" || !Task::has_subcommand(&word));
    if may_have_keys { secret::hide_keys(&visible(text)) } else { visible(text).into_owned() }
}

/// Writes text to standard error in one piece.
pub(crate) fn say(text: &str) {
    // If standard error is gone, nobody is left to tell.
    let _ = stderr().write_all(text.as_bytes());
}

/// Prints why a command failed.
pub(crate) fn failure(error: &anyhow::Error) -> Exit {
    if let Some(mistake) = error.downcast_ref::<Mistake>() {
        say(&mistake.lines());
        return Exit::NotDone;
    }
    match error.downcast_ref::<Failure>() {
        Some(failure) => {
            complain(&failure.message, &failure.hint);
            failure.exit
        }
        None => {
            complain(&format!("{error:#}"), "");
            Exit::NotDone
        }
    }
}

/// The text of an error without its number.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Removes the error numbers that Rust adds to messages, such as `(os error 2)`.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(')') {
            Some(rest) => shown.push_str(rest),
            None => {
                shown.push_str(" (os error ");
                shown.push_str(part);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_not_shown() {
        let error = std::io::Error::from_raw_os_error(21);
        let text = format!("reading: d: {error} (after 0 bytes)");
        assert_eq!(without_numbers(&text), "reading: d: Is a directory (after 0 bytes)");
        for text in ["", "no number", "a file (os error x).txt"] {
            assert_eq!(without_numbers(text), text);
        }
    }
}
