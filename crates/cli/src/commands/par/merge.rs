//! What is known about the command: whether its input can be dealt out, and how its outputs become one.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use fullbore_feed::par::{Command, Merge, Records, StatusRule};
use fullbore_rules::{Dealt, Ends, Merge as Wanted, Rule, Status, rule, rule_of_line};

use super::program;
use crate::args::par::ParOptions;
use crate::exit::Exit;
use crate::messages::{Failure, complain};

/// What follows from the command and `--merge`.
#[derive(Debug)]
pub(super) struct Plan {
    /// `None` puts the outputs one after the other.
    pub(super) merge: Option<Merge>,
    /// Lines at the beginning that every copy gets.
    pub(super) header_lines: u64,
    pub(super) status: StatusRule,
}

/// Asks the table about the command, and warns where the outputs one after the other are not the output of the command
/// alone.
pub(super) fn plan(options: &ParOptions, records: &Records) -> Result<Plan> {
    let known = match &options.line {
        Some(line) => line.to_str().map_or_else(|| rule(&[""]), rule_of_line),
        None => rule(&options.command),
    };
    let mut plan = Plan { merge: None, header_lines: options.header, status: status(&known) };
    if options.auto {
        return Ok(plan);
    }
    let name = options.line.as_ref().or(options.command.first());
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    warn_of_records(&name, &known, records);
    match options.merge.as_deref().unwrap_or("cat") {
        "cat" => warn(&name, &known, options.header),
        "auto" => match &known.dealt {
            Dealt::Merge(Wanted::FirstHeader(lines)) => {
                plan.header_lines = options.header.max(*lines)
            }
            Dealt::Merge(wanted) => plan.merge = Some(merge(wanted)?),
            _ => warn(&name, &known, options.header),
        },
        "sum" => plan.merge = Some(Merge::Sum),
        "uniq-count" => plan.merge = Some(Merge::UniqCount),
        kind @ ("sort" | "uniq" | "head" | "tail") => match &known.dealt {
            Dealt::Merge(
                wanted @ (Wanted::Sort(words)
                | Wanted::Uniq(words)
                | Wanted::Head(words)
                | Wanted::Tail(words)),
            ) if words.iter().any(|word| word == kind) => plan.merge = Some(merge(wanted)?),
            _ if kind == "sort" => plan.merge = Some(Merge::Files(find(&["sort", "-m"])?)),
            _ => plan.merge = Some(Merge::Through(find(&[kind])?)),
        },
        line => plan.merge = Some(Merge::Files(command_of(line)?)),
    }
    if options.header > 0 && plan.merge.is_some() {
        let why = "the merge gets the header of every copy";
        say(&name, why, "print no header in the command, or merge after par");
    }
    Ok(plan)
}

fn status(known: &Rule) -> StatusRule {
    match known.status {
        Status::All => StatusRule::All,
        Status::Any => StatusRule::Any,
        Status::Max => StatusRule::Max,
        Status::Last => StatusRule::Last,
    }
}

fn merge(wanted: &Wanted) -> Result<Merge> {
    Ok(match wanted {
        Wanted::Sum => Merge::Sum,
        Wanted::Greatest => Merge::Greatest,
        Wanted::Sort(words) => Merge::Files(find(words)?),
        Wanted::Uniq(words) | Wanted::Head(words) | Wanted::Tail(words) => {
            Merge::Through(find(words)?)
        }
        Wanted::UniqCount => Merge::UniqCount,
        Wanted::Squeeze(byte) => Merge::Squeeze(*byte),
        Wanted::FirstHeader(_) => return Err(anyhow!("par: --merge: a header is no merge")),
    })
}

/// A merging command of the user: several words for the shell, which gets the outputs as `"$@"`.
fn command_of(line: &str) -> Result<Command> {
    let words =
        shell_words::split(line).map_err(|error| anyhow!("par: --merge {line}: {error}"))?;
    find(&words)
}

fn find(words: &[impl AsRef<str>]) -> Result<Command> {
    let words: Vec<OsString> = words.iter().map(|word| word.as_ref().into()).collect();
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    program::find(words).map_err(|_| {
        let message = format!("par: --merge: {name}: no such command");
        let hint = "cat, auto, sum, sort, uniq, uniq-count, head, tail, or a command that merges the files it is given";
        Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }.into()
    })
}

/// Says what will differ from the output of the command alone, and what to do.
fn warn(name: &str, known: &Rule, header_lines: u64) {
    let (why, what) = match &known.dealt {
        Dealt::Differs { why, instead } => (why.clone(), instead.clone().unwrap_or_default()),
        Dealt::Merge(Wanted::FirstHeader(lines)) if *lines <= header_lines => return,
        Dealt::Merge(Wanted::FirstHeader(lines)) => (
            "only the first block begins with the header".to_owned(),
            format!("add --header {lines}"),
        ),
        Dealt::Merge(_) => {
            ("each block has an output of its own".to_owned(), "add --merge auto".to_owned())
        }
        Dealt::Records | Dealt::Equivalent { .. } | Dealt::Unknown => return,
    };
    say(name, &why, &what);
}

/// Says so where the command reads other records than those at whose ends the input is cut.
fn warn_of_records(name: &str, known: &Rule, records: &Records) {
    let is_zeros = *records == Records::EndByte(0);
    match known.input {
        Ends::Zeros if !is_zeros => say(name, "its records end with a zero byte", "add -0"),
        Ends::Lines if is_zeros && known.dealt != Dealt::Unknown => {
            say(name, "its records are lines", "leave out -0");
        }
        Ends::Lines | Ends::Zeros | Ends::Bytes => {}
    }
}

fn say(name: &str, why: &str, what: &str) {
    complain(&format!("par: warning: {name}: the output is not that of one run: {why}"), what);
}
