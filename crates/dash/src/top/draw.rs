//! From [`Top`] to a screen of cells.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Text, Span};
use ratatui::widgets::Widget;

use fullbore_measure::BytesPerSecond;
use fullbore_record::Seen;

use super::detail::draw_detail;
use super::keys::Signal;
use super::line::Line;
use super::text::{HELP, clock, place, progress};
use super::{Screen, Top};
use crate::layout::Columns;
use crate::text::{fit, neutralise, width};
use crate::widgets::StageLine;

/// Draws the whole of `frame`, whatever its size.
pub fn draw_top(frame: &mut Frame<'_>, top: &mut Top) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.height == 0 || area.width == 0 {
        return;
    }
    let foot = u16::from(area.height > 2);
    let head = if area.height > 4 { 2 } else { u16::from(area.height > 1) };
    let body = Rect { y: area.y + head, height: area.height - head - foot, ..area };
    match top.screen {
        Screen::Detail(pid) => draw_detail(top, pid, body, buffer),
        Screen::Help => draw_help(top, body, buffer),
        _ => draw_list(top, body, buffer),
    }
    if head > 0 {
        put(&header(top), Style::new(), line_at(area, 0), buffer);
        buffer.set_style(line_at(area, 0), top.palette.strong());
    }
    if head > 1 && matches!(top.screen, Screen::List | Screen::Filter(_)) {
        titles(top, line_at(area, 1), buffer);
    }
    if foot > 0 {
        footer(top, line_at(area, area.height - 1), buffer);
    }
}

fn line_at(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }
}

fn put(text: &str, style: Style, area: Rect, buffer: &mut Buffer) {
    Text::from(Span::styled(fit(text, usize::from(area.width)), style)).render(area, buffer);
}

/// `fullbore top   1.9 of 2 CPUs   3 pipelines, 2 idle   12 of others: run as root`.
fn header(top: &Top) -> String {
    let overview = &top.overview;
    let cpus: f64 = overview.pipelines.iter().map(|seen| top.cpus(seen.pid)).sum();
    let idle = top.idle();
    let active = overview.pipelines.len() - idle;
    let plural = if active == 1 { "" } else { "s" };
    let mut parts = vec![
        "fullbore top".to_owned(),
        format!("{active} pipeline{plural}: {cpus:.1} of {} CPUs", overview.host.cpus),
    ];
    if idle > 0 {
        let hint = if top.list.shows_idle { "" } else { " (i)" };
        parts.push(format!("{idle} idle{hint}"));
    }
    match (overview.hidden_pipelines, overview.hidden_processes) {
        (0, 0) => {}
        (0, processes) => parts.push(format!("{processes} processes of others: run as root")),
        (pipelines, _) => parts.push(format!("{pipelines} pipelines of others: run as root")),
    }
    let share = 100.0 * overview.observer_cpu_ns as f64 / overview.elapsed_ns.max(1) as f64;
    parts.push(format!("itself {share:.1} %"));
    parts.join("   ")
}

/// Where the columns of a pipeline's line are; 0: not shown.
#[derive(Clone, Copy)]
struct PipelineColumns {
    age: usize,
    rate: usize,
    left: usize,
    place: usize,
}

impl PipelineColumns {
    fn fitting(width: u16) -> Self {
        let from = |least: u16, columns: usize| if width >= least { columns } else { 0 };
        Self { age: from(50, 9), rate: from(40, 10), left: from(64, 12), place: from(100, 26) }
    }
}

/// The process and the share of the CPUs have these columns always.
const PID: usize = 9;
const CPU: usize = 5;

fn titles(top: &Top, area: Rect, buffer: &mut Buffer) {
    let columns = PipelineColumns::fitting(area.width);
    let sort = format!("sorted by {}", top.list.sort.name());
    let mut text = format!("{:>PID$} {:>CPU$}", "process", "CPU%");
    for (title, columns) in [("rate", columns.rate), ("age", columns.age), ("left", columns.left)] {
        if columns > 0 {
            text.push_str(&format!("{title:>columns$}"));
        }
    }
    text.push_str("  pipeline");
    let gap = usize::from(area.width).saturating_sub(width(&text) + width(&sort) + 1);
    if gap > 1 {
        text.push_str(&" ".repeat(gap));
        text.push_str(&sort);
    }
    put(&text, top.palette.faint(), area, buffer);
}

/// The line of a pipeline, without the stages.
fn pipeline_line(top: &Top, seen: &Seen, area: Rect, buffer: &mut Buffer) {
    let columns = PipelineColumns::fitting(area.width);
    let mark = if top.list.folded.contains(&seen.pid) { '▸' } else { '▾' };
    let cpu = 100.0 * top.cpus(seen.pid);
    let mut text = format!("{mark}{:>1$} {cpu:>CPU$.0}", seen.pid, PID - 1);
    let rate = if seen.is_idle {
        "idle".to_owned()
    } else {
        BytesPerSecond(top.rate(seen.pid)).to_string()
    };
    for (value, columns) in [
        (rate, columns.rate),
        (clock(seen.age_ns), columns.age),
        (progress(seen.progress), columns.left),
    ] {
        if columns > 0 {
            text.push_str(&format!("{value:>columns$}"));
        }
    }
    let place =
        if columns.place > 0 { fit(&place(seen), columns.place - 2) } else { String::new() };
    let free = usize::from(area.width).saturating_sub(width(&text) + 2 + width(&place) + 2);
    let command = neutralise(&seen.snapshot.record.command);
    text.push_str("  ");
    text.push_str(&fit(&command, free));
    put(&text, top.palette.strong(), area, buffer);
    let start = u16::try_from(width(&place)).unwrap_or(0).min(area.width);
    let right = Rect { x: area.x + area.width - start, width: start, ..area };
    put(&place, top.palette.faint(), right, buffer);
}

