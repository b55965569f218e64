//! The manual page of one command.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// `fullbore-gost-seal`
pub(super) fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// The visible subcommands of a command.
pub(super) fn children(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| !child.is_hide_set() && child.get_name() != "help")
}

/// The manual page of a command. Call `build` on the program first.
///
/// # Errors
/// None in practice: the page is written to memory.
pub(super) fn page(command: &Command, parent: Option<&Command>) -> io::Result<Vec<u8>> {
    let manual = Man::new(command.clone())
        .title(name(command))
        .source(concat!("fullbore ", env!("CARGO_PKG_VERSION")))
        .manual("fullbore manual");
    let mut page = Vec::new();
    manual.render_title(&mut page)?;
    // Do not break names of options and commands, and do not justify lines.
    let mut look = Roff::new();
    look.control("nh", []).control("ad", ["l"]);
    look.to_writer(&mut page)?;
    manual.render_name_section(&mut page)?;
    manual.render_synopsis_section(&mut page)?;
    manual.render_description_section(&mut page)?;
    manual.render_options_section(&mut page)?;
    let mut rest = Roff::new();
    commands(&mut rest, command);
    after_help(&mut rest, command);
    see_also(&mut rest, command, parent);
    rest.to_writer(&mut page)?;
    Ok(page)
}

fn commands(roff: &mut Roff, command: &Command) {
    if children(command).next().is_some() {
        roff.control("SH", ["COMMANDS"]);
    }
    for child in children(command) {
        roff.control("TP", []);
        roff.text([bold(name(child)), roman("(1)")]);
        if let Some(about) = child.get_about() {
            roff.text([roman(one_line(&about.to_string()))]);
        }
    }
}

/// The text after the options. A heading (`Examples:`) begins a section; indented lines stay as they are.
fn after_help(roff: &mut Roff, command: &Command) {
    let help = command.get_after_long_help().or_else(|| command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        match paragraph.split_once(":\n") {
            Some(("Exit status", list)) => {
                roff.control("SH", ["EXIT STATUS"]);
                for (number, entry) in one_line(list).split("; ").enumerate() {
                    if number > 0 {
                        roff.control("br", []);
                    }
                    roff.text([roman(entry)]);
                }
            }
            Some((heading, lines)) if !heading.contains('\n') => {
                let heading = heading.to_uppercase();
                roff.control("SH", [heading.as_str()]);
                unfilled(roff, lines);
            }
            _ => {
                roff.control("SH", ["NOTES"]);
                roff.text([roman(one_line(paragraph))]);
            }
        }
    }
}

/// Lines to be copied to a shell: neither joined nor hyphenated.
fn unfilled(roff: &mut Roff, lines: &str) {
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

/// The pages of the parent and sibling commands.
fn see_also(roff: &mut Roff, command: &Command, parent: Option<&Command>) {
    let Some(parent) = parent else { return };
    let others = children(parent).filter(|child| child.get_name() != command.get_name());
    let names = std::iter::once(parent).chain(others).chain(children(command)).map(name);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(names.map(|name| format!("{name}(1)")).collect::<Vec<_>>().join(", "))]);
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
