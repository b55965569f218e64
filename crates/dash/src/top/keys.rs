//! Which key does what.

use fullbore_measure::Bytes;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::line::Line;
use super::{OFFERED, Screen, Top};

/// A key as the terminal reports it.
pub type Key = KeyEvent;

/// What the owner of the terminal is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Leave.
    Quit,
    /// Stop, as Ctrl-Z does.
    Suspend,
    /// Count from now on.
    BeginAnew,
    /// Send a signal to these processes.
    Send {
        /// The processes, each the first of a stage.
        pids: Vec<i32>,
        /// The signal.
        signal: Signal,
    },
    /// Give a pipe a capacity.
    Widen {
        /// The pipeline, by its process.
        pid: i32,
        /// The pipe, by its number.
        pipe: u32,
        /// The capacity.
        to: Bytes,
    },
}

/// A signal that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// Please end.
    Terminate,
    /// As Ctrl-C.
    Interrupt,
    /// End at once.
    Kill,
    /// Stop.
    Stop,
    /// Go on.
    Continue,
    /// The terminal is gone; many daemons read their settings again.
    HangUp,
}

impl Signal {
    pub(super) const ALL: [Self; 6] =
        [Self::Terminate, Self::Interrupt, Self::Kill, Self::Stop, Self::Continue, Self::HangUp];

    /// Its name without SIG.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminate => "TERM",
            Self::Interrupt => "INT",
            Self::Kill => "KILL",
            Self::Stop => "STOP",
            Self::Continue => "CONT",
            Self::HangUp => "HUP",
        }
    }
}

