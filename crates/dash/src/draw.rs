//! From state to a screen of cells.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::State;
use crate::layout::{Columns, Lines, Row};
use crate::shown::{Shown, ShownStage};
use crate::text::fit;
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
    for row in &lines.stages {
        let area = below.next(1);
        match row {
            Row::Stage(index) => {
                let stage = &shown.stages[*index];
                let is_suspect = suspect == Some(stage.number);
                StageLine { stage, columns, palette, is_suspect }.render(area, buffer);
            }
            Row::Gap(indexes) => {
                let text = gap_text(&shown.stages[indexes.clone()], usize::from(area.width));
                Line::from(Span::styled(text, palette.faint())).render(area, buffer);
            }
        }
    }
    VerdictLines { verdict: shown.verdict.as_ref(), message_lines: lines.message, palette }
        .render(below.next(lines.message + u16::from(lines.has_advice)), buffer);
}

/// `+ 12 more, 3 of them ended: tr, cut, …`.
fn gap_text(stages: &[ShownStage], width: usize) -> String {
    let ended = stages.iter().filter(|stage| !stage.is_alive).count();
    let ended = match ended {
        0 => String::new(),
        _ if ended == stages.len() => ", all of them ended".to_owned(),
        _ => format!(", {ended} of them ended"),
    };
    let program =
        |stage: &ShownStage| stage.command.split(' ').next().unwrap_or_default().to_owned();
    let names: Vec<String> = stages.iter().map(program).collect();
    fit(&format!("  + {} more{ended}: {}", stages.len(), names.join(", ")), width)
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
