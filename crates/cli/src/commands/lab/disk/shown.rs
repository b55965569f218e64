//! Progress of `lab disk` on a terminal, its reports after every pass, and its table at the end.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use fullbore_lab::disk::record::DiskRun;
use fullbore_lab::disk::runner::{DiskOnlooker, DiskProgress};
use fullbore_report::disk::text;

use crate::commands::lab::reports::Reports;
use crate::commands::run::style_of;
use crate::messages::{Failure, complain, say};

/// The line changes no more often than it can be read.
const LEAST_BETWEEN: Duration = Duration::from_millis(200);

/// Shows and keeps what was found.
pub(super) struct Shown<'a> {
    is_quiet: bool,
    has_terminal: bool,
    last: Option<Instant>,
    reports: &'a Reports,
    has_complained: bool,
}

impl<'a> Shown<'a> {
    pub(super) fn new(is_quiet: bool, reports: &'a Reports) -> Self {
        let has_terminal = !is_quiet && stderr().is_terminal();
        Self { is_quiet, has_terminal, last: None, reports, has_complained: false }
    }

    /// Shows what part is laid out.
    pub(super) fn laying_out(&mut self, part: f64) {
        self.line(|columns| text::laying_out(part, columns));
    }

    fn line(&mut self, line: impl FnOnce(usize) -> String) {
        if !self.has_terminal || self.last.is_some_and(|last| last.elapsed() < LEAST_BETWEEN) {
            return;
        }
        self.last = Some(Instant::now());
        let columns =
            fullbore_dash::terminal_size(stderr()).map_or(80, |size| usize::from(size.columns));
        say(&format!("\r{}\u{1b}[K", line(columns.saturating_sub(1))));
    }

    /// Erases the line.
    pub(super) fn finish(&mut self) {
        if self.last.take().is_some() {
            say("\r\u{1b}[K");
        }
    }

    /// Writes the reports and shows the table.
    pub(super) fn end(&self, run: &DiskRun) -> Result<(), Failure> {
        let unwritten = self.reports.write_disk(run);
        if !self.is_quiet {
            // A reader that leaves early is no failure; the reports are written.
            let _ = stdout().write_all(text::whole(run, style_of(&stdout())).as_bytes());
        }
        unwritten
    }
}

impl DiskOnlooker for Shown<'_> {
    fn progress(&mut self, progress: &DiskProgress<'_>) {
        self.line(|columns| text::progress(progress, columns));
    }

    fn pass_done(&mut self, run: &DiskRun) {
        if let Err(failure) = self.reports.write_disk(run)
            && !self.has_complained
        {
            self.has_complained = true;
            self.finish();
            complain(&failure.message, "the lab continues to measure");
        }
    }
}
