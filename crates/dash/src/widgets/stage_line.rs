//! One line a stage, and the titles above them.

use fullbore_measure::BytesPerSecond;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Sparkline, Widget};

use super::activity_bar::ActivityBar;
use super::pipe_gauge::PipeGauge;
use crate::Palette;
use crate::layout::Columns;
use crate::shown::ShownStage;
use crate::text::fit;

/// A stage: number, command, what it does, its rate now and before, and the pipe to the next stage.
pub(crate) struct StageLine<'a> {
    pub(crate) stage: &'a ShownStage,
    pub(crate) columns: Columns,
    pub(crate) palette: Palette,
    /// Whether it is the stage that the verdict names.
    pub(crate) is_suspect: bool,
}

impl Widget for StageLine<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let columns = self.columns;
        let mut cut = Cut { area };
        self.number(cut.next(columns.number), buffer);
        let style = if self.stage.is_alive { Style::new() } else { self.palette.faint() };
        let style = if self.is_suspect { self.palette.verdict() } else { style };
        text(&self.stage.command, style, cut.next(columns.command), buffer);
        if columns.bar > 0 {
            let bar = cut.next_column(columns.bar);
            if self.stage.is_alive {
                ActivityBar { activity: self.stage.activity, palette: self.palette }
                    .render(bar, buffer);
            }
        }
        if columns.doing > 0 {
            let (words, style) = self.doing();
            text(&words, style, cut.next_column(columns.doing), buffer);
        }
        if columns.rate > 0 {
            self.rate(cut.next_column(columns.rate), buffer);
        }
        if columns.history > 0 {
            self.history(cut.next_column(columns.history), buffer);
        }
        if let Some(pipe) = self.stage.pipe.filter(|_| columns.pipe > 0) {
            PipeGauge { pipe, palette: self.palette }.render(cut.next_column(columns.pipe), buffer);
        }
    }
}

impl StageLine<'_> {
    fn number(&self, area: Rect, buffer: &mut Buffer) {
        let mark = if self.is_suspect { "▸" } else { " " };
        let digits = usize::from(self.columns.number.saturating_sub(3));
        let style = if self.is_suspect { self.palette.verdict() } else { self.palette.faint() };
        text(&format!("{mark} {:>digits$} ", self.stage.number), style, area, buffer);
    }

    /// `running  62%` (`█  62%` in a narrow column), or how it ended.
    fn doing(&self) -> (String, Style) {
        if !self.stage.is_alive {
            let style = if self.stage.exit_status.unwrap_or(0) == 0 {
                self.palette.faint()
            } else {
                self.palette.failed()
            };
            return (how_it_ended(self.stage.exit_status), style);
        }
        let Some((doing, percent)) = self.stage.activity.mostly() else {
            return (String::new(), Style::new());
        };
        let style = doing.style(self.palette);
        if self.columns.doing < Columns::DOING {
            (format!("{} {percent:>3.0}%", doing.symbol()), style)
        } else {
            (format!("{:<8} {percent:>3.0}%", doing.name(self.stage.cause)), style)
        }
    }

    /// Its rate now; once it has ended, how much it handled.
    fn rate(&self, area: Rect, buffer: &mut Buffer) {
        let stage = self.stage;
        let (amount, style) = match (&stage.flow, stage.handled) {
            (_, Some(handled)) if !stage.is_alive => (handled.to_string(), self.palette.faint()),
            (Some(flow), _) => (BytesPerSecond(flow.handled()).to_string(), Style::new()),
            (None, _) => ("?".to_owned(), self.palette.faint()),
        };
        text(&format!("{amount:>0$}", usize::from(area.width)), style, area, buffer);
    }

    /// One column a second, the newest at the right.
    fn history(&self, area: Rect, buffer: &mut Buffer) {
        let Some(flow) = &self.stage.flow else { return };
        let width = usize::from(area.width);
        let newest = &flow.history[flow.history.len().saturating_sub(width)..];
        let mut columns = vec![0; width - newest.len()];
        columns.extend_from_slice(newest);
        let style = if self.stage.is_alive { self.palette.amount() } else { self.palette.faint() };
        Sparkline::default().data(columns).style(style).render(area, buffer);
    }
}

/// The exit status as a person says it; above 128 it is 128 + the number of a signal.
fn how_it_ended(exit_status: Option<i32>) -> String {
    match exit_status {
        None => "ended".to_owned(),
        Some(0) => "done".to_owned(),
        Some(129) => "SIGHUP".to_owned(),
        Some(130) => "SIGINT".to_owned(),
        Some(134) => "SIGABRT".to_owned(),
        Some(137) => "SIGKILL".to_owned(),
        Some(139) => "SIGSEGV".to_owned(),
        Some(141) => "SIGPIPE".to_owned(),
        Some(143) => "SIGTERM".to_owned(),
        Some(status) => format!("exit {status}"),
    }
}

/// What the columns of the stages are.
pub(crate) struct Titles {
    pub(crate) columns: Columns,
    pub(crate) palette: Palette,
}

impl Widget for Titles {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let Self { columns, palette } = self;
        let mut cut = Cut { area };
        cut.next(columns.number);
        text("stage", palette.faint(), cut.next(columns.command), buffer);
        if columns.bar > 0 {
            text("now", palette.faint(), cut.next_column(columns.bar), buffer);
        }
        if columns.doing > 0 {
            let title = if columns.bar > 0 { "mostly" } else { "now" };
            text(title, palette.faint(), cut.next_column(columns.doing), buffer);
        }
        if columns.rate > 0 {
            text(&format!("{:>8}", "rate"), palette.faint(), cut.next_column(columns.rate), buffer);
        }
        if columns.history > 0 {
            text("history", palette.faint(), cut.next_column(columns.history), buffer);
        }
        if columns.pipe > 0 {
            text("pipe to next", palette.faint(), cut.next_column(columns.pipe), buffer);
        }
    }
}

fn text(content: &str, style: Style, area: Rect, buffer: &mut Buffer) {
    Line::from(Span::styled(fit(content, usize::from(area.width)), style)).render(area, buffer);
}

/// A line that is given away from left to right.
struct Cut {
    area: Rect,
}

impl Cut {
    fn next(&mut self, width: u16) -> Rect {
        let taken = Rect { width: width.min(self.area.width), ..self.area };
        self.area = Rect {
            x: self.area.x + taken.width,
            width: self.area.width - taken.width,
            ..self.area
        };
        taken
    }

    /// As `next`, after a space.
    fn next_column(&mut self, width: u16) -> Rect {
        self.next(1);
        self.next(width)
    }
}
