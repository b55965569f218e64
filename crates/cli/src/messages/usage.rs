//! Messages about wrong arguments, with the help to read.

use std::io::{Write, stdout};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::{complain, say};
use crate::args::Arguments;
use crate::exit::Exit;

/// Prints help on standard output, or a message about wrong arguments.
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
    let cause = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
    let meant = Meant::by(words);
    let message = if meant.path.is_empty() { cause } else { format!("{}: {cause}", meant.path) };
    complain(&message, &meant.hint(error));
    Exit::NotDone
}

/// The command that the user meant, as far as the command line names one.
struct Meant {
    program: Command,
    command: Command,
    /// `gost seal`; empty for the program itself.
    path: String,
}

impl Meant {
    fn by(words: impl Iterator<Item = String>) -> Self {
        let program = Arguments::command();
        let (mut command, mut path) = (program.clone(), Vec::new());
        for word in words {
            if let Some(found) = command.find_subcommand(&word) {
                command = found.clone();
                path.push(word);
            }
        }
        Self { program, command, path: path.join(" ") }
    }

    fn hint(&self, error: &clap::Error) -> String {
        let argument = text(error, ContextKind::InvalidArg);
        let is_option = argument.starts_with('-');
        match (error.kind(), self.path.as_str()) {
            (ErrorKind::UnknownArgument, "run") if !is_option => {
                "put the pipeline in quotes: fullbore run 'a | b'; or run one command: fullbore run -- CMD ARG".to_owned()
            }
            (ErrorKind::UnknownArgument, "buffer") if !is_option => {
                "buffer reads standard input: fullbore buffer < FILE".to_owned()
            }
            (ErrorKind::UnknownArgument, _) if is_option => self.hint_for_option(error, &argument),
            (ErrorKind::MissingRequiredArgument, _) if argument.contains("PIPELINE") => {
                "put the pipeline in quotes: fullbore run 'zcat x.gz | sort | uniq -c'".to_owned()
            }
            (ErrorKind::InvalidSubcommand, _) => self.hint_for_command(error),
            _ => self.with_suggestion(&text(error, ContextKind::SuggestedValue)),
        }
    }

    fn help(&self) -> String {
        help(&self.path)
    }

    /// Suggests the most similar name, if there is one, and the help.
    fn with_suggestion(&self, suggestion: &str) -> String {
        match suggestion {
            "" => format!("see {}", self.help()),
            name => format!("did you mean '{name}'? See {}", self.help()),
        }
    }

    fn hint_for_command(&self, error: &clap::Error) -> String {
        let word = text(error, ContextKind::InvalidSubcommand);
        if self.path.is_empty() && word.contains(|c: char| c.is_whitespace() || c == '|') {
            return "to run a pipeline: fullbore run 'a | b'".to_owned();
        }
        match text(error, ContextKind::SuggestedSubcommand).as_str() {
            "" => format!("{} lists the commands", self.help()),
            name => format!("did you mean '{name}'? {} lists the commands", self.help()),
        }
    }

    /// A hint for an option that belongs to another command or is misspelt.
    fn hint_for_option(&self, error: &clap::Error, argument: &str) -> String {
        let option = argument.split_once('=').map_or(argument, |(option, _)| option);
        if has_option(&self.command, option) {
            return format!(
                "options follow the command: fullbore {} {option}; see {}",
                self.path,
                self.help()
            );
        }
        if option.trim_start_matches('-').parse::<f64>().is_ok() {
            return format!("expected a number that is not negative; see {}", self.help());
        }
        let is_key = ["--key", "--password", "--passphrase", "-K"].contains(&option);
        if is_key && has_option(&self.command, "--key-file") {
            return format!(
                "other users can see command lines, so use --key-file FILE, --key-fd N or --key-env NAME; see {}",
                self.help()
            );
        }
        let suggestion = text(error, ContextKind::SuggestedArg);
        if !suggestion.is_empty() {
            return self.with_suggestion(&suggestion);
        }
        let mut owners = Vec::new();
        collect_owners(&self.program, "", option, &mut owners);
        match owners.as_slice() {
            [only] => format!("{option} belongs to fullbore {only}; see {}", help(only)),
            [first, others @ ..] if others.len() < 6 => {
                let owners = owners.join(", fullbore ");
                format!("{option} belongs to fullbore {owners}; see {}", help(first))
            }
            _ => self.with_suggestion(""),
        }
    }
}

fn help(path: &str) -> String {
    if path.is_empty() { "fullbore --help".to_owned() } else { format!("fullbore {path} --help") }
}

fn has_option(command: &Command, option: &str) -> bool {
    command.get_arguments().filter(|argument| !argument.is_positional()).any(
        |argument| match option.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short().is_some_and(|short| option == format!("-{short}")),
        },
    )
}

/// All commands under this one that have a long option.
fn collect_owners(command: &Command, path: &str, option: &str, owners: &mut Vec<String>) {
    if !option.starts_with("--") {
        return;
    }
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        let path = format!("{path} {}", child.get_name());
        if has_option(child, option) {
            owners.push(path.trim_start().to_owned());
        }
        collect_owners(child, &path, option, owners);
    }
}

/// The first text of this kind in the error; empty if there is none.
fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}
