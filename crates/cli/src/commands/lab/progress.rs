//! What is seen while the lab runs: a line on a terminal, a table after every case.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use fullbore_lab::record::LabRun;
use fullbore_lab::runner::{Onlooker, Progress};
use fullbore_measure::seconds;
use fullbore_report::lab::text;

use super::is_terminal;
use super::reports::Reports;
use crate::commands::run::style_of;
use crate::messages::{complain, say};

/// The line changes no more often than it can be read, and writing it takes no time from a trial.
const LEAST_BETWEEN: Duration = Duration::from_millis(200);

/// Shows and keeps what was found.
pub(super) struct Shown<'a> {
    is_quiet: bool,
    has_line: bool,
    is_line_shown: bool,
    last: Option<Instant>,
    reports: &'a mut Reports,
    has_complained: bool,
}

impl<'a> Shown<'a> {
    pub(super) fn new(is_quiet: bool, reports: &'a mut Reports) -> Self {
        let has_line = !is_quiet && is_terminal();
        Self {
            is_quiet,
            has_line,
            is_line_shown: false,
            last: None,
            reports,
            has_complained: false,
        }
    }

    /// Takes the line away.
    pub(super) fn finish(&mut self) {
        if self.is_line_shown {
            say("\r\u{1b}[K");
            self.is_line_shown = false;
        }
    }
}

impl Onlooker for Shown<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        if !self.has_line || self.last.is_some_and(|last| last.elapsed() < LEAST_BETWEEN) {
            return;
        }
        self.last = Some(Instant::now());
        let columns = fullbore_dash::terminal_size(std::io::stderr())
            .map_or(80, |size| usize::from(size.columns));
        let line = text::progress(progress, columns.saturating_sub(1));
        say(&format!("\r{line}\u{1b}[K"));
        self.is_line_shown = true;
    }

    fn case_done(&mut self, run: &LabRun) {
        self.finish();
        if !self.is_quiet
            && let Some(case) = run.suites.last().and_then(|suite| suite.cases.last())
        {
            let suite = run.suites.last().map_or("", |suite| suite.name.as_str());
            let table = text::case(suite, case, style_of(&stdout()));
            // A reader that left has seen enough; the reports are written all the same.
            let _ = stdout().write_all(table.as_bytes());
        }
        if let Err(failure) = self.reports.write(run)
            && !self.has_complained
        {
            self.has_complained = true;
            complain(
                &failure.message,
                &format!("measuring goes on; {} so far", seconds(run.elapsed_ns)),
            );
        }
    }
}
