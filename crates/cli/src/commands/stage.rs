//! The input, output and exit status of all filters and sources.

use std::fs::File;
use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use fullbore_codec::{Codec, Divisible, Tier};
use fullbore_feed::{FeedError, Input, Moved, Threads, transform, transform_divided};
use fullbore_pipe::{Options, OutputError, PipeWriter};
use fullbore_process::{stdin_was_closed, stdout_was_closed};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// A command and its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage<'a> {
    /// The command for messages, such as `morse encode`.
    pub(crate) name: &'a str,
    /// The file to read; `None` and `-` are standard input.
    pub(crate) file: Option<&'a Path>,
    /// The hint if the input is malformed.
    pub(crate) hint: &'a str,
}

/// The tier whose kernels to use: the best that the CPU supports, or the one in the environment variable `FULLBORE_TIER`.
///
/// # Errors
/// If the variable names no tier, or one that this CPU does not support.
pub(crate) fn tier() -> Result<Tier> {
    match std::env::var_os("FULLBORE_TIER").filter(|name| !name.is_empty()) {
        None => Ok(Tier::best()),
        Some(name) => {
            Tier::named(&name.to_string_lossy()).map_err(|error| anyhow!("FULLBORE_TIER: {error}"))
        }
    }
}

/// A writer to standard output that uses the fastest safe way.
///
/// # Errors
/// If standard output is closed.
pub(crate) fn output(name: &str) -> Result<PipeWriter<std::io::Stdout>, Failure> {
    refuse_closed_output(name)?;
    Ok(PipeWriter::new(stdout(), Options::default()))
}

/// Refuses a closed standard input (`<&-`), which Rust's runtime replaces with `/dev/null`.
pub(crate) fn refuse_closed_input(name: &str) -> Result<(), Failure> {
    if stdin_was_closed() {
        Err(closed(
            name,
            "reading standard input",
            "for an empty input, read /dev/null: add < /dev/null",
        ))
    } else {
        Ok(())
    }
}

/// Refuses a closed standard output (`>&-`), in which a stream would vanish silently.
pub(crate) fn refuse_closed_output(name: &str) -> Result<(), Failure> {
    if stdout_was_closed() {
        Err(closed(name, "writing standard output", "to discard the stream, write it to /dev/null"))
    } else {
        Ok(())
    }
}

fn closed(name: &str, what: &str, hint: &str) -> Failure {
    Failure {
        message: format!("{name}: {what}: it is closed"),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

/// Opens the files, or standard input without any, each when it is its turn. Nothing waits for the writer of a named pipe before
/// its first byte is wanted.
pub(crate) fn inputs(
    name: &'static str,
    files: &[PathBuf],
) -> impl Iterator<Item = Result<Input>> + Send + use<> {
    let named: Vec<Option<PathBuf>> = match files {
        [] => vec![None],
        files => files.iter().cloned().map(Some).collect(),
    };
    named
        .into_iter()
        .map(move |file| Stage { name, file: file.as_deref(), hint: "" }.opened_by(Input::open))
}

impl Stage<'_> {
    /// Whether the data comes from standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.file.is_none_or(|path| path == Path::new("-"))
    }

    /// Opens the input.
    ///
    /// # Errors
    /// If the file cannot be read: which one, and why.
    pub(crate) fn input(&self) -> Result<Input> {
        self.opened_by(|path| Ok(Input::new(File::open(path)?, path.display().to_string())))
    }

    fn opened_by(&self, open: impl Fn(&Path) -> std::io::Result<Input>) -> Result<Input> {
        match self.file.filter(|path| *path != Path::new("-")) {
            None => {
                refuse_closed_input(self.name)?;
                Input::standard().map_err(|error| anyhow!("{}: {error}", self.name))
            }
            Some(path) => open(path).map_err(|error| {
                anyhow!("{}: reading: {}: {}", self.name, path.display(), plain(&error))
            }),
        }
    }

    /// Sends the input through a codec to standard output.
    ///
    /// # Errors
    /// If the stream ended early: why.
    pub(crate) fn run<C: Codec>(&self, codec: &mut C) -> Result<Exit> {
        self.run_on(self.input()?, codec)
    }

    /// Does the same with the input, opened before: a named pipe can be opened only once.
    ///
    /// # Errors
    /// If the stream ended early: why.
    pub(crate) fn run_on<C: Codec>(&self, input: Input, codec: &mut C) -> Result<Exit> {
        let mut output = output(self.name)?;
        self.ended(transform(input, codec, &mut output, Threads::WherePays))
    }

    /// Does the same on all idle CPUs.
    ///
    /// # Errors
    /// If the stream ended early: why.
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

    /// The name of the input for messages.
    pub(crate) fn input_name(&self) -> String {
        match self.file {
            Some(path) if path != Path::new("-") => path.display().to_string(),
            _ => "standard input".to_owned(),
        }
    }

    /// The failure for malformed input: its position and the hint.
    pub(crate) fn malformed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure {
            message: format!("{}: {}: {error}", self.name, self.input_name()),
            hint: self.hint.to_owned(),
            exit: Exit::No,
        }
    }
}

/// The exit status or error of a stage that could not write its output.
pub(crate) fn output_failed(name: &str, error: &OutputError) -> Result<Exit> {
    if error.is_broken_pipe() { Ok(Exit::ReaderLeft) } else { Err(anyhow!("{name}: {error}")) }
}
