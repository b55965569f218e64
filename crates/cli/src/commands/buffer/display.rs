//! Where the state of a buffer is shown: one line on a terminal, lines of JSON, or nowhere.

use std::io::{IsTerminal, stderr};

use fullbore_dash::{is_foreground, terminal_size};
use fullbore_feed::buffer::{Buffer, Look};
use fullbore_measure::Bytes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::state::State;
use crate::args::buffer::BufferOptions;
use crate::messages::say;

/// Shows the state again and again.
pub(crate) struct Display {
    name: String,
    size: Option<Bytes>,
    writes_json: bool,
    bar: Option<ProgressBar>,
    earlier: Look,
}

impl Display {
    /// Decides where to show anything.
    pub(crate) fn new(options: &BufferOptions, size: Option<Bytes>) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_wanted = !options.quiet && !options.json && !is_dumb && stderr().is_terminal();
        let bar = is_wanted.then(|| bar(&options.name, size));
        Self {
            name: options.name.clone(),
            size,
            writes_json: options.json,
            bar,
            earlier: Look::default(),
        }
    }

    /// Whether there is anything to do every second.
    pub(crate) fn is_wanted(&self) -> bool {
        self.writes_json || self.bar.is_some()
    }

    /// Shows how it stands.
    pub(crate) fn show(&mut self, buffer: &Buffer) {
        let now = buffer.look();
        let state = self.state(&now, false);
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

    /// Prints the state once, because somebody asked.
    pub(crate) fn print(&self, buffer: &Buffer) {
        let now = buffer.look();
        let state = self.state(&now, false);
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

    /// Shows how it ended.
    pub(crate) fn finish(&self, buffer: &Buffer) {
        let now = buffer.look();
        let state = self.state(&now, true);
        if self.writes_json {
            say(&state.json());
        } else if let Some(bar) = &self.bar
            && is_foreground(stderr())
        {
            bar.set_position(now.written.0);
            bar.abandon_with_message(state.text(self.columns()));
            // The cursor stays behind the line.
            say("\n");
        }
    }

    /// Columns that the bar leaves for words.
    fn columns(&self) -> usize {
        let columns = terminal_size(stderr()).map_or(80, |size| usize::from(size.columns));
        let bar = if self.size.is_some() { BAR_COLUMNS + "[]  100 % ".len() } else { 0 };
        columns.saturating_sub(bar + prefix(&self.name).chars().count())
    }

    fn state<'a>(&'a self, now: &'a Look, has_ended: bool) -> State<'a> {
        State { name: &self.name, size: self.size, earlier: &self.earlier, now, has_ended }
    }
}

const BAR_COLUMNS: usize = 15;
const TEMPLATE_WITH_BAR: &str = "{prefix}[{bar:15}] {percent:>3} %  {wide_msg}";

fn bar(name: &str, size: Option<Bytes>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(size.map(|size| size.0), ProgressDrawTarget::stderr());
    let template = if size.is_some() { TEMPLATE_WITH_BAR } else { "{prefix}{wide_msg}" };
    // The templates are constants that are known to be right; the default would do, too.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    bar.with_style(style).with_prefix(prefix(name))
}

fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}: ") }
}
