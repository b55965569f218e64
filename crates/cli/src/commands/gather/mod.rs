//! `fullbore gather`.

mod folder;

use std::io::{self, Write, stdout};
use std::path::Path;

use anyhow::Result;
use fullbore_gather::{compare, gather};
use fullbore_report::workflow;

use self::folder::Records;
use super::run::style_of;
use super::stage::refuse_closed_output;
use crate::args::gather::GatherOptions;
use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::report_file::ReportFile;

/// Shows what limits the workflow whose records are in a folder.
pub(crate) fn run(options: GatherOptions) -> Result<Exit> {
    if !options.quiet {
        refuse_closed_output("gather")?;
    }
    let reports = options.report.into_iter().map(ReportFile::open);
    let reports = reports.collect::<Result<Vec<_>, _>>()?;
    let records = read(&options.folder)?;
    let before = options.against.as_deref().map(read).transpose()?;
    let top = usize::try_from(options.top)?;
    let mut found = gather(&records.runs, records.files, top);
    if let Some(before) = before {
        found.against = Some(compare(&before.runs, &records.runs, before.files));
    }
    for report in reports {
        report.write_workflow(&found)?;
    }
    if options.quiet {
        return Ok(Exit::Done);
    }
    let text = workflow::summary(&found, top, style_of(&stdout()));
    match stdout().write_all(text.as_bytes()) {
        // A listing that is cut short by its reader is done.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        written => Ok(written.map(|()| Exit::Done)?),
    }
}

/// The records in a folder.
fn read(folder: &Path) -> Result<Records, Failure> {
    let failure = |cause: &str, hint: &str| Failure {
        message: format!("gather: {}: {cause}", folder.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    };
    let records = Records::read(folder).map_err(|error| failure(&plain(&error), ""))?;
    if !records.runs.is_empty() {
        return Ok(records);
    }
    let reasons: Vec<String> = records
        .files
        .no_records
        .iter()
        .map(|unread| format!("{} {} ({})", unread.files, unread.why, unread.examples.join(", ")))
        .collect();
    let cause = match (records.files.seen, records.files.others) {
        (0, 0) => "no file is there".to_owned(),
        (0, others) => format!("none of its {others} files ends in .json"),
        (seen, _) => format!("none of {seen} files is a record of a run: {}", reasons.join(", ")),
    };
    Err(failure(&cause, "make a record with: fullbore run --report run.json 'LINE'"))
}
