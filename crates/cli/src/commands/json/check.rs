//! `fullbore json check`.

use std::io::stdout;

use anyhow::{Result, anyhow};
use fullbore_codec::json::{JsonError, Validator};
use fullbore_codec::{Codec, Fault, Tier};
use fullbore_feed::{Flaw, Input, Inspected, inspect};
use fullbore_pipe::is_pipe;

use crate::args::json::JsonCheck;
use crate::commands::stage::{Stage, refuse_closed_output, tier};
use crate::exit::Exit;
use crate::messages::{Failure, complain};

const NAME: &str = "json check";
const BLOCK_BYTES: usize = 256 << 10;

/// Checks a stream.
pub(crate) fn run(options: &JsonCheck) -> Result<Exit> {
    let hint = if options.all { "" } else { "--all goes on after an error, at the next line" };
    let stage = Stage { name: NAME, file: options.file.as_deref(), hint };
    let mut check = Check::new(stage, tier()?, options);
    if options.pass { pass(&stage, check) } else { read(&mut check, stage.input()?) }
}

/// Checks a stream, and counts and prints its errors.
struct Check<'a> {
    stage: Stage<'a>,
    validator: Validator,
    goes_on: bool,
    most_printed: u64,
    errors: u64,
}

impl<'a> Check<'a> {
    fn new(stage: Stage<'a>, tier: Tier, options: &JsonCheck) -> Self {
        Self {
            stage,
            validator: Validator::new(tier),
            goes_on: options.all,
            most_printed: options.max_errors,
            errors: 0,
        }
    }

    /// Checks a block; fails at the first error unless it shall go on.
    fn push(&mut self, block: &[u8]) -> Result<(), JsonError> {
        let begin = self.validator.place().offset;
        let mut rest = block;
        while let Err(error) = self.validator.push(rest) {
            self.note(error)?;
            self.validator.skip_line();
            let checked = usize::try_from(error.place.offset - begin).unwrap_or(usize::MAX);
            rest = &block[checked..];
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), JsonError> {
        self.validator.finish().or_else(|error| {
            // After the end there is nothing to go on with.
            self.stage.hint = "";
            self.note(error)
        })
    }

    fn note(&mut self, error: JsonError) -> Result<(), JsonError> {
        if !self.goes_on {
            return Err(error);
        }
        self.errors += 1;
        if self.errors <= self.most_printed {
            complain(&self.stage.malformed(&error).message, "");
        }
        Ok(())
    }

    /// The failure for an error, or the exit status after the whole stream.
    fn ended(&self, seen: Result<(), JsonError>) -> Result<Exit> {
        seen.map_err(|error| self.stage.malformed(&error))?;
        if self.errors == 0 {
            return Ok(Exit::Done);
        }
        let errors =
            if self.errors == 1 { "1 error".to_owned() } else { format!("{} errors", self.errors) };
        let documents = self.validator.documents();
        let hint = match self.errors.saturating_sub(self.most_printed) {
            0 => String::new(),
            more => format!("--max-errors {} also prints the other {more}", self.errors),
        };
        let input = self.stage.input_name();
        let message = format!("{NAME}: {input}: {errors}; documents that are valid: {documents}");
        Err(Failure { message, hint, exit: Exit::No }.into())
    }
}

/// Checks a stream without passing it on.
fn read(check: &mut Check<'_>, mut input: Input) -> Result<Exit> {
    let mut block = vec![0; BLOCK_BYTES];
    let seen = loop {
        let count = input.read(&mut block).map_err(|error| anyhow!("{NAME}: {error}"))?;
        if count == 0 {
            break check.finish();
        }
        if let Err(error) = check.push(&block[..count]) {
            break Err(error);
        }
    };
    check.ended(seen)
}

/// Checks a stream and passes it on. Between pipes, the data is not copied.
fn pass(stage: &Stage<'_>, mut check: Check<'_>) -> Result<Exit> {
    let input = stage.input()?;
    refuse_closed_output(NAME)?;
    if !is_pipe(&input) || !is_pipe(stdout()) {
        return pass_copied(stage, input, check);
    }
    let passed = inspect(&input, stdout(), |block| match check.push(block) {
        Ok(()) => Ok(check.validator.place().offset),
        Err(error) => Err(Flaw { before: error.place.offset, error }),
    });
    match passed {
        Ok(Inspected::Passed(_)) => {
            let seen = check.finish();
            check.ended(seen)
        }
        Ok(Inspected::Fault(error)) => check.ended(Err(error)),
        Ok(Inspected::CannotSplice) => pass_copied(stage, input, check),
        Err(error) if error.source.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("{NAME}: {error}")),
    }
}

fn pass_copied(stage: &Stage<'_>, input: Input, check: Check<'_>) -> Result<Exit> {
    let mut passing = Passing { check };
    match stage.run_on(input, &mut passing)? {
        Exit::Done => passing.check.ended(Ok(())),
        other => Ok(other),
    }
}

/// Passes a stream on unchanged up to the error that ends the check.
struct Passing<'a> {
    check: Check<'a>,
}

impl Codec for Passing<'_> {
    type Error = JsonError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<JsonError>> {
        let begin = self.check.validator.place().offset;
        let result = self.check.push(input);
        let end = self.check.validator.place().offset;
        let written = usize::try_from(end - begin).unwrap_or(usize::MAX).min(input.len());
        output[..written].copy_from_slice(&input[..written]);
        result.map(|()| written).map_err(|error| Fault { written, error })
    }

    fn finish(&mut self, _: &mut [u8]) -> Result<usize, Fault<JsonError>> {
        self.check.finish().map(|()| 0).map_err(|error| Fault { written: 0, error })
    }
}
