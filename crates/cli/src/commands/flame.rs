//! `fullbore flame diff`.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use fullbore_measure::{seconds, visible};
use fullbore_profile::{Diff, parse_folded};
use fullbore_report::flame::diff_page;

use crate::args::flame::{FlameDiffOptions, FlameTask};
use crate::exit::Exit;
use crate::flame_file::is_page;
use crate::messages::{Failure, plain};
use crate::whole_file::replace;

const HINT: &str = "run --flame FILE.folded writes such a file: a stack and a number on each line";

/// Lines of the list.
const ROWS: usize = 15;

/// Compares two profiles.
pub(crate) fn run(task: &FlameTask) -> Result<Exit> {
    let FlameTask::Diff(FlameDiffOptions { before, after, output }) = task;
    let names = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(output) = output.as_ref().filter(|output| !is_page(&names(output))) {
        let message = format!("{}: the name must end in .html", output.display());
        return Err(failure(&message, "try -o diff.html").into());
    }
    let texts = (text(before)?, text(after)?);
    let diff = Diff::of(&stacks(before, &texts.0)?, &stacks(after, &texts.1)?);
    let Some(output) = output else {
        return match io::stdout().write_all(list(&diff).as_bytes()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
            written => Ok(written.map(|()| Exit::Done)?),
        };
    };
    let page = diff_page(&diff, &names(before), &names(after));
    replace(output, page.as_bytes()).map_err(|error| {
        let message = format!("{}: {}", output.display(), plain(&error));
        failure(&message, "give a path that you can write to")
    })?;
    Ok(Exit::Done)
}

fn failure(message: &str, hint: &str) -> Failure {
    Failure {
        message: format!("flame diff: {message}"),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read(path)
        .map_err(|error| failure(&format!("{}: {}", path.display(), plain(&error)), HINT))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn stacks<'t>(path: &Path, text: &'t str) -> Result<Vec<(&'t str, f64)>, Failure> {
    let message = |line| format!("{}: line {line} is not a stack and a number", path.display());
    parse_folded(text).map_err(|line| failure(&message(line), HINT))
}

/// The functions that changed most, as text.
fn list(diff: &Diff) -> String {
    let (before, after) = (time(diff.root.before), time(diff.root.after));
    let mut text = format!("{before} before, {after} after\n");
    let largest = diff.root.largest(ROWS);
    if largest.is_empty() {
        text += "no function takes longer or shorter\n";
    }
    for (name, by) in largest {
        let sign = if by > 0.0 { '+' } else { '-' };
        text += &format!("{sign}{:<9} {}\n", time(by.abs()), visible(&name));
    }
    text
}

/// A time in microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive time")]
fn time(us: f64) -> String {
    seconds((us * 1e3).round() as u64)
}
