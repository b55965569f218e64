//! `fullbore what-if`.

mod json;
mod names;
mod table;

use std::fs;
use std::io::{self, Write, stdin, stdout};
use std::path::Path;

use anyhow::Result;
use fullbore_record::{RunRecord, read};
use fullbore_what_if::{Error, forecast};

use crate::args::what_if::WhatIfOptions;
use crate::exit::Exit;
use crate::messages::{Failure, complain, plain, say};

/// Prints what is predicted from a record.
pub(crate) fn run(options: &WhatIfOptions) -> Result<Exit> {
    let path = &options.record;
    let failure = |message: String, hint: &str| Failure {
        message: format!("what-if: {}: {message}", path.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    };
    let text = text_of(path).map_err(|error| failure(plain(&error), ""))?;
    let record = read(&text).map_err(|error| failure(error.to_string(), HOW_TO_RECORD))?;
    let forecast = forecast(&record).map_err(|error| failure(error.to_string(), hint(&error)))?;
    let text = if options.json {
        json::document(&record, &forecast)
    } else {
        table::table(&record, &forecast)
    };
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        written => Ok(written.map(|()| Exit::Done)?),
    }
}

/// Shows the predictions after the summary of a run. A run that cannot be replayed is no failure.
pub(crate) fn show(record: &RunRecord) {
    match forecast(record) {
        Ok(forecast) => say(&format!("\n{}", table::table(record, &forecast))),
        Err(error) => complain(&format!("run: --what-if: {error}"), hint(&error)),
    }
}

/// How a record comes about.
const HOW_TO_RECORD: &str = "fullbore run --report run.json 'LINE' writes a run record";

fn hint(error: &Error) -> &'static str {
    match error {
        Error::NoTimeline | Error::NoStages => {
            "the run was perhaps too short to be seen; a run of a second or more can be replayed"
        }
        _ => HOW_TO_RECORD,
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    if path == Path::new("-") { io::read_to_string(stdin()) } else { fs::read_to_string(path) }
}
