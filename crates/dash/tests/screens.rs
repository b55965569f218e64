//! The same state gives the same screen. `FULLBORE_BLESS=1` rewrites `tests/golden/`.

#![allow(clippy::unwrap_used, reason = "a test's terminal")]

mod sample;

use std::path::Path;

use fullbore_dash::{Event, Palette, State, TerminalSize, draw};
use fullbore_record::{AdvicePart, Snapshot};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// What the view shows in `columns` × `lines`, one line of text for each.
fn screen(snapshot: &Snapshot, columns: u16, lines: u16) -> String {
    let mut state = State::new(TerminalSize { columns, rows: lines * 2 }, Palette::Coloured);
    state.update(Event::Snapshot(snapshot));
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| draw(frame, &state)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |row| (0..columns).map(|column| buffer[(column, row)].symbol()).collect::<String>();
    (0..lines).map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

fn assert_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FULLBORE_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "{} differs; FULLBORE_BLESS=1 rewrites it", path.display());
}

#[test]
fn screens_of_all_sizes_are_as_agreed() {
    let mut ending = sample::pipeline(60);
    sample::end(&mut ending, &[(0, 0), (1, 5), (2, 141)]);
    for (name, snapshot, columns, lines) in [
        ("first_look_80x10.txt", sample::pipeline(2), 80, 10),
        ("running_80x10.txt", sample::pipeline(60), 80, 10),
        ("running_40x8.txt", sample::pipeline(60), 40, 8),
        ("running_20x6.txt", sample::pipeline(60), 20, 6),
        ("running_120x12.txt", sample::pipeline(60), 120, 12),
        ("ending_100x10.txt", ending, 100, 10),
        ("many_stages_80x10.txt", sample::long_pipeline(30), 80, 10),
    ] {
        assert_golden(name, &screen(&snapshot, columns, lines));
    }
}

#[test]
fn more_stages_than_lines_show_the_busiest_in_order() {
    let shown = screen(&sample::long_pipeline(40), 80, 16);
    let stage = |line: &str| -> Option<usize> {
        line.split("--number ").nth(1)?.split(' ').next()?.parse().ok()
    };
    let gap = |line: &str| -> Option<usize> {
        line.split_once("  + ")?.1.split_once(" more")?.0.parse().ok()
    };
    let mut next = 1;
    for line in shown.lines() {
        assert!(stage(line).is_none_or(|number| number == next), "before stage {next}: {shown}");
        next += gap(line).unwrap_or(usize::from(stage(line).is_some()));
    }
    assert_eq!(next, 41, "the gaps are where stages are missing: {shown}");
    assert!(shown.contains("--number 27"), "it is the busiest (99 %): {shown}");
}

#[test]
fn a_hidden_bottleneck_is_shown_however_idle_it_looks() {
    let mut snapshot = sample::long_pipeline(40);
    snapshot.record.findings = sample::pipeline(60).record.findings;
    snapshot.record.findings[0].stage = Some(19); // 3 % busy
    assert!(screen(&snapshot, 80, 6).contains("▸ 19"), "{}", screen(&snapshot, 80, 6));
}

#[test]
fn what_is_unknown_is_not_shown_as_zero() {
    let mut snapshot = sample::pipeline(60);
    snapshot.record.stages[0].read_bytes = None;
    snapshot.record.stages[0].written_bytes = None;
    snapshot.record.pipes[0].capacity_bytes = None;
    let shown = screen(&snapshot, 100, 10);
    let stage = shown.lines().find(|line| line.contains("zstdcat")).unwrap();
    assert!(!stage.contains("B/s") && stage.contains(" ? "), "{stage}");
    assert!(stage.ends_with("······ ?"), "{stage}");
}

#[test]
fn hostile_text_stays_in_its_line_and_column() {
    let mut snapshot = sample::pipeline(60);
    let hostile =
        "e\u{1b}[2J\u{1b}]0;owned\u{7}\r\n\u{202e}\u{9b}31m\u{200d}z\u{301}\u{301}日本語👩‍👩‍👧";
    snapshot.record.stages[1].command = hostile.repeat(50);
    snapshot.record.findings[0].message = hostile.repeat(50);
    snapshot.record.findings[0].advice = vec![AdvicePart::text(hostile.repeat(50))];
    let shown = screen(&snapshot, 120, 12);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{200d}', '\u{301}']), "{shown:?}");
    let pipe_column = |number: &str| {
        let line = shown.lines().find(|line| line.contains(number)).unwrap();
        line.ends_with("KiB") || line.ends_with('↑')
    };
    assert!(pipe_column(" 1 zstdcat") && pipe_column("▸ 2 e"), "{shown}");
}

#[test]
fn no_size_and_no_record_makes_it_panic() {
    let mut odd = sample::pipeline(60);
    odd.stage_is_alive.clear();
    odd.pipe_fill_bytes = vec![Some(u64::MAX)];
    odd.record.timeline.stages.remove(2);
    odd.record.timeline.stages[0].running = vec![f32::NAN, 1e30];
    odd.record.pipes[0].capacity_bytes = Some(0);
    odd.record.parallelism = f64::NAN;
    odd.record.host.cpus = 0;
    for snapshot in [
        Snapshot::default(),
        sample::pipeline(0),
        sample::pipeline(60),
        sample::long_pipeline(200),
        odd,
    ] {
        for columns in 0..=40 {
            for lines in 0..=20 {
                screen(&snapshot, columns, lines);
            }
        }
    }
}
