//! The last lines: what holds the pipeline back, and what to do about it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use crate::Palette;
use crate::shown::Verdict;
use crate::text::{fit, wrap};

/// The first finding; its advice takes the last line when the area has one more than the message needs.
pub(crate) struct VerdictLines<'a> {
    pub(crate) verdict: Option<&'a Verdict>,
    pub(crate) message_lines: u16,
    pub(crate) palette: Palette,
}

impl Widget for VerdictLines<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let palette = self.palette;
        let columns = usize::from(area.width.saturating_sub(2));
        let Some(verdict) = self.verdict else {
            Line::from(Span::styled(
                fit("  nothing holds it back so far", columns + 2),
                palette.faint(),
            ))
            .render(area, buffer);
            return;
        };
        let marks = std::iter::once("▸ ").chain(std::iter::repeat("  "));
        let message = wrap(&verdict.message, columns, usize::from(self.message_lines));
        let mut lines: Vec<Line<'_>> = marks
            .zip(message)
            .map(|(mark, line)| {
                Line::from(vec![
                    Span::styled(mark, palette.verdict()),
                    Span::styled(line, palette.verdict()),
                ])
            })
            .collect();
        if !verdict.advice.is_empty() {
            lines.push(Line::from(format!("  {}", fit(&verdict.advice, columns))));
        }
        Text::from(lines).render(area, buffer);
    }
}
