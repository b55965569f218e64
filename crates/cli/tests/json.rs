//! `json` as a user meets it.

use crate::sandbox::{Ended, Sandbox, finish, status_text, with_fixture};

/// Runs a line of bash in a folder with a file `input`; `{fullbore}` is the program.
fn with_input(line: &str, input: &[u8]) -> Ended {
    let place = Sandbox::new();
    std::fs::write(place.path("input"), input).unwrap();
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&format!("set -o pipefail; {line}"))]);
    finish(command)
}

/// The ways a check is fed, and passes its input on.
const WAYS: [&str; 4] = [
    "cat input | {} | cat",
    "{} input | cat",
    "{} < input | cat",
    "cat input | {} > out; status=$?; cat out; exit $status",
];

fn every_way(check: &str, input: &[u8], passed: &[u8], status: i32, said: &str) {
    for way in WAYS {
        for tier in ["", "FULLBORE_TIER=portable "] {
            let line = way.replace("{}", &format!("{tier}{{fullbore}} {check}"));
            let ended = with_input(&line, input);
            assert!(ended.stdout == passed, "{line}: {} bytes came out", ended.stdout.len());
            assert_eq!(
                status_text(ended.status),
                format!("exit {status}"),
                "{line}: {}",
                ended.stderr
            );
            // A message names the file where there is one.
            let name = if way.contains("{} input") { "input" } else { "standard input" };
            assert_eq!(ended.stderr, said.replace("standard input", name), "{line}");
        }
    }
}

fn events() -> Vec<u8> {
    let event = "{\"id\":1,\"user\":{\"name\":\"Зоя\"},\"tags\":[\"a\\n\",null],\"ms\":-1.5e3}\n";
    event.repeat(20_000).into_bytes()
}

#[test]
fn an_input_that_ends_early_has_no_hint_to_go_on() {
    let ended = with_input("{fullbore} json check input", b"{}\n[1,");
    let said =
        "fullbore: json check: input: byte 7, line 2, column 4: the input ends within a document\n";
    assert_eq!((ended.stderr.as_str(), status_text(ended.status).as_str()), (said, "exit 1"));
}

#[test]
fn valid_json_passes_and_says_nothing() {
    for input in
        [events(), Vec::new(), b"\xEF\xBB\xBF[1]".to_vec(), b"\x1E{}\r\n\r\n\x1E[\n]\n".to_vec()]
    {
        every_way("json check -p", &input, &input, 0, "");
        every_way("json check", &input, b"", 0, "");
    }
}

#[test]
fn the_first_error_ends_the_check_and_the_stream() {
    let good = events();
    let bad = [&good[..], b"{\"a\":1,}\n{}\n"].concat();
    let before = good.len() + 7;
    let said = format!(
        "fullbore: json check: standard input: byte {}, line 20001, column 8: expected a name in double quotes\nhint: --all \
         goes on after an error, at the next line\n",
        before + 1
    );
    every_way("json check -p", &bad, &bad[..before], 1, &said);
    every_way("json check", &bad, b"", 1, &said);
}

#[test]
fn all_errors_are_found_at_the_next_lines() {
    let input = b"{\"a\":1}\n{\"a\":NaN}\n[1,2\n[3]\n\"ok\"\n{\"x\":01}\n[";
    let said = "fullbore: json check: standard input: byte 14, line 2, column 6: expected a value\n\
                fullbore: json check: standard input: byte 24, line 4, column 1: expected , or ]\n\
                fullbore: json check: standard input: 4 errors; documents that are valid: 2\n\
                hint: --max-errors 4 also prints the other 2\n";
    every_way("json check -p --all --max-errors 2", input, input, 1, said);
    every_way("json check --all --max-errors 2", input, b"", 1, said);
}

#[test]
fn a_number_that_goes_on_is_an_error_and_no_document() {
    let ended = with_input("{fullbore} json check --all input", b"1true\n2\ntruefalse\n");
    assert!(ended.stderr.contains("2 errors; documents that are valid: 1\n"), "{}", ended.stderr);
}

#[test]
fn a_named_pipe_is_opened_once() {
    let line = "mkfifo pipe; cat input > pipe & {fullbore} json check -p pipe > out; cmp input out";
    let ended = with_input(line, &events());
    assert_eq!((ended.stderr.as_str(), status_text(ended.status).as_str()), ("", "exit 0"));
}

#[test]
fn a_check_fails_as_every_stage_does() {
    for (line, status, said) in [
        (
            "{fullbore} json check nothing-here",
            2,
            "json check: reading: nothing-here: No such file",
        ),
        ("{fullbore} json check .", 2, "Is a directory"),
        ("{fullbore} json check <&-", 2, "json check: reading standard input"),
        ("echo 1 | {fullbore} json check -p >&-", 2, "json check: writing standard output"),
        ("echo 1 | {fullbore} json check -p > /dev/full", 2, "No space left"),
        ("{fullbore} json check --max-errors 3 input", 2, "--all"),
        ("FULLBORE_TIER=sse9 {fullbore} json check input", 2, "FULLBORE_TIER"),
        ("yes '[1]' | {fullbore} json check -p | head -c 10; exit ${PIPESTATUS[1]}", 141, ""),
        ("{fullbore} gen random --bytes 1M | {fullbore} json check", 1, "byte 1,"),
    ] {
        let ended = with_input(line, b"1");
        assert_eq!(status_text(ended.status), format!("exit {status}"), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
}
