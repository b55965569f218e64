//! `json select` as a user meets it.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::sandbox::{Ended, Sandbox, finish, status_text, wait_or_kill, with_fixture};

/// Runs a line of bash in a folder with a file `input`; `{fullbore}` is the program.
pub(crate) fn with_input(line: &str, input: &[u8]) -> Ended {
    let place = Sandbox::new();
    std::fs::write(place.path("input"), input).unwrap();
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&format!("set -o pipefail; {line}"))]);
    finish(command)
}

/// The ways a command is fed.
const WAYS: [&str; 5] = [
    "cat input | {} | cat",
    "{} input",
    "{} < input",
    "FULLBORE_TIER=portable {} -j3 input",
    "cat input | {} -j1 > out; status=$?; cat out; exit $status",
];

/// Checks output, exit status and messages in every way; `IN` in a message is the input.
pub(crate) fn every_way(command: &str, input: &[u8], expected: (&str, i32, &str)) {
    let (written, status, said) = expected;
    for way in WAYS {
        let line = way.replace("{}", &format!("{{fullbore}} {command}"));
        let ended = with_input(&line, input);
        assert_eq!(String::from_utf8_lossy(&ended.stdout), written, "{line}: {}", ended.stderr);
        let name = if line.ends_with(" input") && !line.contains('<') {
            "input"
        } else {
            "standard input"
        };
        assert_eq!(ended.stderr, said.replace("IN", name), "{line}");
        assert_eq!(status_text(ended.status), format!("exit {status}"), "{line}");
    }
}

const RECORDS: &[u8] =
    br#"{"id":1,"user":{"name":"Zo\u00eb"},"price":1.50,"tags":["a","b"],"n":null}
{"id":12345678901234567890123,"user":{"name":"tab\tquote\"comma, back\\"},"price":-0E+400,"tags":[]}
{"id":true,"user":7,"items":[{"k":"x"},{"j":2},{"k":[1, {"z" : 2}]}]}
"#;

#[test]
fn cells_are_decoded_and_numbers_stay_as_they_stand() {
    every_way(
        "json select .id .user.name .price .n .tags",
        RECORDS,
        (
            "1\tZoë\t1.50\tnull\t[\"a\",\"b\"]\n\
             12345678901234567890123\ttab\\tquote\"comma, back\\\\\t-0E+400\t\t[]\n\
             true\t\t\t\t\n",
            0,
            "",
        ),
    );
}

#[test]
fn other_formats() {
    every_way(
        "json select --csv --header .id .user.name .tags[0]",
        RECORDS,
        (
            ".id,.user.name,.tags[0]\n1,Zoë,a\n\
             12345678901234567890123,\"tab\tquote\"\"comma, back\\\",\ntrue,,\n",
            0,
            "",
        ),
    );
    every_way(
        "json select --json .id .user.name .n",
        RECORDS,
        (
            "{\"id\":1,\"user.name\":\"Zo\\u00eb\",\"n\":null}\n\
             {\"id\":12345678901234567890123,\"user.name\":\"tab\\tquote\\\"comma, back\\\\\"}\n\
             {\"id\":true}\n",
            0,
            "",
        ),
    );
    every_way(
        "json select --raw .user.name",
        RECORDS,
        ("Zoë\ntab\tquote\"comma, back\\\n\n", 0, ""),
    );
}

#[test]
fn elements_have_a_line_each() {
    every_way(
        "json select .id '.items[].k' '.items[].j'",
        RECORDS,
        ("true\tx\t\ntrue\t\t2\ntrue\t[1,{\"z\":2}]\t\n", 0, ""),
    );
}

#[test]
fn a_path_that_no_record_has_is_named_with_the_one_that_was_meant() {
    every_way(
        "json select .pirce .user.nmae",
        RECORDS,
        (
            "\t\n\t\n\t\n",
            0,
            "fullbore: json select: warning: no record has .pirce; did you mean .price?\n\
             fullbore: json select: warning: no record has .user.nmae; did you mean .user.name?\n",
        ),
    );
}

#[test]
fn a_missing_member_is_an_error_if_that_is_wanted() {
    every_way(
        "json select --strict .id .price",
        RECORDS,
        (
            "1\t1.50\n12345678901234567890123\t-0E+400\n",
            1,
            "fullbore: json select: IN: byte 177, line 3, column 1: no .price\n",
        ),
    );
}

#[test]
fn invalid_json_ends_the_run_after_the_records_before_it() {
    let many = "{\"id\":1}\n".repeat(300_000);
    let bad = [many.as_bytes(), b"{\"id\":01}\n{\"id\":2}\n"].concat();
    let said = "fullbore: json select: IN: byte 2700008, line 300001, column 8: invalid number\n\
                hint: --skip-invalid goes on after an error, at the next line\n";
    let ones = "1\n".repeat(300_000);
    every_way("json select .id", &bad, (&ones, 1, said));
    let said = "fullbore: json select: 1 error was skipped: IN: byte 2700008, line 300001, column 8: invalid number\n";
    every_way("json select .id --skip-invalid", &bad, (&(ones + "2\n"), 1, said));
}

