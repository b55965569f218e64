//! Every case of `cases/json` through the real binary: from a file, from standard input and through a pipe in odd pieces,
//! with one worker, with three and with as many as it likes, by every kernel.
//!
//! `FULLBORE_CASE=text` selects the cases with this text in their names; `FULLBORE_ALL=1` runs every combination of
//! these ways, not only nine in which each pair of them occurs.

#[path = "cases/json/mod.rs"]
mod cases;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{PipeWriter, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sandbox::{
    Ended, Sandbox, finish, fullbore, path_with_ours, status_text, tiers, with_fixture,
};
use cases::{Answer, Case, Input, MODEL};

/// How the input gets in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Named,
    Redirected,
    Pieces,
}

const SOURCES: [Source; 3] = [Source::Named, Source::Redirected, Source::Pieces];
const JOBS: [&str; 3] = ["", "-j1", "-j3"];

/// The tier that the program chooses, one between, if the CPU has it, and the slowest.
fn three_tiers() -> [&'static str; 3] {
    let between = tiers().get(1).copied().unwrap_or("portable");
    ["", between, "portable"]
}

/// Sizes of the pieces in which a pipe gets the input, again and again.
const PIECES: [usize; 9] = [1, 3, 7, 64, 2, 31, 4093, 65_537, 131_071];

macro_rules! tables {
    ($($test:ident: $table:expr;)+) => {
        $(#[test]
        fn $test() {
            every_way($table);
        })+
    };
}

tables! {
    paths_of_all_forms: cases::paths::CASES;
    what_select_prints: cases::select::CASES;
    which_records_where_keeps: cases::where_::CASES;
    dates_in_predicates_and_keys: cases::dates::CASES;
    keys_options_and_output_of_group: cases::group::CASES;
    aggregates_are_exact: cases::aggregates::CASES;
    paths_of_a_stream_and_elements_of_an_array: cases::keys_each::CASES;
    every_row_of_the_semantics: cases::semantics::CASES;
    bad_input_is_told_where_it_is: cases::bad::CASES;
    mistakes_have_carets: cases::mistakes::CASES;
    lines_for_jq_and_their_equivalents: cases::jq_lines::CASES;
    outputs_of_real_services: cases::services::CASES;
    long_streams_as_other_programs_read_them: cases::large::CASES;
}

