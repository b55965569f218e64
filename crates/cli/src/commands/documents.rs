//! Completion scripts and manual pages, made from the definition of the arguments.

mod page;

use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

use anyhow::{Result, anyhow};
use clap::{Command, CommandFactory};

use self::page::children;
use crate::args::Arguments;
use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::nearest::nearest;

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fullbore", &mut script);
    print("completions", &script)
}

/// Prints the manual page of the command that `words` name, or writes those of all commands into a directory.
pub(crate) fn man(words: &[String], directory: Option<&Path>) -> Result<Exit> {
    let mut program = Arguments::command();
    program.build();
    if let Some(directory) = directory {
        write_all(&program, directory)?;
        return Ok(Exit::Done);
    }
    let mut ancestors = Vec::new();
    let mut command = &program;
    for word in words {
        ancestors.push(command);
        command = child(command, word)?;
    }
    print("man", &page::page(command, ancestors.last().copied())?)
}

fn child<'a>(command: &'a Command, word: &str) -> Result<&'a Command, Failure> {
    children(command).find(|child| child.get_name() == word).ok_or_else(|| {
        let name = command.get_bin_name().unwrap_or("fullbore");
        let hint = match nearest(word, children(command).map(Command::get_name)) {
            Some(near) => format!("did you mean '{near}'? {name} --help lists the commands"),
            None => format!("{name} --help lists the commands"),
        };
        Failure { message: format!("man: {name}: no command '{word}'"), hint, exit: Exit::NotDone }
    })
}

fn write_all(program: &Command, directory: &Path) -> Result<()> {
    let failed = |path: &Path, error: &std::io::Error| Failure {
        message: format!("man: writing: {}: {}", path.display(), plain(error)),
        hint: "give a directory that you can write to".to_owned(),
        exit: Exit::NotDone,
    };
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    let mut commands = vec![(program, None)];
    while let Some((command, parent)) = commands.pop() {
        let path = directory.join(format!("{}.1", page::name(command)));
        std::fs::write(&path, page::page(command, parent)?)
            .map_err(|error| failed(&path, &error))?;
        commands.extend(children(command).map(|child| (child, Some(command))));
    }
    Ok(())
}

/// Prints text; a reader that leaves early is no failure.
fn print(name: &str, text: &[u8]) -> Result<Exit> {
    crate::commands::stage::refuse_closed_output(name)?;
    match stdout().write_all(text).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow!("{name}: writing: standard output: {}", plain(&error)))
        }
        _ => Ok(Exit::Done),
    }
}
