//! `fullbore utf8`.

use std::io::stdout;
use std::path::Path;

use anyhow::{Result, anyhow};
use fullbore_codec::utf8::{Repairer, Replacement, Utf8Error, Validator};
use fullbore_codec::{Codec, Fault};
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
    Stage { name, file, hint: "fullbore utf8 repair replaces what is not UTF-8" }
}

/// Between pipes the stream passes by without a copy.
fn check(stage: &Stage<'_>) -> Result<Exit> {
    let input = stage.input()?;
    refuse_closed_output(stage.name)?;
    if !is_pipe(&input) || !is_pipe(stdout()) {
        return stage.run(&mut Checker::default());
    }
    let mut checker = Checker::default();
    let passed = inspect(&input, stdout(), |block| {
        let before = checker.offset;
        checker.look(block).map_err(|error| Flaw { before: valid_before(&error, before), error })
    });
    match passed {
        Ok(Inspected::Passed(_)) => match checker.validator.finish() {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(stage.malformed(&error).into()),
        },
        Ok(Inspected::Fault(error)) => Err(stage.malformed(&error).into()),
        Ok(Inspected::CannotSplice) => stage.run(&mut Checker::default()),
        Err(error) if error.source.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("{}: {error}", stage.name)),
    }
}

/// Only the exit status.
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

/// Bytes of a block before the fault; 0 when it began in the block before.
fn valid_before(error: &Utf8Error, block_offset: u64) -> usize {
    usize::try_from(error.place.offset.saturating_sub(block_offset)).unwrap_or(usize::MAX)
}

/// A stage that changes nothing and stops at the first fault.
#[derive(Debug, Default)]
struct Checker {
    validator: Validator,
    offset: u64,
}

impl Checker {
    fn look(&mut self, block: &[u8]) -> Result<(), Utf8Error> {
        self.offset += block.len() as u64;
        self.validator.push(block)
    }
}

impl Codec for Checker {
    type Error = Utf8Error;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Utf8Error>> {
        let before = self.offset;
        let seen = self.look(input);
        let written =
            seen.as_ref().map_or_else(|error| valid_before(error, before), |()| input.len());
        output[..written].copy_from_slice(&input[..written]);
        seen.map(|()| written).map_err(|error| Fault { written, error })
    }

    fn finish(&mut self, _: &mut [u8]) -> Result<usize, Fault<Utf8Error>> {
        self.validator.finish().map(|()| 0).map_err(|error| Fault { written: 0, error })
    }
}
