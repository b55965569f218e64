//! `fullbore attach`.

use std::io::stderr;

use anyhow::Result;
use fullbore_measure::visible;
use fullbore_pipeline::{self as pipeline, Named, Tuning};
use fullbore_report::text::summary;

use super::run::{open_flames, style_of, write_flames};
use crate::args::When;
use crate::args::attach::AttachOptions;
use crate::exit::Exit;
use crate::live::Live;
use crate::messages::{Failure, complain, say};
use crate::report_file::ReportFile;

/// Watches a pipeline that runs already, shows a summary and writes the reports.
pub(crate) fn run(options: AttachOptions) -> Result<Exit> {
    let pid = match (options.pid, &options.name) {
        (Some(pid), _) => pid,
        (None, name) => named(name.as_deref().unwrap_or_default())?,
    };
    let flames = open_flames(&options.flame, &options.report)?;
    let reports =
        options.report.into_iter().map(ReportFile::open).collect::<Result<Vec<_>, Failure>>()?;
    let mut watching = pipeline::AttachOptions::default();
    watching.tuning = if options.tune { Tuning::Auto } else { Tuning::Off };
    watching.profile = !flames.is_empty();
    watching.duration = options.duration;
    let mut live = Live::start(if options.quiet { When::Never } else { options.live }, false);
    let finished = pipeline::attach(pid, watching, &mut live);
    live.clear();
    let finished = finished.map_err(|error| Failure {
        message: format!("attach: {error}"),
        hint: "`ps -e` lists the processes; --name TEXT finds one by its command line".to_owned(),
        exit: Exit::NotDone,
    })?;
    if !options.quiet {
        say(&summary(&finished.record, style_of(&stderr())));
    }
    let mut unwritten = write_flames(&flames, &finished, options.quiet);
    unwritten.extend(reports.into_iter().filter_map(|report| report.write(&finished.record).err()));
    unwritten.iter().for_each(|failure| complain(&failure.message, &failure.hint));
    Ok(if unwritten.is_empty() { Exit::Done } else { Exit::NotDone })
}

/// So many pipelines of the same name are listed.
const MOST_LISTED: usize = 10;

/// The process whose command line contains a text, if all of these are of one pipeline.
fn named(text: &str) -> Result<i32, Failure> {
    let found = pipeline::named(text);
    let list = |found: &[Named]| -> String {
        let lines = found.iter().take(MOST_LISTED);
        lines.map(|one| format!("\n    {:>8}  {}", one.pid, visible(&one.command))).collect()
    };
    let (cause, hint) = match &found[..] {
        [one] => return Ok(one.pid),
        [] => {
            (format!("no process has `{text}` in its command line"), "`ps -ef` lists them".into())
        }
        several => (
            format!("{} pipelines have `{text}` in a command line", several.len()),
            format!("give the number of a process:{}", list(several)),
        ),
    };
    Err(Failure { message: format!("attach: --name: {cause}"), hint, exit: Exit::NotDone })
}
