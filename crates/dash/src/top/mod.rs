//! Every pipeline of the machine on a full screen: what is shown and which key does what. Pure; whoever owns the terminal
//! hands in keys and overviews, draws what [`draw_top`] puts into a frame, and does what a [`Request`] asks for.

mod detail;
mod draw;
mod keys;
mod line;
mod list;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use fullbore_measure::Bytes;
use fullbore_record::{Overview, Seen};

use crate::{Event, Palette, State, TerminalSize};

pub use draw::draw_top;
pub use keys::{Key, Request, Signal};

use line::{Line, SortBy};

/// The full-screen view of all pipelines.
#[derive(Clone, Debug, Default)]
pub struct Top {
    palette: Palette,
    overview: Overview,
    /// What the stages of each pipeline that is shown do, by its process.
    states: BTreeMap<i32, State>,
    list: ListView,
    screen: Screen,
    /// What was done last, or could not be done.
    message: Option<String>,
}

/// What of the list is shown, and where the cursor is.
#[derive(Clone, Debug, Default)]
struct ListView {
    cursor: Option<Line>,
    /// The first line of the list that is on the screen.
    offset: usize,
    /// Lines of the screen for the list, when it was drawn last.
    height: usize,
    filter: String,
    sort: SortBy,
    shows_idle: bool,
    folded: BTreeSet<i32>,
}

/// What the screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
enum Screen {
    #[default]
    List,
    /// One pipeline, with everything that was found.
    Detail(i32),
    Help,
    /// The text of the filter is being typed; what it was before.
    Filter(String),
    /// A signal is being chosen for these processes.
    Signal {
        pids: Vec<i32>,
        title: String,
        chosen: usize,
    },
    /// The capacity of a pipe is being typed.
    Widen {
        pid: i32,
        pipe: u32,
        title: String,
        text: String,
    },
}

impl Top {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(palette: Palette) -> Self {
        Self { palette, ..Self::default() }
    }

    /// Shows only pipelines whose text contains `filter`; with `shows_idle`, also those in which nothing happens.
    #[must_use]
    pub fn with(mut self, filter: &str, shows_idle: bool) -> Self {
        filter.clone_into(&mut self.list.filter);
        self.list.shows_idle = shows_idle;
        self
    }

    /// Takes in what is known now.
    pub fn update(&mut self, overview: Overview) {
        self.overview = overview;
        if let Screen::Detail(pid) = self.screen
            && self.seen(pid).is_none()
        {
            self.screen = Screen::List;
            self.message = Some(format!("the pipeline of process {pid} has ended"));
        }
        self.follow();
        self.settle_cursor();
    }

    /// Brings the states of what is shown up to date. There may be thousands of idle pipelines, which nobody looks at.
    fn follow(&mut self) {
        let shows_idle = self.list.shows_idle;
        let detail = if let Screen::Detail(pid) = self.screen { Some(pid) } else { None };
        let mut before = std::mem::take(&mut self.states);
        for seen in &self.overview.pipelines {
            if seen.is_idle && !shows_idle && detail != Some(seen.pid) {
                continue;
            }
            let size = TerminalSize { columns: u16::MAX, rows: u16::MAX };
            let state = before.remove(&seen.pid);
            let mut state = state.unwrap_or_else(|| State::new(size, self.palette));
            state.update(Event::Snapshot(&seen.snapshot));
            self.states.insert(seen.pid, state);
        }
    }

    /// Says what was done, or why not.
    pub fn say(&mut self, message: impl Into<String>) {
        self.message = Some(message.into());
    }

    fn seen(&self, pid: i32) -> Option<&Seen> {
        self.overview.pipelines.iter().find(|seen| seen.pid == pid)
    }
}

/// The capacity that is offered for a pipe.
const OFFERED: Bytes = Bytes(1 << 20);

#[cfg(test)]
mod tests;