#[test]
fn an_input_that_is_cut_at_any_byte_says_where_and_prints_what_was_whole() {
    let input = b"{\"a\":1}\n{\"a\":[2,\"\\u00e9\"]}\n7\n";
    for end in 0..=input.len() {
        let place = Sandbox::new();
        let (status, written) = slowly(&place, &input[..end]);
        let lines = [7, 26, 28].iter().filter(|whole| end >= **whole).count();
        let is_within = !matches!(end, 0 | 7 | 8 | 26..);
        assert_eq!(status, i32::from(is_within), "cut after {end} bytes");
        let expected = ["1", "[2,\"\\u00e9\"]", ""][..lines].iter().map(|line| format!("{line}\n"));
        let expected: String = expected.collect();
        assert_eq!(written, expected, "cut after {end} bytes");
    }
}

/// Feeds `json select .a` byte by byte, each when the one before was taken.
fn slowly(place: &Sandbox, input: &[u8]) -> (i32, String) {
    let mut child = place
        .fullbore(&["json", "select", ".a"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut feed = child.stdin.take().unwrap();
    for byte in input {
        feed.write_all(&[*byte]).unwrap();
        while fullbore_pipe::fill(&feed).is_ok_and(|fill| fill.0 > 0) {
            std::thread::yield_now();
        }
    }
    drop(feed);
    let mut written = String::new();
    child.stdout.take().unwrap().read_to_string(&mut written).unwrap();
    (wait_or_kill(&mut child, "select").code().unwrap(), written)
}

#[test]
fn a_record_comes_out_while_the_input_waits() {
    for record in ["{\"a\":5}\n", "{\"a\":5}", "{\n\"a\":\n5}"] {
        let place = Sandbox::new();
        let mut command: Command = place.fullbore(&["json", "select", ".a"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut feed = child.stdin.take().unwrap();
        feed.write_all(record.as_bytes()).unwrap();
        let mut got = [0; 2];
        child.stdout.as_mut().unwrap().read_exact(&mut got).unwrap();
        assert_eq!(&got, b"5\n");
        drop(feed);
        assert!(wait_or_kill(&mut child, "select").success());
    }
}

#[test]
fn a_large_record_and_records_over_several_lines() {
    let line = "(echo '{\"a\":1}'; printf '{\"b\":\"'; head -c 300M /dev/zero | tr '\\0' x; printf '\",\\n\"a\":2}\\n'; \
                echo '{\"a\":3}') | {fullbore} json select .a";
    let ended = with_input(line, b"");
    assert_eq!((&*ended.stdout, &*ended.stderr), (&b"1\n2\n3\n"[..], ""));
    let pretty = "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}\n".repeat(100_000);
    every_way("json select .a", pretty.as_bytes(), (&"1\n".repeat(100_000), 0, ""));
    let ended = with_input("{fullbore} json select .a --max-record 1K < input", &[b'1'; 2000]);
    assert_eq!(status_text(ended.status), "exit 1", "{}", ended.stderr);
}

#[test]
fn several_files_and_marks_at_their_beginnings() {
    let line = "printf '\\xEF\\xBB\\xBF{\"a\":1}' > x; : > y; printf '\\xEF\\xBB\\xBF\\n2\\n{\"a\":3}' > z; \
                {fullbore} json select .a x y - z < input";
    let ended = with_input(line, b"{\"a\":2}");
    assert_eq!((&*ended.stdout, &*ended.stderr), (&b"1\n2\n\n3\n"[..], ""));
    let ended = with_input("{fullbore} json select .a input missing; echo $?", b"{\"a\":2}");
    assert_eq!(&*ended.stdout, b"2\n2\n");
    assert!(ended.stderr.contains("reading: missing: No such file"), "{}", ended.stderr);
}

#[test]
fn it_says_more_if_asked() {
    let ended = with_input("{fullbore} json select -v -j2 .a input", b"{\"a\":1}\n");
    assert!(ended.stderr.starts_with("json select: 1 records, 8 B in "), "{}", ended.stderr);
}

#[test]
fn misuse_is_explained() {
    for (line, status, said) in [
        ("{fullbore} json select .a nothing", 2, "json select: reading: nothing: No such file"),
        ("{fullbore} json select .a ..", 2, "Is a directory"),
        ("{fullbore} json select .a <&-", 2, "json select: reading standard input"),
        ("echo 1 | {fullbore} json select . >&-", 2, "json select: writing standard output"),
        ("echo 1 | {fullbore} json select . > /dev/full", 2, "No space left"),
        ("{fullbore} json select .a < /dev/null", 0, ""),
        ("yes '{\"a\":1}' | {fullbore} json select .a | head -c 9; exit ${PIPESTATUS[1]}", 141, ""),
        ("{fullbore} gen random --bytes 1M | {fullbore} json select .a", 1, "byte 1, line 1"),
        ("{fullbore} json select input", 2, "a path begins with a dot: .input"),
        ("{fullbore} json select", 2, "PATH"),
        ("{fullbore} json select .a..b", 2, "\n  .a..b\n     ^\n"),
        ("{fullbore} json select '.a[].b' '.c[]'", 2, "two different arrays"),
        ("{fullbore} json select --csv --json .a", 2, "cannot be used with"),
        ("{fullbore} json select --max-record 0 .a", 2, "at least 1 byte"),
        (
            "echo '{\"a\":1,\"a\":2}' | {fullbore} json select --duplicates error .a",
            1,
            "occurs twice",
        ),
    ] {
        let ended = with_input(line, b"1");
        assert_eq!(status_text(ended.status), format!("exit {status}"), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
}
