//! The terminal: a region of lines below the cursor, drawn without ever asking where that is.
//!
//! Between frames the cursor stays where the stages left it, above the region. What they print goes there and pushes
//! the text above it up; the next frame is drawn below the place where that ended.

use std::convert::Infallible;
use std::io::Write;
use std::os::fd::AsFd;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::{Cell, CellWidth};
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp, tcgetwinsize};

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines on the screen.
    pub rows: u16,
}

/// The size of the terminal `fd`; `None` when it is not a terminal or does not know.
///
/// Source: `TIOCGWINSZ(2const)`.
pub fn terminal_size(fd: impl AsFd) -> Option<TerminalSize> {
    let size = tcgetwinsize(fd).ok()?;
    (size.ws_col > 0 && size.ws_row > 0)
        .then_some(TerminalSize { columns: size.ws_col, rows: size.ws_row })
}

/// Whether this process belongs to the foreground of the terminal `fd`.
/// One that does not may be stopped for writing to it (SIGTTOU, when the terminal is set to `tostop`).
///
/// Source: tcgetpgrp(3), termios(3) on `TOSTOP`.
pub fn is_foreground(fd: impl AsFd) -> bool {
    tcgetpgrp(fd).is_ok_and(|group| own_group() == Some(group.as_raw_pid()))
}

/// The process group of this process; `Some(0)` if it began outside this container, which getpgrp(2) of rustix cannot say.
///
/// Source: proc_pid_stat(5), `pgrp`.
fn own_group() -> Option<i32> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may have spaces and parentheses in it; then state and parent.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

/// Whether the terminal `fd` is in its ordinary mode, in which it hands over whole lines.
/// When it is not, a stage (`less`, `fzf`, an editor) has taken the screen and nothing should be drawn on it.
///
/// Source: termios(3) on `ICANON`.
pub fn is_line_mode(fd: impl AsFd) -> bool {
    tcgetattr(fd).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
}

/// Whether the terminal `fd` shows a key such as Ctrl-C as `^C`, in the line where its cursor is.
///
/// Source: termios(3) on `ECHO` and `ECHOCTL`.
pub fn shows_keys(fd: impl AsFd) -> bool {
    let both = LocalModes::ECHO.union(LocalModes::ECHOCTL);
    tcgetattr(fd).is_ok_and(|modes| modes.local_modes.contains(both))
}

/// Whether writing to the terminal `fd` would not block: false while it is stopped with Ctrl-S or gone.
pub fn is_writable(fd: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
        && fds[0].revents() == PollFlags::OUT
}

/// Starts a frame: the terminal shows nothing of it until its end, and wraps no line.
const BEGIN: &str = "\x1b[?2026h";
/// Remembers cursor, colours and attributes of whatever a stage was printing, then sets our own.
const SAVE: &str = "\x1b7\x1b[0m\x1b[?7l";
/// Erases from the cursor to the end of the screen.
const ERASE_BELOW: &str = "\x1b[J";
/// Undoes [`SAVE`].
const RESTORE: &str = "\x1b[0m\x1b[?7h\x1b8";
/// Ends a frame.
const END: &str = "\x1b[?2026l";
/// One line down in the same column, scrolling if need be. A line feed would not do: the terminal's own output
/// processing (ONLCR) turns it into carriage return and line feed.
const DOWN: &str = "\x0b";
/// The first column of the next line.
const NEXT_LINE: &str = "\x0b\r";

/// Lets the whole screen scroll again; the cursor stays where it is.
/// Source: DECSTBM, which moves the cursor to the first cell.
const SCROLL_ALL: &str = "\x1b7\x1b[r\x1b8";

