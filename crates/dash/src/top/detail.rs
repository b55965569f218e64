//! One pipeline on the whole screen: its stages, everything that was found, its pipes.

use fullbore_measure::Bytes;
use fullbore_record::{PipeRecord, Seen, advice_text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::Top;
use super::text::{clock, place, progress};
use crate::layout::Columns;
use crate::text::{neutralise, wrap};
use crate::widgets::{Header, StageLine, Titles};

/// Lines that one finding may take.
const LINES_MAX: usize = 6;

/// Draws one pipeline, by its process.
pub(super) fn draw_detail(top: &Top, pid: i32, area: Rect, buffer: &mut Buffer) {
    let Some(seen) = top.seen(pid) else { return };
    let Some(shown) = top.states.get(&pid).and_then(|state| state.shown.as_ref()) else { return };
    let palette = top.palette;
    let mut below = area;
    let next = |below: &mut Rect| {
        let line = Rect { height: below.height.min(1), ..*below };
        below.y += line.height;
        below.height -= line.height;
        line
    };
    for (text, style) in intro(seen, area.width, top) {
        Line::from(Span::styled(text, style)).render(next(&mut below), buffer);
    }
    Header { shown, palette }.render(next(&mut below), buffer);
    let last = shown.stages.iter().map(|stage| stage.number).max().unwrap_or(0);
    let columns = Columns::fitting(area.width, last);
    Titles { columns, palette }.render(next(&mut below), buffer);
    let suspect = shown.verdict.as_ref().and_then(|verdict| verdict.stage);
    // What was found is worth a third of the screen.
    let room = usize::from(below.height - below.height / 3).max(1);
    let hidden = shown.stages.len().saturating_sub(room);
    for stage in shown.stages.iter().take(room) {
        let is_suspect = !seen.is_idle && suspect == Some(stage.number);
        StageLine { stage, columns, palette, is_suspect }.render(next(&mut below), buffer);
    }
    if hidden > 0 {
        let text = format!("  + {hidden} more");
        Line::from(Span::styled(text, palette.faint())).render(next(&mut below), buffer);
    }
    for (text, style) in findings(top, seen, area.width).into_iter().chain(pipes(top, seen)) {
        if below.height == 0 {
            return;
        }
        Line::from(Span::styled(text, style)).render(next(&mut below), buffer);
    }
}

fn intro(seen: &Seen, columns: u16, top: &Top) -> Vec<(String, Style)> {
    let mut about = vec![format!("process {}", seen.pid), place(seen)];
    about.push(format!("runs for {}", clock(seen.age_ns)));
    if seen.is_idle {
        about.push("nothing moves".to_owned());
    } else {
        about.push(format!("watched for {}", clock(seen.snapshot.record.elapsed_ns)));
    }
    if seen.progress.is_some() {
        about.push(format!("read {} left", progress(seen.progress)));
    }
    let command = neutralise(&seen.snapshot.record.command);
    let command = wrap(&command, usize::from(columns), 2).into_iter();
    let mut lines: Vec<(String, Style)> =
        command.map(|line| (line, top.palette.strong())).collect();
    lines.push((about.join("   "), top.palette.faint()));
    lines
}

fn findings(top: &Top, seen: &Seen, width: u16) -> Vec<(String, Style)> {
    let record = &seen.snapshot.record;
    let columns = usize::from(width.saturating_sub(2));
    let mut lines = vec![(String::new(), Style::new())];
    if record.findings.is_empty() {
        lines.push(("  nothing holds it back so far".to_owned(), top.palette.faint()));
    }
    for (place, finding) in record.findings.iter().enumerate() {
        let (mark, style) =
            if place == 0 { ("▸ ", top.palette.verdict()) } else { ("· ", Style::new()) };
        let marks = std::iter::once(mark).chain(std::iter::repeat("  "));
        let message = wrap(&neutralise(&finding.message), columns, LINES_MAX);
        lines.extend(marks.zip(message).map(|(mark, line)| (format!("{mark}{line}"), style)));
        let advice = neutralise(&advice_text(&finding.advice));
        let advice = wrap(&advice, columns, LINES_MAX).into_iter().filter(|line| !line.is_empty());
        lines.extend(advice.map(|line| (format!("  {line}"), top.palette.faint())));
    }
    for gap in &record.gaps {
        let gap = wrap(&neutralise(gap), columns, LINES_MAX);
        lines.extend(gap.into_iter().map(|line| (format!("  {line}"), top.palette.faint())));
    }
    lines
}

fn pipes(top: &Top, seen: &Seen) -> Vec<(String, Style)> {
    let record = &seen.snapshot.record;
    let names = |numbers: &[u32], is_outside: bool| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let outside = is_outside.then(|| "outside".to_owned());
        numbers.into_iter().chain(outside).collect::<Vec<_>>().join(", ")
    };
    let percent =
        |share: Option<f64>| share.map_or_else(|| "?".to_owned(), |s| format!("{s:.0} %"));
    let line = |pipe: &PipeRecord| {
        let capacity = pipe.capacity_bytes.map(|bytes| format!("  {}", Bytes(bytes)));
        format!(
            "pipe {}: {} → {}{}   writer waits {}, reader waits {}",
            pipe.pipe,
            names(&pipe.writers, pipe.outside_writer),
            names(&pipe.readers, pipe.outside_reader),
            capacity.unwrap_or_default(),
            percent(pipe.writer_blocked_percent),
            percent(pipe.reader_blocked_percent),
        )
    };
    let mut lines = vec![(String::new(), Style::new())];
    let shown = |pipe| (format!("  {}", neutralise(&line(pipe))), top.palette.faint());
    lines.extend(record.pipes.iter().map(shown));
    lines
}
