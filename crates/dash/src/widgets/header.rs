//! The first line: the pipeline as a whole.

use fullbore_measure::{BytesPerSecond, Share, seconds};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::cells::cells_of;
use crate::Palette;
use crate::shown::Shown;

/// Cells of the CPU gauge.
const CPU_CELLS: usize = 10;

/// `fullbore  12.3 s   CPU ████████░░ 1.8 of 2   in 134 MB/s   out 12 MB/s`.
pub(crate) struct Header<'a> {
    pub(crate) shown: &'a Shown,
    pub(crate) palette: Palette,
}

/// A part of the header and how soon it is left out when there is no room (the largest first).
struct Part(u8, Vec<Span<'static>>);

impl Part {
    fn width(&self) -> usize {
        self.1.iter().map(Span::width).sum()
    }
}

impl Widget for Header<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut parts = self.parts();
        let width = |parts: &[Part]| {
            parts.iter().map(|part| part.width() + 2).sum::<usize>().saturating_sub(2)
        };
        while parts.len() > 1 && width(&parts) > usize::from(area.width) {
            let first_out = parts
                .iter()
                .enumerate()
                .max_by_key(|(_, part)| part.0)
                .map_or(0, |(index, _)| index);
            parts.remove(first_out);
        }
        let mut spans = Vec::new();
        for part in parts {
            if !spans.is_empty() {
                spans.push(Span::raw("  "));
            }
            spans.extend(part.1);
        }
        Line::from(spans).render(area, buffer);
    }
}

impl Header<'_> {
    fn parts(&self) -> Vec<Part> {
        let (shown, palette) = (self.shown, self.palette);
        let full = cells_of(Share(shown.cpus_in_use / f64::from(shown.cpus.max(1))), CPU_CELLS);
        let mut parts = vec![
            Part(4, vec![Span::styled("fullbore", palette.strong())]),
            Part(0, vec![Span::styled(seconds(shown.elapsed_ns), palette.strong())]),
            Part(
                5,
                vec![
                    Span::styled("  CPU ", palette.faint()),
                    Span::styled("█".repeat(full), palette.running()),
                    Span::styled("░".repeat(CPU_CELLS - full), palette.faint()),
                ],
            ),
            Part(1, vec![Span::raw(cpu_text(shown))]),
        ];
        let rate = |name: &str, rate: BytesPerSecond| {
            vec![Span::styled(format!("  {name} "), palette.faint()), Span::raw(rate.to_string())]
        };
        if let Some(flow) = shown
            .stages
            .first()
            .and_then(|stage| stage.flow.as_ref())
            .filter(|flow| flow.read > 0.0)
        {
            parts.push(Part(2, rate("in", BytesPerSecond(flow.read))));
        }
        if let Some(flow) = shown
            .stages
            .last()
            .and_then(|stage| stage.flow.as_ref())
            .filter(|flow| flow.written > 0.0)
        {
            parts.push(Part(3, rate("out", BytesPerSecond(flow.written))));
        }
        parts
    }
}

fn cpu_text(shown: &Shown) -> String {
    match shown.cpus {
        0 => format!("{:.1} CPUs", shown.cpus_in_use),
        1 => format!("{:.1} of 1 CPU", shown.cpus_in_use),
        cpus => format!("{:.1} of {cpus} CPUs", shown.cpus_in_use),
    }
}
