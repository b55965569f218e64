//! What a person sees on a terminal that the view shares with the stages: its bytes, fed to a terminal emulator.

#![allow(clippy::unwrap_used, reason = "a test's terminal")]

mod sample;

use std::io::{self, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};

use fullbore_dash::{Palette, Placement, TerminalSize, Unsuitable, View};

/// A terminal in memory, with the output processing (ONLCR) that a real one starts with.
#[derive(Clone)]
struct SharedTerminal {
    parser: Arc<Mutex<vt100::Parser>>,
    size: Arc<Mutex<TerminalSize>>,
    writes: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl SharedTerminal {
    fn new(columns: u16, rows: u16) -> Self {
        let parser = vt100::Parser::new(non_zero(rows), non_zero(columns), 1000);
        Self {
            parser: Arc::new(Mutex::new(parser)),
            size: Arc::new(Mutex::new(TerminalSize { columns, rows })),
            writes: Arc::default(),
        }
    }

    fn resize(&self, columns: u16, rows: u16) {
        *self.size.lock().unwrap() = TerminalSize { columns, rows };
        self.parser.lock().unwrap().screen_mut().set_size(non_zero(rows), non_zero(columns));
    }

    fn view(&self) -> View<Self> {
        let size = Arc::clone(&self.size);
        View::start(self.clone(), move || *size.lock().unwrap(), Palette::Coloured).unwrap()
    }

    /// What a stage prints.
    fn print(&self, text: &str) {
        self.parser.lock().unwrap().process(text.replace('\n', "\r\n").as_bytes());
    }

    fn lines(&self) -> Vec<String> {
        let parser = self.parser.lock().unwrap();
        let (_, columns) = parser.screen().size();
        parser.screen().rows(0, columns.get()).map(|line| line.trim_end().to_owned()).collect()
    }

    fn cursor(&self) -> (u16, u16) {
        self.parser.lock().unwrap().screen().cursor_position()
    }

    fn line_with(&self, text: &str) -> usize {
        let lines = self.lines();
        let found: Vec<usize> = (0..lines.len()).filter(|&row| lines[row].contains(text)).collect();
        assert_eq!(found.len(), 1, "{text:?} once in {lines:#?}");
        found[0]
    }
}

impl Write for SharedTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.lock().unwrap().push(bytes.to_vec());
        self.print(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn non_zero(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

#[test]
fn messages_between_frames_stay_readable_above_a_whole_view() {
    for rows_above in [0, 3, 40] {
        let terminal = SharedTerminal::new(80, 24);
        terminal.print(&"$ earlier\n".repeat(rows_above));
        let mut view = terminal.view();
        for frame in 0..6 {
            view.show(&sample::pipeline(60 + frame));
            terminal.print(&format!("jq: message {frame}\n"));
        }
        view.show(&sample::pipeline(70));
        for frame in 0..6 {
            assert_eq!(
                terminal.lines()[terminal.line_with(&format!("message {frame}"))],
                format!("jq: message {frame}")
            );
        }
        let header = terminal.line_with("fullbore  17.5 s");
        assert_eq!(header, terminal.line_with("message 5") + 2, "one blank line between");
        for (below, text) in (2..).zip(["1 zstdcat", "▸ 2 jq", "grep", "sort", "wc -l"]) {
            assert_eq!(terminal.line_with(text), header + below);
        }
        assert_eq!(usize::from(terminal.cursor().0), header - 1, "the cursor waits above the view");
        assert_eq!(terminal.cursor().1, 0);
    }
}

#[test]
fn a_pinned_view_keeps_messages_of_many_lines_whole() {
    for rows_above in [0, 3, 40] {
        let terminal = SharedTerminal::new(50, 24);
        terminal.print(&"$ earlier\n".repeat(rows_above));
        let mut view = terminal.view().placed(Placement::Pinned);
        view.show(&sample::pipeline(60));
        terminal.print("Traceback:\n  one\n  two\n  three\n\nError\n");
        view.show(&sample::pipeline(61));
        terminal.print("frame=  20 fps= 5\r");
        view.show(&sample::pipeline(62));
        let first = terminal.line_with("Traceback:");
        let lines = terminal.lines();
        assert_eq!(
            lines[first..first + 7],
            ["Traceback:", "  one", "  two", "  three", "", "Error", "frame=  20 fps= 5"]
        );
        assert!(terminal.line_with("15.5 s") > first + 6, "{lines:#?}");
        terminal.line_with("1 zstdcat");
        view.clear();
        terminal.print(&"summary of the run\n".repeat(30));
        assert!(
            terminal.lines()[..23].iter().all(|line| line == "summary of the run"),
            "the whole screen scrolls again"
        );
    }
}

#[test]
fn a_pinned_view_survives_every_size() {
    let terminal = SharedTerminal::new(80, 24);
    let mut view = terminal.view().placed(Placement::Pinned);
    for (columns, rows) in [
        (120, 40),
        (60, 30),
        (40, 12),
        (20, 5),
        (11, 3),
        (80, 24),
        (30, 40),
        (5, 1),
        (1, 2),
        (80, 24),
    ] {
        terminal.resize(columns, rows);
        view.show(&sample::pipeline(60));
        terminal.print("m\n");
    }
    view.show(&sample::pipeline(60));
    terminal.line_with("15.0 s");
    view.clear();
    assert!(
        terminal.lines().iter().all(|line| line.is_empty() || line == "m"),
        "{:#?}",
        terminal.lines()
    );
}

#[test]
fn an_unfinished_message_keeps_its_place_and_its_colour() {
    let terminal = SharedTerminal::new(80, 24);
    terminal.print(&"$ earlier\n".repeat(40));
    let mut view = terminal.view();
    view.show(&sample::pipeline(60));
    terminal.print("\x1b[31mPassword: ");
    view.show(&sample::pipeline(61));
    assert_eq!(terminal.cursor().1, 10);
    terminal.print("really?");
    view.show(&sample::pipeline(62));
    let row = terminal.line_with("Password: really?");
    assert_eq!(terminal.lines()[row], "Password: really?");
    let parser = terminal.parser.lock().unwrap();
    let cell = parser.screen().cell(u16::try_from(row).unwrap(), 12).unwrap();
    assert_eq!(cell.fgcolor(), vt100::Color::Idx(1));
    drop(parser);
    terminal.print("\r  10 MiB\r  20 MiB\x1b[K");
    view.show(&sample::pipeline(63));
    assert_eq!(
        terminal.lines()[row],
        "  20 MiB",
        "progress that overwrites itself stays in its line"
    );
}

#[test]
fn clear_leaves_nothing_and_gives_the_place_back() {
    for rows_above in [0, 2, 40] {
        let terminal = SharedTerminal::new(80, 24);
        terminal.print(&"$ earlier\n".repeat(rows_above));
        let mut view = terminal.view();
        view.show(&sample::pipeline(60));
        terminal.print("jq: a message\n");
        view.show(&sample::pipeline(61));
        view.clear();
        terminal.print("summary\n");
        drop(view);
        assert_eq!(terminal.line_with("summary"), terminal.line_with("jq: a message") + 1);
        let others =
            terminal.lines().into_iter().filter(|line| !line.is_empty() && line != "$ earlier");
        assert_eq!(others.collect::<Vec<_>>(), ["jq: a message", "summary"]);
    }
}

#[test]
fn drop_and_suspend_wipe_and_resume_draws_again() {
    let terminal = SharedTerminal::new(80, 24);
    let mut view = terminal.view();
    view.show(&sample::pipeline(60));
    view.suspend();
    assert!(terminal.lines().iter().all(String::is_empty));
    view.show(&sample::pipeline(61));
    assert!(terminal.lines().iter().all(String::is_empty), "nothing is drawn while suspended");
    terminal.print("[1]+ Stopped\n");
    view.resume();
    assert_eq!(terminal.line_with("fullbore  15.2 s"), 2);
    drop(view);
    assert_eq!(terminal.lines().iter().filter(|line| !line.is_empty()).count(), 1);
}

#[test]
fn a_terminal_that_changes_its_size_shows_one_whole_view() {
    let terminal = SharedTerminal::new(120, 40);
    terminal.print(&"$ earlier\n".repeat(50));
    let mut view = terminal.view();
    for (columns, rows) in [(120, 40), (60, 30), (40, 12), (20, 5), (11, 3), (80, 24), (30, 40)] {
        terminal.resize(columns, rows);
        view.show(&sample::pipeline(60));
        terminal.line_with("15.0 s");
        let lines = terminal.lines();
        assert!(
            lines.iter().all(|line| line.chars().count() < usize::from(columns)),
            "last column free: {lines:#?}"
        );
    }
    view.clear();
    assert!(terminal.lines().iter().all(|line| line.is_empty() || line.starts_with('$')));
}

#[test]
fn no_size_of_the_terminal_makes_it_panic_or_lose_a_message() {
    for columns in 1..=40 {
        for rows in 1..=20 {
            let terminal = SharedTerminal::new(80, 24);
            let mut view = terminal.view();
            view.show(&sample::pipeline(60));
            terminal.resize(columns, rows);
            for frame in 0..3 {
                view.show(&sample::long_pipeline(20 + frame));
                terminal.print("m\n");
            }
            view.show(&sample::pipeline(60));
            let messages = terminal.lines().iter().filter(|line| *line == "m").count();
            assert!(
                messages >= usize::from(rows.saturating_sub(1)).min(1) || rows <= 4,
                "{columns}×{rows}: {:#?}",
                terminal.lines()
            );
        }
    }
}

#[test]
fn hostile_text_cannot_shift_the_view() {
    let terminal = SharedTerminal::new(100, 24);
    let mut snapshot = sample::pipeline(60);
    snapshot.record.stages[1].command = "日本語 👩\u{200d}👧 \u{1b}[10A\u{1b}[2Jx".to_owned();
    let mut view = terminal.view();
    view.show(&snapshot);
    let lines = terminal.lines();
    let pipe = |row: usize| lines[row].find("iB").map(|at| lines[row][..at].chars().count());
    let header = terminal.line_with("fullbore  15.0 s");
    let row = terminal.line_with("日本語");
    assert_eq!(row, header + 3);
    assert!(pipe(row).is_some() && pipe(row - 1).is_some());
}

#[test]
fn a_frame_is_one_write_that_asks_nothing() {
    let terminal = SharedTerminal::new(80, 24);
    let mut view = terminal.view();
    view.show(&sample::pipeline(60));
    view.show(&sample::pipeline(61));
    view.clear();
    view.clear();
    drop(view);
    let writes = terminal.writes.lock().unwrap();
    assert_eq!(writes.len(), 3);
    for bytes in writes.iter() {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"));
        for forbidden in ["\x1b[6n", "\x1b[?1049h", "\x1b[?25l", "\x1b[H", "\x1b[r"] {
            assert!(!text.contains(forbidden), "{forbidden:?}");
        }
    }
}

#[test]
fn no_color_means_no_colours() {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    struct Sink(Arc<Mutex<Vec<u8>>>);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let size = || TerminalSize { columns: 120, rows: 40 };
    let mut view = View::start(Sink(Arc::clone(&bytes)), size, Palette::Plain).unwrap();
    view.show(&sample::pipeline(60));
    let text = String::from_utf8(bytes.lock().unwrap().clone()).unwrap();
    assert!(text.contains("zstdcat"));
    for code in 30..=49 {
        assert!(!text.contains(&format!(";{code}m")), "{code}");
    }
}

#[test]
fn a_terminal_that_is_gone_ends_the_view_and_nothing_else() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut view =
        View::start(Gone, || TerminalSize { columns: 80, rows: 24 }, Palette::Plain).unwrap();
    assert!(!view.is_lost());
    view.show(&sample::pipeline(60));
    assert!(view.is_lost());
    view.show(&sample::pipeline(61));
    view.clear();
}

#[test]
fn a_terminal_too_small_gets_no_view() {
    let tiny = TerminalSize { columns: 9, rows: 24 };
    let refused = View::start(io::sink(), move || tiny, Palette::Plain).err();
    assert_eq!(refused, Some(Unsuitable::TooSmall(tiny)));
}
