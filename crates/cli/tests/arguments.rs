//! The definition of the arguments, as the program has it: what help, manual and documents are compared with.

#[allow(dead_code, reason = "only the definition is of use here")]
#[path = "../src/args/mod.rs"]
mod args;

use clap::{Command, CommandFactory};

/// The program, with all its commands.
pub(crate) fn program() -> Command {
    let mut program = args::Arguments::command();
    program.build();
    program
}

/// Every command that a user sees, the program first, with the words that name it.
pub(crate) fn commands() -> Vec<(Vec<String>, Command)> {
    let mut found = vec![(Vec::new(), program())];
    let mut at = 0;
    while at < found.len() {
        let (path, command) = found[at].clone();
        for child in command.get_subcommands() {
            if !child.is_hide_set() && child.get_name() != "help" {
                let path = [path.clone(), vec![child.get_name().to_owned()]].concat();
                found.push((path, child.clone()));
            }
        }
        at += 1;
    }
    found
}

/// The lines of a command's examples.
pub(crate) fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().skip_while(|line| !line.starts_with("Example"));
    let examples = lines.skip(1).take_while(|line| line.starts_with("  "));
    examples.map(|line| line.trim().to_owned()).collect()
}
