//! `json where` as a user meets it.

use crate::json_select::{every_way, with_input};
use crate::sandbox::status_text;

const LOG: &[u8] = b"{\"status\":200, \"path\":\"/\", \"at\":\"2026-11-23T23:30:00-02:00\"}\n\
{\"status\":503,\"path\":\"/api/x\",\"at\":\"2026-11-23T10:00:00Z\",\"tags\":[\"a\",\"b\"]}\n\
{\"status\":5.03e2,\n \"path\":\"/api/y\"}\n";

#[test]
fn records_for_which_it_is_true_come_out_as_they_stand() {
    let second = "{\"status\":503,\"path\":\"/api/x\",\"at\":\"2026-11-23T10:00:00Z\",\"tags\":[\"a\",\"b\"]}\n";
    let third = "{\"status\":5.03e2,\n \"path\":\"/api/y\"}\n";
    every_way(
        "json where '.status >= 500 && .path ~ \"^/api/\"'",
        LOG,
        (&format!("{second}{third}"), 0, ""),
    );
    every_way("json where 'day .at == \"2026-11-23\"'", LOG, (second, 0, ""));
    every_way("json where 'not exists .at'", LOG, (third, 0, ""));
    every_way("json where '.tags[] == \"b\"'", LOG, (second, 0, ""));
    every_way("json where '.status < 0'", LOG, ("", 0, ""));
    every_way(
        "json where '.staus == 503'",
        LOG,
        ("", 0, "fullbore: json where: warning: no record has .staus; did you mean .status?\n"),
    );
}

#[test]
fn a_large_stream_keeps_its_order() {
    let line = "seq 200000 | sed 's/.*/{\"a\":&}/' > all; {fullbore} json where -j2 '.a > 0' all | cmp - all && \
                cat all | {fullbore} json where '.a > 100000' | cmp - <(tail -n 100000 all)";
    let ended = with_input(line, b"");
    assert_eq!((ended.stderr.as_str(), status_text(ended.status).as_str()), ("", "exit 0"));
}

#[test]
fn misuse_is_explained() {
    for (line, status, said) in [
        ("{fullbore} json where '.a ='", 2, "^\n"),
        ("{fullbore} json where .a == 1", 2, "put all of it in single quotes"),
        ("{fullbore} json where", 2, "EXPRESSION"),
        ("{fullbore} json where .a nothing", 2, "No such file"),
        ("echo '[1' | {fullbore} json where .a", 1, "the input ends within a document"),
        (
            "yes '{\"a\":true}' | {fullbore} json where .a | head -c 9; exit ${PIPESTATUS[1]}",
            141,
            "",
        ),
    ] {
        let ended = with_input(line, b"1");
        assert_eq!(status_text(ended.status), format!("exit {status}"), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
}
