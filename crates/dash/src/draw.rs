//! From state to a screen of cells.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::State;
use crate::layout::{Columns, Lines};
use crate::shown::Shown;
use crate::widgets::{Header, StageLine, Titles, VerdictLines};

/// Draws the whole of `frame`, whatever its size.
pub fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    if let Some(shown) = &state.shown {
        draw_pipeline(shown, state, area, frame.buffer_mut());
    }
}

fn draw_pipeline(shown: &Shown, state: &State, area: Rect, buffer: &mut Buffer) {
    let palette = state.palette;
    let lines = Lines::fitting(shown, area.width, area.height);
    let last_stage = shown.stages.iter().map(|stage| stage.number).max().unwrap_or(0);
    let columns = Columns::fitting(area.width, last_stage);
    let suspect = shown.verdict.as_ref().and_then(|verdict| verdict.stage);
    let mut below = Below { area };

    Header { shown, palette }.render(below.next(1), buffer);
    if lines.has_titles {
        Titles { columns, palette }.render(below.next(1), buffer);
    }
    for stage in lines.stages.iter().map(|&index| &shown.stages[index]) {
        StageLine { stage, columns, palette, is_suspect: suspect == Some(stage.number) }
            .render(below.next(1), buffer);
    }
    if lines.hidden > 0 {
        hidden_line(shown, &lines, palette.faint()).render(below.next(1), buffer);
    }
    VerdictLines { verdict: shown.verdict.as_ref(), message_lines: lines.message, palette }
        .render(below.next(lines.message + u16::from(lines.has_advice)), buffer);
}

/// `+ 12 more, 3 of them ended`.
fn hidden_line(shown: &Shown, lines: &Lines, style: ratatui::style::Style) -> Line<'static> {
    let is_hidden = |index: &usize| !lines.stages.contains(index);
    let ended = (0..shown.stages.len())
        .filter(is_hidden)
        .filter(|&index| !shown.stages[index].is_alive)
        .count();
    let ended = if ended > 0 { format!(", {ended} of them ended") } else { String::new() };
    Line::from(Span::styled(format!("  + {} more{ended}", lines.hidden), style))
}

/// The part of the area that has not been given away yet.
struct Below {
    area: Rect,
}

impl Below {
    /// The next `height` lines, or what is left of them.
    fn next(&mut self, height: u16) -> Rect {
        let taken = Rect { height: height.min(self.area.height), ..self.area };
        self.area = Rect {
            y: self.area.y + taken.height,
            height: self.area.height - taken.height,
            ..self.area
        };
        taken
    }
}
