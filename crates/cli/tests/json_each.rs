//! `json each` as a user meets it.

use crate::json_select::{every_way, with_input};
use crate::sandbox::status_text;

#[test]
fn elements_become_records() {
    let input = b"{\"items\":[1, {\"a\" : [2]},\n[3,\n 4],\"x\"], \"n\":{\"k\":1,\"l\":[]}}\n{\"items\":[]}\n{}";
    every_way("json each .items", input, ("1\n{\"a\" : [2]}\n[3,4]\n\"x\"\n", 0, ""));
    every_way("json each .n", input, ("1\n[]\n", 0, ""));
    every_way(
        "json each .m",
        input,
        ("", 0, "fullbore: json each: warning: no document has an array or object at .m\n"),
    );
    every_way("json each .", b"[1,[2],\n3]", ("1\n[2]\n3\n", 0, ""));
}

#[test]
fn a_document_larger_than_the_memory_that_is_allowed() {
    let line = "(printf '['; yes '{\"a\":\"01234567890123456789012345678901234567890123\"},' | head -n 10000000; printf '1]') | \
                (ulimit -v 400000; exec {fullbore} json each .) | tail -n 1; echo ${PIPESTATUS[1]}";
    let ended = with_input(line, b"");
    assert_eq!((&*ended.stdout, &*ended.stderr), (&b"1\n0\n"[..], ""));
}

#[test]
fn errors_have_their_place_and_can_be_skipped() {
    let input = b"[1,2]\n[3,x]\n[4]\n";
    let said = "fullbore: json each: IN: byte 10, line 2, column 4: expected a value\n\
                hint: --skip-invalid goes on after an error, at the next line\n";
    every_way("json each .", input, ("1\n2\n3\n", 1, said));
    let said = "fullbore: json each: 1 error was skipped: IN: byte 10, line 2, column 4: expected a value\n";
    every_way("json each . --skip-invalid", input, ("1\n2\n3\n4\n", 1, said));
    for (line, status, said) in [
        ("{fullbore} json each '.a[-1]'", 2, "^\n"),
        ("{fullbore} json each . --max-record 10 input", 1, "an element is larger than 10 B"),
        ("yes '[1]' | {fullbore} json each . | head -c 9; exit ${PIPESTATUS[1]}", 141, ""),
        ("echo '[1]' | {fullbore} json each . > /dev/full", 2, "No space left"),
        ("{fullbore} json each . ..", 2, "Is a directory"),
    ] {
        let ended = with_input(line, b"[\"0123456789abc\"]");
        assert_eq!(status_text(ended.status), format!("exit {status}"), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
}