#[test]
fn whole_lines_of_a_shell() {
    let mut failures = Vec::new();
    for (name, line, stdout, status, said) in cases::bad::LINES {
        let place = Sandbox::new();
        let ended = bash(&place, &format!("set -o pipefail; {line}"), None);
        let is_right = ended.stdout == stdout.as_bytes()
            && status_text(ended.status) == format!("exit {status}")
            && said.iter().all(|part| ended.stderr.contains(part))
            && said.is_empty() == ended.stderr.is_empty();
        if !is_right {
            failures.push(format!("{name}: {line}\n  got {}", shown(&ended)));
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Streams, questions and answers made by the model at random; with `FULLBORE_ALL`, because the model rounds averages and
/// percentiles beyond 2^53 in its own way.
#[test]
fn questions_made_at_random() {
    if std::env::var_os("FULLBORE_ALL").is_none() {
        return;
    }
    require_programs!("python3");
    let place = Sandbox::new();
    std::fs::write(place.path("model.py"), MODEL).unwrap();
    let seeds = std::env::var("FULLBORE_RUNS").unwrap_or_else(|_| "40".into());
    let made = bash(&place, &format!("python3 model.py questions {seeds}"), None);
    let questions: Vec<serde_json::Value> = serde_json::from_slice(&made.stdout).unwrap();
    assert!(questions.len() > 100, "{}", made.stderr);
    let mut failures = Vec::new();
    for (index, question) in questions.iter().enumerate() {
        std::fs::write(place.path("input"), question["input"].as_str().unwrap()).unwrap();
        let args = question["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let args: Vec<_> = std::iter::once("json").chain(args).collect();
        let mut command = place.fullbore(&args);
        command.stdin(File::open(place.path("input")).unwrap());
        command.env("FULLBORE_TIER", three_tiers()[1 + index % 2]);
        let ended = finish(command);
        let is_right = ended.stdout == question["stdout"].as_str().unwrap().as_bytes();
        if !is_right || !ended.status.success() {
            let (input, wanted) = (&question["input"], &question["stdout"]);
            failures
                .push(format!("{args:?}\n  {input}\n  wanted {wanted}\n  got {}", shown(&ended)));
        }
    }
    let shown: Vec<_> = failures.iter().take(10).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), shown.join("\n"));
}

/// Runs every case in every way and tells all failures at once.
fn every_way(cases: &[Case]) {
    require_programs!("python3", "jq");
    let selected = std::env::var("FULLBORE_CASE").unwrap_or_default();
    let mut failures = Vec::new();
    for case in cases.iter().filter(|case| case.name.contains(&selected)) {
        let place = Sandbox::new();
        std::fs::write(place.path("model.py"), MODEL).unwrap();
        let input = input_of(case, &place);
        std::fs::write(place.path("input"), &input).unwrap();
        for (name, contents) in case.files {
            std::fs::write(place.path(name), contents).unwrap();
        }
        let wanted = wanted(case, &place, &input);
        let mut same: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (source, jobs, tier) in ways(case) {
            let ended = ask(case, &place, &input, source, jobs, tier);
            if let Some(wrong) = difference(case, &place, &wanted, source, &ended) {
                same.entry(wrong).or_default().push(format!("{source:?}{jobs}{tier}"));
            }
        }
        for (wrong, ways) in same {
            failures.push(format!(
                "{}: {}\n  {wrong}\n  in {}",
                case.name,
                case.args,
                ways.join(" ")
            ));
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Nine ways with every pair of a source, a number of workers and a kernel, or all.
fn ways(case: &Case) -> Vec<(Source, &'static str, &'static str)> {
    let all = std::env::var_os("FULLBORE_ALL").is_some();
    let words = shell_words::split(case.args).unwrap();
    let mut ways = Vec::new();
    for (row, source) in SOURCES.into_iter().enumerate() {
        let is_meant = match source {
            Source::Named => !words.iter().any(|word| word == "-"),
            _ => !words.iter().any(|word| word == "input"),
        };
        for (column, jobs) in JOBS.into_iter().enumerate().filter(|_| is_meant) {
            let tiers = three_tiers().into_iter().enumerate();
            let chosen = tiers.filter(|(index, _)| all || *index == (row + column) % 3);
            ways.extend(chosen.map(|(_, tier)| (source, jobs, tier)));
        }
    }
    ways
}

fn ask(
    case: &Case,
    place: &Sandbox,
    input: &[u8],
    source: Source,
    jobs: &str,
    tier: &str,
) -> Ended {
    let mut words = shell_words::split(case.args).unwrap();
    if source == Source::Named && !words.iter().any(|word| word == "input") {
        words.push("input".into());
    }
    if !jobs.is_empty() {
        words.push(jobs.into());
    }
    let mut command = place.fullbore(&["json"]);
    command.args(words);
    if !tier.is_empty() {
        command.env("FULLBORE_TIER", tier);
    }
    match source {
        Source::Named => finish(command),
        Source::Redirected => {
            command.stdin(File::open(place.path("input")).unwrap());
            finish(command)
        }
        Source::Pieces => finish_with_pieces(command, input.to_vec()),
    }
}

/// Writes a piece when the one before it was read.
fn finish_with_pieces(mut command: Command, input: Vec<u8>) -> Ended {
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended_too = Arc::clone(&has_ended);
    let feeder = std::thread::spawn(move || feed(writer, &input, &ended_too));
    let ended = finish(command);
    has_ended.store(true, Ordering::Relaxed);
    feeder.join().unwrap();
    ended
}

fn feed(mut writer: PipeWriter, input: &[u8], has_ended: &AtomicBool) {
    let mut rest = input;
    for size in PIECES.iter().cycle() {
        let (piece, behind) = rest.split_at(rest.len().min(*size));
        // A reader that leaves is no failure of the writer.
        if piece.is_empty() || writer.write_all(piece).is_err() {
            return;
        }
        while rustix::io::ioctl_fionread(&writer).unwrap() > 0 {
            if has_ended.load(Ordering::Relaxed) {
                return;
            }
            std::thread::yield_now();
        }
        rest = behind;
    }
}

fn input_of(case: &Case, place: &Sandbox) -> Vec<u8> {
    match case.input {
        Input::Bytes(bytes) => bytes.to_vec(),
        Input::Made(make) => make(),
        Input::Line(line) => {
            let made = bash(place, line, None);
            assert!(made.status.success(), "{}: {}", case.name, made.stderr);
            made.stdout
        }
    }
}

/// The whole of standard output, if the case names it.
fn wanted(case: &Case, place: &Sandbox, input: &[u8]) -> Option<Vec<u8>> {
    match case.answer {
        Answer::Text(text) => Some(text.to_vec()),
        Answer::Lines(numbers) => {
            let lines: Vec<_> = input.split_inclusive(|byte| *byte == b'\n').collect();
            Some(numbers.iter().flat_map(|number| lines[number - 1].to_vec()).collect())
        }
        Answer::Oracle(line) => {
            let answer = bash(place, &format!("set -o pipefail; {line}"), Some("input"));
            assert!(answer.status.success(), "{}: {line}: {}", case.name, answer.stderr);
            Some(answer.stdout)
        }
        Answer::Has(_) | Answer::Through(..) => None,
    }
}

fn difference(
    case: &Case,
    place: &Sandbox,
    wanted: &Option<Vec<u8>>,
    source: Source,
    ended: &Ended,
) -> Option<String> {
    let name = if source == Source::Named { "input" } else { "standard input" };
    let output_is_right = match (case.answer, wanted) {
        (Answer::Has(lines), _) => {
            let output = String::from_utf8_lossy(&ended.stdout);
            lines.iter().all(|line| output.lines().any(|printed| printed == *line))
        }
        (Answer::Through(line, result), _) => {
            std::fs::write(place.path("output"), &ended.stdout).unwrap();
            bash(place, line, Some("output")).stdout == result.as_bytes()
        }
        (_, wanted) => Some(&ended.stdout) == wanted.as_ref(),
    };
    let all_is_said =
        case.said.iter().all(|part| ended.stderr.contains(&part.replace("{in}", name)));
    let right = output_is_right
        && status_text(ended.status) == format!("exit {}", case.status)
        && all_is_said
        && case.said.is_empty() == ended.stderr.is_empty()
        && case.caret.is_none_or(|(text, at)| has_caret(&ended.stderr, text, at));
    let wanted = match (case.answer, wanted) {
        (Answer::Has(lines), _) => format!("{lines:?}"),
        (Answer::Through(line, result), _) => format!("{line}: {result:?}"),
        (_, wanted) => clipped(wanted.as_deref().unwrap_or_default()),
    };
    let said = case.said.iter().chain(case.caret.iter().map(|(text, _)| text));
    let said = said.map(|part| part.replace("{in}", name)).collect::<Vec<_>>();
    let status = case.status;
    (!right).then(|| format!("wanted exit {status} {wanted} {said:?}\n  got    {}", shown(ended)))
}

/// Whether a caret stands below this character of the text.
fn has_caret(stderr: &str, text: &str, at: usize) -> bool {
    let lines: Vec<_> = stderr.lines().collect();
    lines.windows(2).any(|pair| {
        let column = |found: usize| pair[0][..found].chars().count() + at;
        pair[0].match_indices(text).any(|(found, _)| {
            pair[1].chars().position(|character| character == '^') == Some(column(found))
        })
    })
}

fn bash(place: &Sandbox, line: &str, stdin: Option<&str>) -> Ended {
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(line)]).env("PATH", path_with_ours());
    command.env("FULLBORE", fullbore()).env("PYTHONIOENCODING", "utf-8");
    if let Some(name) = stdin {
        command.stdin(File::open(place.path(name)).unwrap());
    }
    finish(command)
}

fn shown(ended: &Ended) -> String {
    let (output, said) = (clipped(&ended.stdout), clipped(ended.stderr.as_bytes()));
    format!("{} {output} {said}", status_text(ended.status))
}

fn clipped(bytes: &[u8]) -> String {
    let text = format!("{:?}", String::from_utf8_lossy(bytes));
    match text.char_indices().nth(700) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], bytes.len()),
        None => text,
    }
}
