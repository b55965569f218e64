//! What all commands share that do something with records.

use std::io::Stdout;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Error, Result, anyhow};
use fullbore_codec::json::query::Repeated;
use fullbore_feed::json::{
    BLOCK_BYTES, Control, Kind, Options, Outcome, RecordError, RunError, Task, run,
};
use fullbore_measure::{Bytes, BytesPerSecond, seconds};
use fullbore_pipe::PipeWriter;
use fullbore_pipeline::die_of;
use signal_hook::consts::signal::SIGINT;

use super::watch::{Watch, Watched};
use crate::args::json::RecordOptions;
use crate::commands::stage::{inputs, output_failed, tier};
use crate::exit::Exit;
use crate::messages::{Failure, complain, say};

/// A run over the records of files.
pub(crate) struct Records<'a> {
    /// The command for messages, such as `json select`.
    pub(crate) name: &'static str,
    pub(crate) files: &'a [PathBuf],
    pub(crate) options: &'a RecordOptions,
    pub(crate) control: Arc<Control>,
    begun: Instant,
}

impl<'a> Records<'a> {
    pub(crate) fn new(
        name: &'static str,
        files: &'a [PathBuf],
        options: &'a RecordOptions,
    ) -> Self {
        let control = Arc::new(Control::new());
        Self { name, files, options, control, begun: Instant::now() }
    }

    /// Gives all records to a task, with these members as columns. Flush the writer afterwards.
    ///
    /// # Errors
    /// For [`failed`](Self::failed).
    pub(crate) fn run<T: Task>(
        &self,
        members: &[Vec<String>],
        task: &T,
        writer: &mut PipeWriter<Stdout>,
    ) -> Result<Outcome<T::State>, RunError<Error>> {
        let options = self.options(members).map_err(RunError::Open)?;
        run(inputs(self.name, self.files), &options, task, &self.control, writer)
    }

    /// Does the same for a task that has an answer only at the end: shows progress, and takes signals. After Ctrl-C the outcome
    /// is partial.
    ///
    /// # Errors
    /// For [`failed`](Self::failed).
    pub(crate) fn run_watched<T: Task>(
        &self,
        members: &[Vec<String>],
        task: &T,
        writer: &mut PipeWriter<Stdout>,
    ) -> Result<Outcome<T::State>, RunError<Error>> {
        let watch = Watch::start(self.name, &self.control, self.files);
        let mut watch = watch.map_err(RunError::Open)?;
        let done = self.run(members, &Watched { task, watch: &watch }, writer);
        watch.finish();
        done
    }

    /// How the records are read, with these members as columns.
    ///
    /// # Errors
    /// If `FULLBORE_TIER` is wrong.
    pub(crate) fn options(&self, members: &[Vec<String>]) -> Result<Options> {
        Ok(Options {
            tier: tier()?,
            members: members.to_vec(),
            duplicates: self.options.duplicates.into(),
            workers: self.options.jobs,
            max_record: self.options.max_record,
            skips_invalid: self.options.skip_invalid,
            block_bytes: BLOCK_BYTES,
        })
    }

    /// The exit status or error of a run that failed. What was written before stays written.
    ///
    /// # Errors
    /// Unless the reader of the output left.
    pub(crate) fn failed(
        &self,
        failure: RunError<Error>,
        writer: &mut PipeWriter<Stdout>,
    ) -> Result<Exit> {
        let failure = match failure {
            RunError::Output(error) => return output_failed(self.name, &error),
            RunError::Open(error) => error,
            other => anyhow!("{}: {other}", self.name),
        };
        match writer.flush_all() {
            Err(error) => output_failed(self.name, &error),
            Ok(()) => Err(failure),
        }
    }

    /// Flushes the output and returns the exit status of a run that came to an end; says what was invalid.
    ///
    /// # Errors
    /// If something was.
    pub(crate) fn ended<S>(
        &self,
        outcome: &Outcome<S>,
        writer: &mut PipeWriter<Stdout>,
    ) -> Result<Exit> {
        if let Err(error) = writer.flush_all() {
            return output_failed(self.name, &error);
        }
        if self.options.verbose {
            self.say_more(outcome);
        }
        if outcome.is_partial {
            let records = outcome.records;
            let name = self.name;
            complain(
                &format!("{name}: interrupted: this is a partial answer, for {records} records"),
                "",
            );
            die_of(SIGINT);
        }
        let name = self.name;
        let ending = outcome.invalid.as_ref();
        let ending = ending.map(|invalid| (format!("{name}: {invalid}"), hint(invalid.kind)));
        let skipped = outcome.first_skipped.as_ref().map(|first| match outcome.skipped {
            1 => format!("{name}: 1 error was skipped: {first}"),
            more => format!("{name}: {more} errors were skipped; the first one: {first}"),
        });
        let (message, hint) = match (ending, skipped) {
            (None, None) => return Ok(Exit::Done),
            (Some((message, hint)), Some(skipped)) => {
                complain(&message, hint);
                (skipped, "")
            }
            (Some(ending), None) => ending,
            (None, Some(skipped)) => (skipped, ""),
        };
        Err(Failure { message, hint: hint.to_owned(), exit: Exit::No }.into())
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, warning: &str) {
        complain(&format!("{}: warning: {warning}", self.name), "");
    }

    fn say_more<S>(&self, outcome: &Outcome<S>) {
        let (name, workers) = (self.name, outcome.states.len());
        let read = Bytes(self.control.read_bytes());
        let time = self.begun.elapsed();
        let rate = BytesPerSecond::over(read, time);
        let time = seconds(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let workers =
            if workers == 1 { "1 thread".to_owned() } else { format!("{workers} threads") };
        let records = outcome.records;
        say(&format!("{name}: {records} records, {read} in {time} ({rate}), {workers}\n"));
        if let Some(place) = &outcome.spans_lines {
            let place = place.find();
            say(&format!("{name}: {place}; such input is read on one CPU\n"));
        }
    }
}

/// The error for a name that occurs twice behind what the scanner looks at.
pub(crate) fn repeated(Repeated { at }: Repeated) -> RecordError {
    RecordError { at, what: "a name occurs twice in an object".to_owned() }
}

/// What to do about an error.
fn hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Json => "--skip-invalid goes on after an error, at the next line",
        Kind::TooLong => "for the elements of one large array: fullbore json each . | …",
        Kind::Early | Kind::Refused | Kind::GoesOn => "",
    }
}
