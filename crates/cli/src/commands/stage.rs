//! What all filters and sources share: their input, their output, and how they end.

use std::fs::File;
use std::io::stdout;
use std::path::Path;

use anyhow::{Result, anyhow};
use fullbore_codec::{Codec, Divisible, Tier};
use fullbore_feed::{FeedError, Input, Moved, Threads, transform, transform_divided};
use fullbore_pipe::{Options, OutputError, PipeWriter, stdin_was_closed, stdout_was_closed};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// A command, for its messages, and where it reads from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage<'a> {
    /// `morse encode`
    pub(crate) name: &'a str,
    /// Standard input without it, or for `-`.
    pub(crate) file: Option<&'a Path>,
    /// What to try when the input is malformed.
    pub(crate) hint: &'a str,
}

/// The kernels to use.
///
/// # Errors
/// A wish (`FULLBORE_TIER`) that this CPU cannot fulfil.
pub(crate) fn tier() -> Result<Tier> {
    Tier::current().map_err(|error| anyhow!("{error}"))
}

/// Standard output, by the fastest way that is safe.
///
/// # Errors
/// When it is closed.
pub(crate) fn output(name: &str) -> Result<PipeWriter<std::io::Stdout>, Failure> {
    refuse_closed_output(name)?;
    Ok(PipeWriter::new(stdout(), Options::default()))
}

/// Refuses a standard input that was closed (`<&-`): the language's runtime puts `/dev/null` in its place.
pub(crate) fn refuse_closed_input(name: &str) -> Result<(), Failure> {
    if stdin_was_closed() { Err(closed(name, "reading standard input")) } else { Ok(()) }
}

/// Refuses a standard output that was closed (`>&-`): a stream would vanish there without a word.
pub(crate) fn refuse_closed_output(name: &str) -> Result<(), Failure> {
    if stdout_was_closed() { Err(closed(name, "writing standard output")) } else { Ok(()) }
}

fn closed(name: &str, what: &str) -> Failure {
    Failure {
        message: format!("{name}: {what}: it is closed"),
        hint: "to throw the stream away, write it to /dev/null".to_owned(),
        exit: Exit::NotDone,
    }
}

impl Stage<'_> {
    /// Whether the data comes from standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.file.is_none_or(|path| path == Path::new("-"))
    }

    /// Opens the input.
    ///
    /// # Errors
    /// The file, and why it cannot be read.
    pub(crate) fn input(&self) -> Result<Input> {
        match self.file.filter(|path| *path != Path::new("-")) {
            None => {
                refuse_closed_input(self.name)?;
                Input::standard().map_err(|error| anyhow!("{}: {error}", self.name))
            }
            Some(path) => match File::open(path) {
                Ok(file) => Ok(Input::new(file, path.display().to_string())),
                Err(error) => {
                    Err(anyhow!("{}: reading: {}: {}", self.name, path.display(), plain(&error)))
                }
            },
        }
    }

    /// Sends the input through a codec to standard output.
    ///
    /// # Errors
    /// What ended it early.
    pub(crate) fn run<C: Codec>(&self, codec: &mut C) -> Result<Exit> {
        let (input, mut output) = (self.input()?, output(self.name)?);
        self.ended(transform(input, codec, &mut output, Threads::WherePays))
    }

    /// The same, on all CPUs that are idle.
    ///
    /// # Errors
    /// What ended it early.
    pub(crate) fn run_divided<C: Divisible>(&self, codec: C) -> Result<Exit> {
        let (input, output) = (self.input()?, output(self.name)?);
        self.ended(transform_divided(input, codec, output, Threads::WherePays))
    }

    fn ended<E: std::fmt::Display>(&self, done: Result<Moved, FeedError<E>>) -> Result<Exit> {
        match done {
            Ok(_) => Ok(Exit::Done),
            Err(error) if error.is_broken_pipe() => Ok(Exit::ReaderLeft),
            Err(FeedError::Codec(error)) => Err(self.malformed(&error).into()),
            Err(error) => Err(anyhow!("{}: {error}", self.name)),
        }
    }

    /// The input is not what it should be: where, and what to try.
    pub(crate) fn malformed(&self, error: &dyn std::fmt::Display) -> Failure {
        let input = match self.file {
            Some(path) if path != Path::new("-") => path.display().to_string(),
            _ => "standard input".to_owned(),
        };
        Failure {
            message: format!("{}: {input}: {error}", self.name),
            hint: self.hint.to_owned(),
            exit: Exit::No,
        }
    }
}

/// How a stage ends whose output failed.
pub(crate) fn output_failed(name: &str, error: &OutputError) -> Result<Exit> {
    if error.is_broken_pipe() { Ok(Exit::ReaderLeft) } else { Err(anyhow!("{name}: {error}")) }
}
