//! Shows a progress line while the lab runs, and the tables of each suite when it is done.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use fullbore_lab::record::{LabRun, SuiteRun};
use fullbore_lab::runner::{Onlooker, Progress};
use fullbore_measure::seconds;
use fullbore_report::lab::text;

use super::reports::Reports;
use crate::commands::run::style_of;
use crate::messages::{complain, say};

/// The line changes no more often than it can be read, and writing it takes no time from a trial.
const LEAST_BETWEEN: Duration = Duration::from_millis(200);

/// The line of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// There is no terminal for it, or it is not wanted.
    None,
    /// It will be there.
    Away,
    /// It is there now.
    Shown,
}

/// Shows and keeps what was found.
pub(super) struct Shown<'a> {
    is_quiet: bool,
    line: Line,
    last: Option<Instant>,
    reports: &'a mut Reports,
    has_complained: bool,
}

impl<'a> Shown<'a> {
    pub(super) fn new(is_quiet: bool, reports: &'a mut Reports) -> Self {
        let line = if !is_quiet && stderr().is_terminal() { Line::Away } else { Line::None };
        Self { is_quiet, line, last: None, reports, has_complained: false }
    }

    /// Erases the line.
    pub(super) fn finish(&mut self) {
        if self.line == Line::Shown {
            say("\r\u{1b}[K");
            self.line = Line::Away;
        }
    }
}

impl Onlooker for Shown<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        if self.line == Line::None || self.last.is_some_and(|last| last.elapsed() < LEAST_BETWEEN) {
            return;
        }
        self.last = Some(Instant::now());
        let columns =
            fullbore_dash::terminal_size(stderr()).map_or(80, |size| usize::from(size.columns));
        let line = text::progress(progress, columns.saturating_sub(1));
        say(&format!("\r{line}\u{1b}[K"));
        self.line = Line::Shown;
    }

    fn case_done(&mut self, run: &LabRun) {
        if let Err(failure) = self.reports.write(run)
            && !self.has_complained
        {
            self.has_complained = true;
            self.finish();
            complain(
                &failure.message,
                &format!("the lab continues to measure; {} so far", seconds(run.elapsed_ns)),
            );
        }
    }

    fn suite_done(&mut self, suite: &SuiteRun) {
        self.finish();
        for case in suite.cases.iter().filter(|_| !self.is_quiet) {
            let table = text::case(&suite.name, case, style_of(&stdout()));
            // A reader that leaves early is no failure; the reports are still written.
            let _ = stdout().write_all(table.as_bytes());
        }
    }
}
