//! `fullbore utf8`.

use std::io::stdout;
use std::path::Path;

use anyhow::{Result, anyhow};
use fullbore_codec::utf8::{Checker, Repairer, Replacement, Validator};
use fullbore_feed::{Flaw, Input, Inspected, inspect};
use fullbore_pipe::is_pipe;

use super::stage::{Stage, refuse_closed_output};
use crate::args::stages::Utf8Task;
use crate::exit::Exit;

/// Checks or repairs.
pub(crate) fn run(task: &Utf8Task) -> Result<Exit> {
    match task {
        Utf8Task::Check { file, quiet: true } => silently(&stage("utf8 check", file.as_deref())),
        Utf8Task::Check { file, quiet: false } => check(&stage("utf8 check", file.as_deref())),
        Utf8Task::Repair { file, drop } => {
            let replacement = if *drop { Replacement::Nothing } else { Replacement::Character };
            stage("utf8 repair", file.as_deref()).run(&mut Repairer::new(replacement))
        }
    }
}

fn stage<'a>(name: &'a str, file: Option<&'a Path>) -> Stage<'a> {
    Stage { name, file, hint: "fullbore utf8 repair replaces invalid bytes" }
}

/// Checks a stream. Between pipes, the data is not copied.
fn check(stage: &Stage<'_>) -> Result<Exit> {
    let input = stage.input()?;
    refuse_closed_output(stage.name)?;
    if !is_pipe(&input) || !is_pipe(stdout()) {
        return stage.run(&mut Checker::new());
    }
    let mut validator = Validator::new();
    let passed = inspect(&input, stdout(), |block| match validator.push(block) {
        Ok(()) => Ok(validator.whole_bytes()),
        Err(error) => Err(Flaw { before: error.place.offset, error }),
    });
    match passed {
        Ok(Inspected::Passed(_)) => match validator.finish() {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(stage.malformed(&error).into()),
        },
        Ok(Inspected::Fault(error)) => Err(stage.malformed(&error).into()),
        Ok(Inspected::CannotSplice) => stage.run(&mut Checker::new()),
        Err(error) if error.source.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("{}: {error}", stage.name)),
    }
}

/// Checks a stream and only sets the exit status.
fn silently(stage: &Stage<'_>) -> Result<Exit> {
    let mut input: Input = stage.input()?;
    let mut validator = Validator::new();
    let mut block = vec![0; 1 << 18];
    loop {
        let count = input.read(&mut block).map_err(|error| anyhow!("{}: {error}", stage.name))?;
        let seen = if count == 0 { validator.finish() } else { validator.push(&block[..count]) };
        match seen {
            Err(_) => return Ok(Exit::No),
            Ok(()) if count == 0 => return Ok(Exit::Done),
            Ok(()) => {}
        }
    }
}
