//! Predictions from a run record: `fullbore what-if`, and `fullbore run --what-if`.

use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{Ended, Sandbox, finish, status_text, with_fixture};

/// A record of `seq 1 700000 | gzip -6 | wc -c`, in which gzip ran 93 % of the time.
fn recorded() -> String {
    let path = "../pipeline/tests/recordings/gzip_bottleneck.record.json";
    std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// `fullbore what-if OPTIONS` on this text.
fn what_if(options: &[&str], text: &str) -> Ended {
    let place = Sandbox::new();
    std::fs::write(place.path("run.json"), text).unwrap();
    place.run(&[&["what-if"], options, &["run.json"]].concat())
}

fn text(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.clone()).unwrap()
}

#[test]
fn the_table_has_the_recorded_time_first_and_then_the_best_change() {
    let ended = what_if(&[], &recorded());
    assert_eq!((status_text(ended.status).as_str(), ended.stderr.as_str()), ("exit 0", ""));
    let text = text(&ended);
    let lines: Vec<&str> = text.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(0), "change time then the limit is");
    assert_eq!(words(1), "as recorded 262 ms gzip");
    assert!(words(2).starts_with("gzip infinitely fast"), "{text}");
    assert!(lines.iter().any(|line| line.contains("gzip twice as fast")), "{text}");
    // The columns begin at the same places.
    let start = lines[0].find("then").unwrap();
    let rows = &lines[1..lines.len() - 1];
    let before = |line: &str| line.chars().take(start).collect::<String>();
    assert!(rows.iter().all(|line| before(line).ends_with("  ")), "{text}");
}

#[test]
fn json_has_every_change_the_shortest_time_first() {
    let ended = what_if(&["--json"], &recorded());
    assert_eq!(status_text(ended.status), "exit 0");
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(document["schema"], "fullbore.what-if/1");
    assert_eq!(document["elapsed_ns"], 261_789_963);
    assert_eq!(document["limit"]["kind"], "stage");
    let predictions = document["predictions"].as_array().unwrap();
    let times: Vec<u64> =
        predictions.iter().map(|one| one["elapsed_ns"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let kinds: Vec<&str> =
        predictions.iter().map(|one| one["change"]["kind"].as_str().unwrap()).collect();
    for kind in [
        "twice_as_fast",
        "infinitely_fast",
        "on_two_cpus",
        "pipe_of",
        "all_pipes_of",
        "buffer_of",
        "cpus",
    ] {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
}

#[test]
fn a_record_that_cannot_be_replayed_is_a_failure_that_says_why() {
    let other_schema = recorded().replace("fullbore.run/2", "fullbore.run/9");
    let mut without: Value = serde_json::from_str(&recorded()).unwrap();
    without["timeline"]["stages"] = Value::Array(Vec::new());
    let cases = [
        (other_schema, "its schema is 'fullbore.run/9'"),
        (without.to_string(), "has no timeline"),
        ("{\"schema\": \"fullbore.lab/1\"}".to_owned(), "its schema is 'fullbore.lab/1'"),
        ("seq 5".to_owned(), "expected"),
    ];
    for (text, why) in cases {
        let ended = what_if(&[], &text);
        assert_eq!(status_text(ended.status), "exit 2", "{why}");
        assert!(ended.stderr.starts_with("fullbore: what-if: run.json: "), "{}", ended.stderr);
        assert!(ended.stderr.contains(why), "{why}: {}", ended.stderr);
        assert_eq!(ended.stdout, b"", "{why}");
    }
    let missing = Sandbox::new().run(&["what-if", "none.json"]);
    assert_eq!(status_text(missing.status), "exit 2");
    assert!(missing.stderr.contains("none.json: No such file"), "{}", missing.stderr);
}

#[test]
fn run_shows_the_table_after_the_summary_and_leaves_the_output_alone() {
    let line = with_fixture(
        "{stage} --no-read --total 8M --compute-us 500 | {stage} --compute-us 2000 | wc -c",
    );
    let place = Sandbox::new();
    let ended = place.run(&["run", "--what-if", "--live", "never", &line]);
    assert_eq!(status_text(ended.status), "exit 0");
    assert_eq!(text(&ended).trim(), (8 << 20).to_string());
    let (summary, table) = ended.stderr.split_once("then the limit is").unwrap();
    assert!(summary.contains("running"), "{}", ended.stderr);
    assert!(table.contains("as recorded") && table.contains("infinitely fast"), "{table}");
}

#[test]
fn a_run_too_short_to_predict_ends_as_its_shell_did() {
    let place = Sandbox::new();
    let mut command = place.fullbore(&["run", "--what-if", "exit 3"]);
    command.env("TERM", "dumb");
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 3", "{}", ended.stderr);
}
