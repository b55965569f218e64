//! A pipe: how full it is and how much it holds.

use fullbore_measure::{Bytes, Share};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::cells::cells_of;
use crate::Palette;
use crate::shown::ShownPipe;

/// Cells of the gauge itself.
const CELLS: usize = 6;

/// The pipe after a stage: `████░░ 64 KiB`, with an arrow after the capacity when it was raised.
pub(crate) struct PipeGauge {
    pub(crate) pipe: ShownPipe,
    pub(crate) palette: Palette,
}

impl Widget for PipeGauge {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (full, empty) = match (self.pipe.fill_bytes, self.pipe.capacity_bytes) {
            (Some(fill), Some(capacity)) => {
                let full = full_cells(Share::of(fill as f64, capacity as f64));
                ("█".repeat(full), "░".repeat(CELLS - full))
            }
            _ => (String::new(), "·".repeat(CELLS)),
        };
        let capacity =
            self.pipe.capacity_bytes.map_or("?".to_owned(), |bytes| Bytes(bytes).to_string());
        let (arrow, style) = if self.pipe.is_tuned {
            ("↑", self.palette.strong())
        } else {
            ("", self.palette.faint())
        };
        Line::from(vec![
            Span::styled(full, self.palette.amount()),
            Span::styled(empty, self.palette.faint()),
            Span::raw(" "),
            Span::styled(capacity, style),
            Span::styled(arrow, self.palette.running()),
        ])
        .render(area, buffer);
    }
}

/// Rounds so that only an empty pipe looks empty and only a full one looks full.
fn full_cells(fill: Share) -> usize {
    match fill.0 {
        share if share <= 0.0 => 0,
        share if share >= 1.0 => CELLS,
        _ => cells_of(fill, CELLS).clamp(1, CELLS - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_pipe_looks_empty_and_only_a_full_one_looks_full() {
        for (fill, cells) in [(0.0, 0), (0.001, 1), (0.5, 3), (0.999, 5), (1.0, 6)] {
            assert_eq!(full_cells(Share(fill)), cells, "{fill}");
        }
    }
}