/// A line of the body: one on which the cursor can stand, or a verdict.
enum Row<'a> {
    Of(Line, &'a Seen),
    Verdict(&'a Seen),
}

fn rows(top: &Top) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for seen in top.shown() {
        let pid = seen.pid;
        rows.push(Row::Of(Line::Pipeline(pid), seen));
        if !top.list.folded.contains(&pid) {
            let stages = &seen.snapshot.record.stages;
            rows.extend(stages.iter().map(|stage| Row::Of(Line::Stage(pid, stage.stage), seen)));
        }
        if !seen.snapshot.record.findings.is_empty() && !seen.is_idle {
            rows.push(Row::Verdict(seen));
        }
    }
    rows
}

fn draw_list(top: &mut Top, area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    let rows = rows(top);
    let is_at_cursor =
        |row: &Row<'_>| matches!(row, Row::Of(line, _) if Some(*line) == top.list.cursor);
    let place = rows.iter().position(is_at_cursor).unwrap_or(0);
    let most = rows.len().saturating_sub(height);
    let mut offset = top.list.offset.min(most);
    if place < offset {
        offset = place;
    } else if place >= offset + height {
        offset = place + 1 - height;
    }
    if rows.is_empty() {
        put(&nothing(top), top.palette.faint(), line_at(area, 0), buffer);
    }
    let visible = rows.iter().skip(offset).take(height);
    for (line, row) in (0..).zip(visible) {
        draw_row(top, row, line_at(area, line), buffer);
    }
    top.list.offset = offset;
    top.list.height = height;
}

fn draw_row(top: &Top, row: &Row<'_>, area: Rect, buffer: &mut Buffer) {
    match row {
        Row::Of(Line::Pipeline(_), seen) => pipeline_line(top, seen, area, buffer),
        Row::Of(Line::Stage(pid, number), seen) => {
            let shown = top.states.get(pid).and_then(|state| state.shown.as_ref());
            let Some(shown) = shown else { return };
            let Some(stage) = shown.stages.iter().find(|stage| stage.number == *number) else {
                return;
            };
            let last = shown.stages.iter().map(|stage| stage.number).max().unwrap_or(0);
            let indented = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
            let columns = Columns::fitting(indented.width, last);
            let suspect = shown.verdict.as_ref().and_then(|verdict| verdict.stage);
            let is_suspect = !seen.is_idle && suspect == Some(*number);
            let line = StageLine { stage, columns, palette: top.palette, is_suspect };
            line.render(indented, buffer);
        }
        Row::Verdict(seen) => {
            let message = seen.snapshot.record.findings.first().map(|f| f.message.as_str());
            let message = neutralise(message.unwrap_or_default());
            put(&format!("     {message}"), top.palette.verdict(), area, buffer);
        }
    }
    if let Row::Of(line, _) = row
        && Some(*line) == top.list.cursor
    {
        buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }
}

/// What an empty list says.
fn nothing(top: &Top) -> String {
    let idle = top.idle();
    if !top.list.filter.is_empty() {
        format!("no pipeline has `{}` in it; Esc shows all", top.list.filter)
    } else if idle > 0 && !top.list.shows_idle {
        format!("nothing moves in any pipeline now; i shows the {idle} in which nothing does")
    } else {
        "no pipeline runs on this machine, as far as it can be seen".to_owned()
    }
}

fn draw_help(top: &Top, area: Rect, buffer: &mut Buffer) {
    for (row, (keys, what)) in (0..area.height).zip(HELP) {
        let line = format!(" {keys:<18} {what}");
        put(&line, Style::new(), line_at(area, row), buffer);
        let keys = Rect { width: area.width.min(19), ..line_at(area, row) };
        buffer.set_style(keys, top.palette.strong());
    }
}

fn footer(top: &Top, area: Rect, buffer: &mut Buffer) {
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    let (text, style) = match &top.screen {
        Screen::Filter(_) => {
            (format!("show only: {}▏  Enter keeps it, Esc does not", top.list.filter), reversed)
        }
        Screen::Signal { title, chosen, .. } => {
            let names: Vec<String> = (0..)
                .zip(Signal::ALL)
                .map(|(place, signal)| {
                    if place == *chosen {
                        format!("[{}]", signal.name())
                    } else {
                        format!(" {} ", signal.name())
                    }
                })
                .collect();
            (
                format!("send {} to {}?  Enter: yes, Esc: no", names.concat(), neutralise(title)),
                reversed,
            )
        }
        Screen::Widen { pipe, title, text, .. } => {
            let title = neutralise(title);
            (format!("capacity of pipe {pipe}: {text}▏  Enter: yes, Esc: no   ({title})"), reversed)
        }
        _ if top.message.is_some() => (top.message.clone().unwrap_or_default(), reversed),
        Screen::Help => ("any key goes back".to_owned(), top.palette.faint()),
        Screen::Detail(_) => (
            "Esc back  Tab next  t widen  k signal  r count anew  ? help  q quit".to_owned(),
            top.palette.faint(),
        ),
        Screen::List => {
            let filter = if top.list.filter.is_empty() {
                String::new()
            } else {
                format!("only `{}` (Esc: all)  ", neutralise(&top.list.filter))
            };
            let keys = "Enter details  / filter  s sort  i idle  t widen  k signal  ? help  q quit";
            (format!("{filter}{keys}"), top.palette.faint())
        }
    };
    put(&text, style, area, buffer);
}