/// Where the region is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Below the cursor, wherever that is. Nothing stays behind if the program is killed, but of a message of more
    /// than one line that comes between two frames, the lines after the first overwrite the view only as far as they
    /// reach: the rest of the view's line stays to their right.
    #[default]
    Floating,
    /// At the bottom of the screen, which does not scroll with the rest (as apt does it). Messages stay whole, but if
    /// the program is killed (SIGKILL) the terminal needs `reset`, and a stage that takes the whole screen without
    /// setting its own scroll region (`less`) draws its first screen wrong.
    Pinned,
}

/// Bytes that erase what [`InlineBackend`] drew.
pub(crate) fn wiping_bytes(placement: Placement) -> Vec<u8> {
    match placement {
        // Also right of the cursor, which a message may have moved onto a line of the view.
        Placement::Floating => [BEGIN, SAVE, ERASE_BELOW, RESTORE, END].concat(),
        Placement::Pinned => {
            [BEGIN, SCROLL_ALL, SAVE, NEXT_LINE, ERASE_BELOW, RESTORE, END].concat()
        }
    }
    .into_bytes()
}

/// Bytes that bring the terminal to its senses after a frame was cut off in the middle: the first cancels an
/// unfinished sequence.
pub(crate) fn recovering_bytes(placement: Placement) -> Vec<u8> {
    let margins = if placement == Placement::Pinned { SCROLL_ALL } else { "" };
    ["\x18\x1b[0m\x1b[?7h", margins, END].concat().into_bytes()
}

/// A ratatui backend that turns one frame into bytes for a region below the cursor.
///
/// It never asks the terminal anything: its positions are relative to the line after the one the cursor is on.
/// Each frame is whole: [`InlineBackend::floating`], draw once, [`InlineBackend::into_bytes`].
#[derive(Clone, Debug)]
pub struct InlineBackend {
    size: Size,
    bytes: Vec<u8>,
    /// Rows at the top of the screen that scroll without the region, when it is pinned.
    scrolling: Option<u16>,
    /// Line of the region the cursor is on; `None` on the line above it.
    row: Option<u16>,
    /// Column the cursor is in; `None` when the terminal may disagree about it.
    column: Option<u16>,
    pen: Pen,
}

/// Colours and attributes that a cell is drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pen {
    foreground: Color,
    background: Color,
    attributes: Modifier,
}

impl InlineBackend {
    /// A region of `columns` × `lines`, which should leave the last column of the terminal free, on the lines after the
    /// one the cursor is on ([`Placement::Floating`]).
    #[must_use]
    pub fn floating(columns: u16, lines: u16) -> Self {
        let bytes = [BEGIN, &room(lines), SAVE, ERASE_BELOW].concat().into_bytes();
        Self::starting_with(bytes, columns, lines, None)
    }

    /// A region of `columns` × `lines`, which should leave the last column of the terminal free, at the bottom of a
    /// screen of `rows` ([`Placement::Pinned`]). At least two rows must be left above it.
    #[must_use]
    pub fn pinned(columns: u16, lines: u16, rows: u16) -> Self {
        let above = rows.saturating_sub(lines).max(2);
        let line_above = format!("\x1b[{above}H");
        let bytes = [BEGIN, SCROLL_ALL, &room(lines), SAVE, NEXT_LINE, ERASE_BELOW, &line_above]
            .concat()
            .into_bytes();
        Self::starting_with(bytes, columns, lines, Some(above))
    }

    fn starting_with(bytes: Vec<u8>, columns: u16, lines: u16, scrolling: Option<u16>) -> Self {
        Self {
            size: Size::new(columns, lines),
            bytes,
            scrolling,
            row: None,
            column: None,
            pen: Pen::default(),
        }
    }

