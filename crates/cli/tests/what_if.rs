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

/// What `--faster` predicts of the record, in milliseconds.
fn faster(words: &[&str]) -> f64 {
    let options: Vec<&str> = words.iter().flat_map(|word| ["--faster", *word]).collect();
    let ended = what_if(&[&options[..], &["--json"]].concat(), &recorded());
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let predictions = document["predictions"].as_array().unwrap();
    assert_eq!(predictions.len(), 1, "only what was asked for");
    assert_eq!(predictions[0]["change"]["kind"], "faster");
    predictions[0]["elapsed_ns"].as_f64().unwrap() / 1e6
}

#[test]
fn a_stage_can_be_any_number_of_times_as_fast() {
    let by_name = faster(&["gzip=1.5"]);
    assert!((160.0..200.0).contains(&by_name), "{by_name} ms of 262");
    assert!((faster(&["2=1.5"]) - by_name).abs() < 0.001);
    assert!((faster(&["gzip=1"]) - 261.8).abs() < 1.0);
    let slower = faster(&["gzip=0.5"]);
    assert!((470.0..530.0).contains(&slower), "{slower} ms of 262");
    // Several at once: with gzip out of the way, seq is what remains.
    assert!(faster(&["gzip=100", "seq=4"]) < 0.8 * faster(&["gzip=100"]));
    let table = what_if(&["--faster", "gzip=0.5", "--faster", "seq=3"], &recorded());
    let table = text(&table);
    assert!(table.contains("gzip 0.5 times as fast and seq 3 times as fast"), "{table}");
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn a_wrong_factor_or_stage_is_named_with_what_to_try() {
    let cases = [
        (vec!["gzip"], "a stage and a factor are needed, as in sort=2"),
        (vec!["=2"], "the stage is missing"),
        (vec!["gzip=0"], "'0' is not a factor above 0"),
        (vec!["gzip=-2"], "'-2' is not a factor above 0"),
        (vec!["gzip=fast"], "twice as fast is gzip=2, half as fast gzip=0.5"),
        (vec!["gzip=inf"], "'inf' is not a factor above 0"),
        (vec!["gzpi=2"], "hint: did you mean gzip? its stages are 1 seq, 2 gzip, 3 wc"),
        (vec!["7=2"], "--faster 7: the record has no such stage"),
        (vec!["gzip=2", "2=3"], "stage 2 already has a factor"),
    ];
    for (words, why) in cases {
        let options: Vec<&str> = words.iter().flat_map(|word| ["--faster", *word]).collect();
        let ended = what_if(&options, &recorded());
        assert_eq!(status_text(ended.status), "exit 2", "{words:?}");
        assert!(ended.stderr.contains(why), "{words:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, b"", "{words:?}");
    }
    let twice = recorded().replace("\"gzip\"", "\"wc\"");
    let ended = what_if(&["--faster", "wc=2"], &twice);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("stages 2 and 3 run it"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: say which one, as in --faster 2=2"), "{}", ended.stderr);
}

/// A run of more than a second that its second stage holds back.
const HELD_BACK: &str =
    "{stage} --no-read --total 8M --compute-us 1000 | {stage} --compute-us 9000 | wc -c";

#[test]
fn the_verdict_and_the_page_say_what_a_change_would_bring() {
    let place = Sandbox::new();
    let page = place.path("run.html");
    let record = place.path("run.json");
    let [page, record] = [&page, &record].map(|path| path.to_str().unwrap());
    let line = with_fixture(HELD_BACK);
    let ended = place.run(&["run", "--live", "never", "--report", page, "--report", record, &line]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let summary = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let clause = "; with fullbore-fixture (stage 2) twice as fast: ";
    assert!(summary.contains(clause), "{}", ended.stderr);
    assert!(summary.contains("s, then "), "{}", ended.stderr);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    let predictions = record["what_if"]["predictions"].as_array().unwrap();
    assert!(predictions.len() > 6, "{predictions:?}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("What a change would bring"), "the table is missing");
}

#[test]
fn nothing_is_predicted_for_a_run_that_nobody_is_told_about() {
    let place = Sandbox::new();
    let record = place.record(&[], HELD_BACK);
    assert!(record.elapsed_ns > 1_000_000_000, "{}", record.elapsed_ns);
    assert_eq!(record.what_if, None);
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
