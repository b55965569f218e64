//! Everything the program says on standard error, in one form: `fullbore: what: object: cause`, then at most one hint.

use std::fmt;
use std::io::{Write, stderr, stdout};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::Arguments;
use crate::exit::Exit;

/// A failure with what to try.
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

/// Says what failed; a standard error that is closed is no further failure.
pub(crate) fn complain(message: &str, hint: &str) {
    let mut text = format!("fullbore: {message}\n");
    if !hint.is_empty() {
        text.push_str(&format!("hint: {hint}\n"));
    }
    say(&text);
}

/// Writes text to standard error in one piece.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = stderr().write_all(text.as_bytes());
}

/// Shows help on standard output, or says what is wrong with the arguments.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // `fullbore --help | head -1` is no failure.
        let _ = write!(stdout(), "{}", error.render());
        return Exit::Done;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        say(&error.render().to_string());
        return Exit::NotDone;
    }
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    complain(&message, &usage_hint(error));
    Exit::NotDone
}

fn usage_hint(error: &clap::Error) -> String {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        Some(ContextValue::Strings(arguments)) => arguments.first().map_or("", String::as_str),
        _ => "",
    };
    let task = task();
    match error.kind() {
        ErrorKind::UnknownArgument if task == "run" && !argument.starts_with('-') => {
            "put the pipeline in quotes, as one word: fullbore run 'a | b'; or run one command with: fullbore run -- CMD ARG".to_owned()
        }
        ErrorKind::MissingRequiredArgument if argument.contains("PIPELINE") => {
            "give the pipeline as one word: fullbore run 'zcat x.gz | sort | uniq -c'".to_owned()
        }
        ErrorKind::UnknownArgument if task == "buffer" && !argument.starts_with('-') => {
            "it reads standard input: fullbore buffer < FILE".to_owned()
        }
        _ if task.is_empty() => "see fullbore --help".to_owned(),
        _ => format!("see fullbore {task} --help"),
    }
}

/// The command that was meant, as far as there is one of that name; empty without one.
fn task() -> String {
    let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
    let known = Arguments::command();
    let mut words = words.filter(|word| known.find_subcommand(word).is_some());
    words.next().unwrap_or_default()
}

/// Says why a command failed.
pub(crate) fn failure(error: &anyhow::Error) -> Exit {
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

/// The words of an error without Rust's "(os error 2)".
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
