//! `fullbore what-if`.

mod names;
mod predicted;
mod speeds;
mod table;

use std::fs;
use std::io::{self, Write, stdin, stdout};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use fullbore_record::{FindingKind, RunRecord, WhatIfRecord, read};
use fullbore_what_if::{Change, Error, forecast, forecast_with};

use crate::args::what_if::WhatIfOptions;
use crate::exit::Exit;
use crate::messages::{Failure, complain, plain, say};

/// A shorter run has too few samples for a prediction that nobody asked for.
const LEAST_NS: u64 = 1_000_000_000;

/// With more stages, predicting every change may take seconds.
const MOST_STAGES: usize = 8;

/// Predictions for the summary keep the prompt waiting for at most one part of so many of the run's time …
const PART_OF_RUN: u64 = 100;

/// … and never longer than this.
const LONGEST: Duration = Duration::from_millis(100);

/// Most take longer than this: with less time they are not begun.
const SHORTEST: Duration = Duration::from_millis(30);

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
    let asked = !options.faster.is_empty();
    let forecast = if asked {
        let change = speeds::change(&record, &options.faster);
        let change = change.map_err(|(message, hint)| failure(message, &hint))?;
        forecast_with(&record, vec![change])
    } else {
        forecast(&record)
    };
    let forecast = forecast.map_err(|error| failure(error.to_string(), hint(&error)))?;
    let what_if = predicted::record_of(&record, &forecast);
    let text = if options.json {
        predicted::document(&record, &what_if)
    } else {
        table::table(&record, &what_if, asked)
    };
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        written => Ok(written.map(|()| Exit::Done)?),
    }
}

/// Predicts every change for what asks for predictions: `--what-if`, or a report of a run that is long enough.
///
/// # Errors
/// As for [`forecast`].
pub(crate) fn predict(record: &RunRecord) -> Result<WhatIfRecord, Error> {
    forecast(record).map(|forecast| predicted::record_of(record, &forecast))
}

/// Whether a run is long enough, and has few enough stages, for predictions that nobody asked for.
pub(crate) fn is_affordable(record: &RunRecord) -> bool {
    record.elapsed_ns >= LEAST_NS && record.stages.len() <= MOST_STAGES
}

/// Predicts what the summary says about the stage that held the run back: how long the run would have taken with that stage
/// twice as fast, and with it dealt out. `None` if no stage held it back, if its length was fixed from outside, and if that takes
/// so long that somebody would notice.
pub(crate) fn predict_for_summary(record: &RunRecord) -> Option<WhatIfRecord> {
    let verdict = record.findings.first().filter(|it| it.kind == FindingKind::Bottleneck)?;
    let stage = verdict.stage.filter(|_| is_affordable(record) && !record.is_cut_off())?;
    let most = Duration::from_nanos(record.elapsed_ns / PART_OF_RUN).min(LONGEST);
    if most < SHORTEST {
        return None;
    }
    let (found, here) = mpsc::channel();
    let replayed = record.clone();
    // A replay that is not done in time is left alone; it ends with this process.
    thread::spawn(move || {
        let changes = vec![Change::TwiceAsFast(stage), Change::OnTwoCpus(stage)];
        let forecast = forecast_with(&replayed, changes);
        let _ = found.send(forecast.map(|forecast| predicted::record_of(&replayed, &forecast)));
    });
    here.recv_timeout(most).ok()?.ok()
}

/// Shows the predictions after the summary of a run. A run that cannot be replayed is no failure.
pub(crate) fn show(record: &RunRecord, error: Option<&Error>) {
    if let Some(what_if) = &record.what_if {
        say(&format!("\n{}", table::table(record, what_if, false)));
    }
    if let Some(error) = error {
        complain(&format!("run: --what-if: {error}"), hint(error));
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