    /// The bytes of the frame; the cursor ends where it began.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        if let Some(rows) = self.scrolling {
            self.bytes.extend(format!("\x1b[1;{rows}r").bytes());
        }
        self.bytes.extend([RESTORE, END].concat().bytes());
        self.bytes
    }

    fn go_to(&mut self, column: u16, row: u16) {
        let below = self.row.map_or(0, |own| own + 1);
        for _ in below..=row {
            self.bytes.extend(b"\r\n");
            self.column = Some(0);
        }
        self.row = Some(row);
        if self.column.is_none_or(|own| own > column) {
            self.bytes.push(b'\r');
            self.column = Some(0);
        }
        let right = column - self.column.unwrap_or(0);
        if right > 0 {
            self.bytes.extend(format!("\x1b[{right}C").bytes());
        }
    }

    fn set_pen(&mut self, pen: Pen) {
        if pen != self.pen {
            self.pen = pen;
            self.bytes.extend(pen.sequence().bytes());
        }
    }
}

/// Makes sure that there are `lines` below the cursor, scrolling if need be, before anything is saved: what is saved
/// does not follow when the screen scrolls.
fn room(lines: u16) -> String {
    if lines == 0 {
        String::new()
    } else {
        DOWN.repeat(usize::from(lines)) + &format!("\x1b[{lines}A")
    }
}

impl Pen {
    fn of(cell: &Cell) -> Self {
        Self { foreground: cell.fg, background: cell.bg, attributes: cell.modifier }
    }

    /// Select Graphic Rendition. Source: ECMA-48, 8.3.117.
    fn sequence(self) -> String {
        let attributes = [
            (Modifier::BOLD, "1"),
            (Modifier::DIM, "2"),
            (Modifier::ITALIC, "3"),
            (Modifier::UNDERLINED, "4"),
            (Modifier::REVERSED, "7"),
        ];
        let mut codes = String::from("\x1b[0");
        for (_, code) in
            attributes.iter().filter(|(modifier, _)| self.attributes.contains(*modifier))
        {
            codes.push(';');
            codes.push_str(code);
        }
        for (colour, first) in [(self.foreground, 30), (self.background, 40)] {
            if let Some(number) = ansi_number(colour) {
                let code = if number < 8 { first + number } else { first + 60 + number - 8 };
                codes.push_str(&format!(";{code}"));
            }
        }
        codes.push('m');
        codes
    }
}

/// Number of one of the terminal's sixteen colours, the only ones the view uses.
fn ansi_number(colour: Color) -> Option<u8> {
    let colours = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    (0..).zip(colours).find(|(_, own)| *own == colour).map(|(number, _)| number)
}

impl Backend for InlineBackend {
    type Error = Infallible;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Infallible>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        for (column, row, cell) in content {
            if column >= self.size.width || row >= self.size.height {
                continue;
            }
            self.go_to(column, row);
            self.set_pen(Pen::of(cell));
            let symbol = cell.symbol();
            // Writing to a vector cannot fail.
            let _ = self.bytes.write_all(symbol.as_bytes());
            // Terminals disagree about wide and unusual characters: find the place anew after each.
            let is_certain =
                symbol.cell_width() == 1 && symbol.chars().all(is_everywhere_one_column);
            self.column = is_certain.then_some(column + 1);
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> Result<(), Infallible> {
        Ok(()) // A stage may be waiting for an answer: the cursor stays visible.
    }

    fn show_cursor(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> Result<Position, Infallible> {
        Ok(Position::ORIGIN) // Known without asking: frames start at the first cell.
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _: P) -> Result<(), Infallible> {
        Ok(()) // The cursor belongs to the stages.
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        Ok(()) // Each frame starts with an empty region.
    }

    fn clear_region(&mut self, _: ClearType) -> Result<(), Infallible> {
        Ok(())
    }

    fn size(&self) -> Result<Size, Infallible> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> Result<WindowSize, Infallible> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Latin letters, and the bars that the view is made of.
fn is_everywhere_one_column(character: char) -> bool {
    matches!(character, ' '..='~' | '▁'..='█' | '░'..='▓')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_terminal_is_never_drawn_on() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(terminal_size(&null), None);
        assert!(!is_foreground(&null));
        assert!(!is_line_mode(&null));
    }
}
