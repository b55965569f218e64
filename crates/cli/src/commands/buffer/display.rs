//! Shows the state of a buffer: one line on a terminal, lines of JSON, or nothing.

use std::io::{self, IsTerminal, stderr};

use fullbore_dash::{is_foreground, terminal_size};
use fullbore_feed::buffer::{Buffer, Status};
use fullbore_measure::Bytes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::state::{End, State};
use crate::args::buffer::BufferOptions;
use crate::messages::{complain, plain, say};

/// Shows the state periodically.
pub(crate) struct Display {
    name: String,
    size: Option<Bytes>,
    writes_json: bool,
    bar: Option<ProgressBar>,
    earlier: Status,
    /// Why the spill file can take no more data.
    spill_error: Option<String>,
}

impl Display {
    /// Decides where to show the state.
    pub(crate) fn new(options: &BufferOptions, size: Option<Bytes>) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_wanted = !options.quiet && !options.json && !is_dumb && stderr().is_terminal();
        let bar = is_wanted.then(|| bar(&options.name, size));
        Self {
            name: options.name.clone(),
            size,
            writes_json: options.json,
            bar,
            earlier: Status::default(),
            spill_error: None,
        }
    }

    /// Reports that the spill file can take no more: with `--json` in all following lines, otherwise at once.
    pub(crate) fn spill_refused(&mut self, error: &io::Error) {
        let error = plain(error);
        if !self.writes_json {
            complain(
                &format!("buffer: writing the spill file: {error}"),
                "no data is lost; the producer waits until the consumer makes room",
            );
        }
        self.spill_error = Some(error);
    }

    /// Whether the state must be shown periodically.
    pub(crate) fn is_wanted(&self) -> bool {
        self.writes_json || self.bar.is_some()
    }

    /// Shows the state.
    pub(crate) fn show(&mut self, buffer: &Buffer) {
        let now = buffer.status();
        let state = self.state(&now, None);
        if self.writes_json {
            say(&state.json());
        } else if let Some(bar) = &self.bar
            && is_foreground(stderr())
        {
            bar.set_position(now.written.0);
            bar.set_message(state.text(self.columns()));
            bar.tick();
        }
        self.earlier = now;
    }

    /// Prints the state once, on request.
    pub(crate) fn print(&self, buffer: &Buffer) {
        let now = buffer.status();
        let state = self.state(&now, None);
        if self.writes_json {
            return say(&state.json());
        }
        let prefix = prefix(&self.name);
        let line = format!("{prefix}{}\n", state.text(usize::MAX));
        match &self.bar {
            Some(bar) => bar.suspend(|| say(&line)),
            None => say(&line),
        }
    }

    /// Shows the final state.
    pub(crate) fn finish(&self, buffer: &Buffer, end: &End) {
        let now = buffer.status();
        let state = self.state(&now, Some(end));
        if self.writes_json {
            say(&state.json());
        } else if let Some(bar) = &self.bar
            && is_foreground(stderr())
        {
            bar.set_position(now.written.0);
            bar.abandon_with_message(state.text(self.columns()));
            // Leave the cursor after the line.
            say("\n");
        }
    }

    /// The columns that the bar leaves for text.
    fn columns(&self) -> usize {
        let columns = terminal_size(stderr()).map_or(80, |size| usize::from(size.columns));
        let bar = if self.size.is_some() { BAR_COLUMNS + "[]  100 % ".len() } else { 0 };
        columns.saturating_sub(bar + prefix(&self.name).chars().count())
    }

    fn state<'a>(&'a self, now: &'a Status, end: Option<&'a End>) -> State<'a> {
        State {
            name: &self.name,
            size: self.size,
            earlier: &self.earlier,
            now,
            spill_error: self.spill_error.as_deref(),
            end,
        }
    }
}

const BAR_COLUMNS: usize = 15;
const TEMPLATE_WITH_BAR: &str = "{prefix}[{bar:15}] {percent:>3} %  {wide_msg}";

fn bar(name: &str, size: Option<Bytes>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(size.map(|size| size.0), ProgressDrawTarget::stderr());
    let template = if size.is_some() { TEMPLATE_WITH_BAR } else { "{prefix}{wide_msg}" };
    // The templates are constants and valid; the default would do, too.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    bar.with_style(style).with_prefix(prefix(name))
}

fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}: ") }
}
