//! What a person sees after which keys.

use std::sync::Arc;

use fullbore_record::{Finding, FindingKind, Overview, PipeRecord, Progress, Seen, StageRecord};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::*;

fn seen(pid: i32, commands: &[&str]) -> Seen {
    let mut seen = Seen::default();
    seen.pid = pid;
    seen.age_ns = 3_600_000_000_000;
    seen.place.user = Some("alice".to_owned());
    let record = &mut Arc::make_mut(&mut seen.snapshot).record;
    record.command = commands.join(" | ");
    record.host.cpus = 2;
    for (number, command) in (1..).zip(commands) {
        let mut stage = StageRecord::default();
        stage.stage = number;
        stage.pid = pid + i32::try_from(number).unwrap();
        stage.command = (*command).to_owned();
        record.stages.push(stage);
        let mut pipe = PipeRecord::default();
        pipe.pipe = number;
        pipe.writers = vec![number];
        pipe.readers = vec![number + 1];
        record.pipes.push(pipe);
    }
    record.pipes.pop();
    let mut finding = Finding::new(FindingKind::Bottleneck, "the second is slow");
    finding.stage = Some(2);
    record.findings.push(finding);
    seen
}

fn machine() -> Top {
    let mut overview = Overview::default();
    overview.host.cpus = 2;
    overview.hidden_pipelines = 12;
    let mut idle = seen(300, &["journalctl -f", "grep x"]);
    idle.is_idle = true;
    let mut backup = seen(100, &["tar -c /home", "zstd -19", "ssh h"]);
    let mut progress = Progress::new(1, 41, 100);
    progress.left_ns = Some(192_000_000_000);
    backup.progress = Some(progress);
    overview.pipelines = vec![backup, seen(200, &["zcat log", "sort"]), idle];
    let mut top = Top::new(Palette::Plain);
    top.update(overview);
    top
}

fn screen(top: &mut Top, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw_top(frame, top)).unwrap();
    let cells = terminal.backend().buffer().content().iter();
    let text: Vec<String> = cells.map(|cell| cell.symbol().to_owned()).collect();
    let lines = text.chunks(usize::from(columns)).map(|line| line.concat());
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn press(top: &mut Top, codes: &[KeyCode]) -> Option<Request> {
    let keys = codes.iter().map(|code| Key::new(*code, KeyModifiers::NONE));
    keys.fold(None, |_, key| top.key(key))
}

fn typed(text: &str) -> Vec<KeyCode> {
    text.chars().map(KeyCode::Char).collect()
}

#[test]
fn the_list_shows_what_moves_and_counts_the_rest() {
    let mut top = machine();
    let list = screen(&mut top, 120, 20);
    for text in ["tar -c /home | zstd -19 | ssh h", "41 % 3:12", "1:00:00", "alice"] {
        assert!(list.contains(text), "{text} in\n{list}");
    }
    assert!(list.contains("1 idle (i)") && list.contains("12 pipelines of others: run as root"));
    assert!(!list.contains("journalctl"), "{list}");
    assert!(list.contains("▸ 2 zstd -19"), "the slow one is marked:\n{list}");
    press(&mut top, &typed("i"));
    let list = screen(&mut top, 120, 20);
    assert!(list.contains("journalctl") && list.contains("2 grep x"), "with its stages:\n{list}");
}

#[test]
fn every_size_of_a_terminal_is_drawn() {
    let mut top = machine();
    let screens: [&[KeyCode]; 6] = [
        &[],
        &[KeyCode::Enter],
        &[KeyCode::Esc, KeyCode::Char('?')],
        &[KeyCode::Esc, KeyCode::Char('/')],
        &[KeyCode::Esc, KeyCode::Char('t')],
        &[KeyCode::Esc, KeyCode::Char('k')],
    ];
    for keys in screens {
        press(&mut top, keys);
        for columns in [1, 2, 7, 20, 40, 80, 200] {
            for rows in [1, 2, 3, 4, 5, 15, 24, 60] {
                screen(&mut top, columns, rows);
            }
        }
    }
}