impl Top {
    /// Takes in a key; returns what is to be done, if that is not a matter of the screen.
    pub fn key(&mut self, key: Key) -> Option<Request> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return Some(Request::Quit),
                KeyCode::Char('z') => return Some(Request::Suspend),
                _ => return None,
            }
        }
        self.message = None;
        match self.screen.clone() {
            Screen::List => return self.list_key(key.code),
            Screen::Detail(pid) => return self.detail_key(pid, key.code),
            Screen::Help => self.screen = Screen::List,
            Screen::Filter(before) => self.filter_key(before, key.code),
            Screen::Signal { pids, title, chosen } => {
                return self.signal_key(pids, title, chosen, key.code);
            }
            Screen::Widen { pid, pipe, title, text } => {
                return self.widen_key(pid, pipe, title, text, key.code);
            }
        }
        None
    }

    fn list_key(&mut self, code: KeyCode) -> Option<Request> {
        let page = self.list.height.saturating_sub(1).max(1).cast_signed();
        match code {
            KeyCode::Char('q') | KeyCode::F(10) => return Some(Request::Quit),
            KeyCode::Char('r') => return Some(Request::BeginAnew),
            KeyCode::Up => self.move_cursor(-1),
            KeyCode::Down => self.move_cursor(1),
            KeyCode::PageUp => self.move_cursor(-page),
            KeyCode::PageDown => self.move_cursor(page),
            KeyCode::Home | KeyCode::Char('g') => self.move_cursor(isize::MIN / 2),
            KeyCode::End | KeyCode::Char('G') => self.move_cursor(isize::MAX / 2),
            KeyCode::Tab => self.move_to_pipeline(1),
            KeyCode::BackTab => self.move_to_pipeline(-1),
            KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right => self.fold(code),
            KeyCode::Char('e') => self.fold_all(),
            KeyCode::Char('i') => {
                self.list.shows_idle = !self.list.shows_idle;
                self.follow();
            }
            KeyCode::Char('s' | '>') | KeyCode::F(6) => self.list.sort = self.list.sort.turned(1),
            KeyCode::Char('<') => self.list.sort = self.list.sort.turned(-1),
            KeyCode::Char('/') | KeyCode::F(3 | 4) => {
                self.screen = Screen::Filter(self.list.filter.clone());
            }
            KeyCode::Esc => self.list.filter.clear(),
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.screen = Screen::Help,
            KeyCode::Enter => {
                let pid = self.list.cursor.map(Line::pid);
                self.screen = pid.map_or(Screen::List, Screen::Detail);
            }
            KeyCode::Char('t') => self.ask_for_capacity(),
            KeyCode::Char('k') | KeyCode::F(9) => self.ask_for_signal(),
            _ => {}
        }
        self.settle_cursor();
        None
    }

    fn detail_key(&mut self, pid: i32, code: KeyCode) -> Option<Request> {
        match code {
            KeyCode::Char('q') | KeyCode::F(10) => return Some(Request::Quit),
            KeyCode::Char('r') => return Some(Request::BeginAnew),
            KeyCode::Esc | KeyCode::Enter | KeyCode::Backspace | KeyCode::Left => {
                self.screen = Screen::List;
            }
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.screen = Screen::Help,
            KeyCode::Char('t') => self.ask_for_capacity(),
            KeyCode::Char('k') | KeyCode::F(9) => self.ask_for_signal(),
            KeyCode::Tab | KeyCode::BackTab => {
                self.list.cursor = Some(Line::Pipeline(pid));
                self.move_to_pipeline(if code == KeyCode::Tab { 1 } else { -1 });
                self.screen = Screen::Detail(self.list.cursor.map_or(pid, Line::pid));
            }
            _ => {}
        }
        None
    }

    fn fold(&mut self, code: KeyCode) {
        let Some(line) = self.list.cursor else { return };
        let pid = line.pid();
        let is_folded = self.list.folded.contains(&pid);
        let folds = match code {
            KeyCode::Left => true,
            KeyCode::Right => false,
            _ => !is_folded,
        };
        if folds {
            self.list.folded.insert(pid);
            self.list.cursor = Some(Line::Pipeline(pid));
        } else {
            self.list.folded.remove(&pid);
        }
    }

    fn fold_all(&mut self) {
        if self.list.folded.is_empty() {
            self.list.folded = self.overview.pipelines.iter().map(|seen| seen.pid).collect();
        } else {
            self.list.folded.clear();
        }
    }

    fn filter_key(&mut self, before: String, code: KeyCode) {
        match code {
            KeyCode::Esc => {
                self.list.filter = before;
                self.screen = Screen::List;
            }
            KeyCode::Enter => self.screen = Screen::List,
            KeyCode::Backspace => {
                self.list.filter.pop();
            }
            KeyCode::Char(letter) => self.list.filter.push(letter),
            _ => {}
        }
        self.settle_cursor();
    }

    fn ask_for_signal(&mut self) {
        let Some(line) = self.list.cursor else { return };
        let Some(title) = self.title(line) else { return };
        self.screen = Screen::Signal { pids: self.processes_at(line), title, chosen: 0 };
    }

    fn signal_key(
        &mut self,
        pids: Vec<i32>,
        title: String,
        chosen: usize,
        code: KeyCode,
    ) -> Option<Request> {
        let last = Signal::ALL.len() - 1;
        let chosen = match code {
            KeyCode::Left | KeyCode::Up => chosen.saturating_sub(1),
            KeyCode::Right | KeyCode::Down | KeyCode::Tab => (chosen + 1).min(last),
            KeyCode::Enter => {
                self.screen = Screen::List;
                return Some(Request::Send { pids, signal: Signal::ALL[chosen] });
            }
            KeyCode::Esc | KeyCode::Char('q') => {
                self.screen = Screen::List;
                return None;
            }
            _ => chosen,
        };
        self.screen = Screen::Signal { pids, title, chosen };
        None
    }

    /// The first processes of the stages of a line that live.
    fn processes_at(&self, line: Line) -> Vec<i32> {
        let Some(seen) = self.seen(line.pid()) else { return Vec::new() };
        let is_alive = |place: usize| seen.snapshot.stage_is_alive.get(place).is_none_or(|is| *is);
        let stages = seen.snapshot.record.stages.iter().enumerate();
        let stages = stages.filter(|(place, stage)| {
            is_alive(*place) && !matches!(line, Line::Stage(_, number) if number != stage.stage)
        });
        stages.map(|(_, stage)| stage.pid).filter(|pid| *pid > 0).collect()
    }

    /// What the line at the cursor is called.
    fn title(&self, line: Line) -> Option<String> {
        let seen = self.seen(line.pid())?;
        let record = &seen.snapshot.record;
        Some(match line {
            Line::Pipeline(_) => {
                format!("all {} stages of {}", record.stages.len(), record.command)
            }
            Line::Stage(_, number) => {
                let stage = record.stages.iter().find(|stage| stage.stage == number)?;
                format!("{} (process {})", stage.title(), stage.pid)
            }
        })
    }

    /// Asks how much the pipe at the cursor is to hold: that behind a stage, or the one that the verdict names.
    fn ask_for_capacity(&mut self) {
        let Some(line) = self.list.cursor else { return };
        let Some(seen) = self.seen(line.pid()) else { return };
        let record = &seen.snapshot.record;
        let pipe = match line {
            Line::Stage(_, stage) => {
                let of = |wanted: bool| {
                    let has = |pipe: &&fullbore_record::PipeRecord| {
                        if wanted { &pipe.writers } else { &pipe.readers }.contains(&stage)
                    };
                    record.pipes.iter().find(has)
                };
                of(true).or_else(|| of(false))
            }
            Line::Pipeline(_) => {
                let named = record.findings.iter().find_map(|finding| finding.pipe);
                let is_named = |pipe: &&fullbore_record::PipeRecord| Some(pipe.pipe) == named;
                record.pipes.iter().find(is_named).or_else(|| record.pipes.first())
            }
        };
        let Some(pipe) = pipe else {
            self.message = Some("no pipe of this pipeline has been seen yet".to_owned());
            return;
        };
        let names = |stages: &[u32]| {
            let of = |number: &u32| record.stages.iter().find(|stage| stage.stage == *number);
            let names: Vec<String> =
                stages.iter().filter_map(of).map(|stage| stage.title()).collect();
            names.join(", ")
        };
        let title = format!("{} → {}", names(&pipe.writers), names(&pipe.readers));
        let (pid, pipe) = (line.pid(), pipe.pipe);
        let text = format!("{}M", OFFERED.0 >> 20);
        self.screen = Screen::Widen { pid, pipe, title, text };
    }

    fn widen_key(
        &mut self,
        pid: i32,
        pipe: u32,
        title: String,
        mut text: String,
        code: KeyCode,
    ) -> Option<Request> {
        match code {
            KeyCode::Esc => {
                self.screen = Screen::List;
                return None;
            }
            KeyCode::Enter => {
                self.screen = Screen::List;
                match text.parse() {
                    Ok(to) => return Some(Request::Widen { pid, pipe, to }),
                    Err(_) => self.message = Some(format!("{text}: not a size such as 256K or 1M")),
                }
                return None;
            }
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(letter) if letter.is_ascii_alphanumeric() => text.push(letter),
            _ => {}
        }
        self.screen = Screen::Widen { pid, pipe, title, text };
        None
    }
}
