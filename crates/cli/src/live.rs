//! Decides whether to show a live view, and when to draw a frame.

use std::io::{IsTerminal, Stderr, stderr, stdout};
use std::time::Duration;

use fullbore_dash::{
    Palette, Placement, TerminalSize, View, is_foreground, is_line_mode, is_writable, terminal_size,
};
use fullbore_pipeline::Onlooker;
use fullbore_record::Snapshot;

use crate::args::When;

/// Four frames per second are enough to follow and cost little.
const INTERVAL: Duration = Duration::from_millis(250);

/// The view on the terminal, if there is one.
pub(crate) struct Live {
    view: Option<View<Stderr>>,
}

impl Live {
    /// Decides whether to show the view; `is_silent`: the pipeline prints nothing on standard output. Call this before the
    /// pipeline starts.
    pub(crate) fn start(when: When, is_silent: bool) -> Self {
        let is_wanted = match when {
            When::Never => false,
            When::Auto => stderr().is_terminal() && (is_silent || !stdout().is_terminal()),
            When::Always => stderr().is_terminal(),
        };
        let view = if is_wanted { begin(is_silent) } else { None };
        Self { view }
    }

    /// Erases the view and leaves the cursor where the summary begins.
    pub(crate) fn clear(&mut self) {
        if let Some(view) = &mut self.view {
            view.clear();
        }
        self.view = None;
    }
}

fn begin(is_silent: bool) -> Option<View<Stderr>> {
    let variable = |name: &str| std::env::var_os(name);
    let palette =
        Palette::suiting(variable("TERM").as_deref(), variable("NO_COLOR").as_deref()).ok()?;
    let size = || terminal_size(stderr()).unwrap_or(TerminalSize { columns: 80, rows: 24 });
    // If the output goes to the same terminal, its lines must be free to scroll, so the view floats.
    let is_shared = stdout().is_terminal() && !is_silent;
    let placement = if is_shared { Placement::Floating } else { Placement::Pinned };
    Some(View::start(stderr(), size, palette).ok()?.placed(placement))
}

impl Onlooker for Live {
    fn interval(&self) -> Option<Duration> {
        self.view.as_ref().map(|_| INTERVAL)
    }

    fn show(&mut self, snapshot: &Snapshot) {
        if let Some(view) = &mut self.view
            && is_foreground(stderr())
            && is_line_mode(stderr())
            && is_writable(stderr())
        {
            view.resume();
            view.show(snapshot);
        }
    }

    fn pause(&mut self) {
        if let Some(view) = &mut self.view {
            view.suspend();
        }
    }
}