#[test]
fn a_filter_leaves_what_has_its_text_and_escape_takes_it_back() {
    let mut top = machine();
    press(&mut top, &typed("/SORT"));
    assert!(!screen(&mut top, 100, 20).contains("zstd"));
    press(&mut top, &[KeyCode::Enter]);
    assert!(screen(&mut top, 100, 20).contains("only `SORT`"));
    press(&mut top, &[KeyCode::Esc]);
    assert!(screen(&mut top, 100, 20).contains("zstd"));
    press(&mut top, &typed("/nothing"));
    assert!(screen(&mut top, 100, 20).contains("no pipeline has `nothing` in it"));
    press(&mut top, &[KeyCode::Esc]);
    assert!(screen(&mut top, 100, 20).contains("zstd"), "what was typed does not count");
}

#[test]
fn a_pipe_is_widened_behind_the_stage_at_the_cursor() {
    let mut top = machine();
    press(&mut top, &[KeyCode::Down, KeyCode::Down]);
    press(&mut top, &typed("t"));
    assert!(screen(&mut top, 100, 20).contains("capacity of pipe 2: 1M"));
    press(&mut top, &[KeyCode::Backspace, KeyCode::Backspace]);
    press(&mut top, &typed("256K"));
    let request = press(&mut top, &[KeyCode::Enter]);
    assert_eq!(request, Some(Request::Widen { pid: 100, pipe: 2, to: Bytes(256 << 10) }));
    press(&mut top, &typed("tx"));
    assert_eq!(press(&mut top, &[KeyCode::Enter]), None);
    assert!(screen(&mut top, 100, 20).contains("1Mx: not a size"));
}

#[test]
fn a_signal_goes_to_what_was_asked_about_only_after_enter() {
    let mut top = machine();
    press(&mut top, &[KeyCode::Down, KeyCode::Char('k'), KeyCode::Right, KeyCode::Right]);
    assert!(screen(&mut top, 100, 20).contains("[KILL]"));
    // Meanwhile its pipeline ends, and the cursor stands elsewhere.
    let mut later = top.overview.clone();
    later.pipelines.remove(0);
    top.update(later);
    let request = press(&mut top, &[KeyCode::Enter]);
    assert_eq!(request, Some(Request::Send { pids: vec![101], signal: Signal::Kill }));
    assert_eq!(press(&mut top, &[KeyCode::Char('k'), KeyCode::Esc]), None);
    let request = press(&mut top, &[KeyCode::Char('k'), KeyCode::Enter]);
    let all = Request::Send { pids: vec![201, 202], signal: Signal::Terminate };
    assert_eq!(request, Some(all), "all stages of the pipeline");
}

#[test]
fn details_show_all_findings_and_leave_when_the_pipeline_ends() {
    let mut top = machine();
    press(&mut top, &[KeyCode::Enter]);
    let detail = screen(&mut top, 100, 24);
    assert!(detail.contains("the second is slow") && detail.contains("pipe 2: 2 → 3"), "{detail}");
    let mut later = top.overview.clone();
    later.pipelines.remove(0);
    top.update(later);
    assert!(screen(&mut top, 100, 24).contains("the pipeline of process 100 has ended"));
}

#[test]
fn more_lines_than_fit_scroll_with_the_cursor() {
    let mut overview = Overview::default();
    overview.pipelines = (0..500).map(|n| seen(n * 10 + 1, &["a", "b"])).collect();
    let mut top = Top::new(Palette::Plain);
    top.update(overview);
    screen(&mut top, 80, 24);
    press(&mut top, &[KeyCode::End]);
    assert!(screen(&mut top, 80, 24).contains("4991"));
    press(&mut top, &[KeyCode::Home]);
    assert!(screen(&mut top, 80, 24).contains("▾       1"));
    press(&mut top, &[KeyCode::PageDown]);
    assert!(screen(&mut top, 80, 24).contains("▾      61"));
    press(&mut top, &typed("e"));
    assert!(!screen(&mut top, 80, 24).contains("▾"));
}

#[test]
fn names_of_others_cannot_draw_on_the_screen() {
    let mut overview = Overview::default();
    overview.pipelines = vec![seen(1, &["a\x1b[2J\nb", "c"])];
    let mut top = Top::new(Palette::Plain);
    top.update(overview);
    assert!(!screen(&mut top, 80, 24).contains('\x1b'));
}
