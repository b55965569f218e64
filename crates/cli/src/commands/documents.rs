//! Completion scripts and manual pages, made from the definition of the arguments.

use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Arguments;
use crate::exit::Exit;

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fullbore", &mut script);
    print(&script)
}

/// Prints fullbore.1, or writes the pages of all commands into a directory.
pub(crate) fn man(directory: Option<&Path>) -> Result<Exit> {
    let mut page = Vec::new();
    match directory {
        Some(directory) => {
            clap_mangen::generate_to(Arguments::command(), directory)
                .with_context(|| format!("writing manual pages: {}", directory.display()))?;
            Ok(Exit::Done)
        }
        None => {
            whole_manual(&mut page)?;
            print(&page)
        }
    }
}

/// One page with all commands: the program's own, then a section for each.
fn whole_manual(page: &mut Vec<u8>) -> Result<()> {
    let program = Arguments::command();
    clap_mangen::Man::new(program.clone()).render(page)?;
    for command in program.get_subcommands() {
        let title = format!("fullbore {}", command.get_name());
        let manual = clap_mangen::Man::new(command.clone().bin_name(title.clone()));
        let mut section = Vec::new();
        manual.render_synopsis_section(&mut section)?;
        manual.render_description_section(&mut section)?;
        manual.render_options_section(&mut section)?;
        manual.render_extra_section(&mut section)?;
        let section = String::from_utf8_lossy(&section).replace(".SH ", ".SS ");
        writeln!(page, ".SH {}\n{section}", title.to_uppercase())?;
    }
    Ok(())
}

/// A reader that has seen enough is no failure of a listing.
fn print(text: &[u8]) -> Result<Exit> {
    match stdout().write_all(text).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("writing to standard output")
        }
        _ => Ok(Exit::Done),
    }
}
