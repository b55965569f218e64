//! What a stage does, as a bar and in words.

use fullbore_measure::Share;
use fullbore_record::Cause;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::cells::cells_of;
use crate::Palette;
use crate::recent::{Activity, Doing};

impl Doing {
    /// What fills the bar; the shapes differ, so that they can be told apart without colours.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Running => "█",
            Self::Runnable => "▒",
            Self::Reading => "<",
            Self::Writing => ">",
            Self::Other => "·",
        }
    }

    /// Its name, from the point of view of the stage; `cause` says more about [`Doing::Other`].
    pub(crate) fn name(self, cause: Option<Cause>) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "no CPU",
            Self::Reading => "no input",
            Self::Writing => "no room",
            Self::Other => cause.map_or("waiting", cause_name),
        }
    }

    pub(crate) fn style(self, palette: Palette) -> Style {
        match self {
            Self::Running => palette.running(),
            Self::Runnable => palette.runnable(),
            Self::Reading => palette.reading(),
            Self::Writing => palette.writing(),
            Self::Other => palette.faint(),
        }
    }
}

fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Disk => "disk",
        Cause::Network => "network",
        Cause::LocalSocket | Cause::Peer => "socket",
        Cause::Terminal => "terminal",
        Cause::Sleep => "sleeping",
        Cause::Lock => "lock",
        Cause::Event => "event",
        Cause::Child => "child",
        Cause::FifoPeer => "no peer",
        Cause::Stopped => "stopped",
        _ => "waiting",
    }
}

/// A bar in which each share takes its part of the width.
pub(crate) struct ActivityBar {
    pub(crate) activity: Activity,
    pub(crate) palette: Palette,
}

impl Widget for ActivityBar {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let spans = cells(self.activity, area.width).into_iter().map(|(doing, cells)| {
            Span::styled(doing.symbol().repeat(cells), doing.style(self.palette))
        });
        Line::from_iter(spans).render(area, buffer);
    }
}

/// Divides `width` among the shares; rounding the running total keeps the sum right.
fn cells(activity: Activity, width: u16) -> [(Doing, usize); 5] {
    let mut percent = 0.0;
    let mut used = 0;
    activity.shares().map(|(doing, share)| {
        percent = (percent + share).min(100.0);
        let end = cells_of(Share(f64::from(percent) / 100.0), usize::from(width));
        let cells = end.saturating_sub(used);
        used += cells;
        (doing, cells)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_the_shares_add_up() {
        let activity =
            Activity { running: 33.0, runnable: 33.0, reading: 34.0, ..Activity::default() };
        for width in 0..50 {
            let sum: usize = cells(activity, width).iter().map(|(_, cells)| cells).sum();
            assert_eq!(sum, usize::from(width));
        }
    }
}
