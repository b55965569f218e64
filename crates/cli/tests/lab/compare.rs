//! What got faster or slower: between two records, and between two builds in one.

use super::{TINY, lab, out, place, record};
use crate::sandbox::{Sandbox, fullbore, status_text};

/// A record with the times of one engine multiplied.
fn slowed(place: &Sandbox, engine: &str, factor: f64) {
    let mut run = record(place, "a.json");
    for case in &mut run.suites[0].cases {
        for point in &mut case.points {
            for engine_run in point.engines.iter_mut().filter(|run| run.engine == engine) {
                engine_run.values.iter_mut().for_each(|value| *value *= factor);
            }
        }
    }
    std::fs::write(place.path("b.json"), serde_json::to_vec(&run).unwrap()).unwrap();
}

#[test]
fn compare_finds_nothing_in_the_same_run_and_a_regression_in_a_slower_one() {
    let place = place(TINY);
    lab(&place, &["--runs", "6", "tiny.toml/count", "--report", "a.json"]);
    let same = lab(&place, &["compare", "a.json", "a.json"]);
    assert_eq!(status_text(same.status), "exit 0", "{}", same.stderr);
    assert!(out(&same).contains("2 compared: 0 faster, 0 slower"), "{}", out(&same));
    // A thousandth of the speed: beyond any noise of six rounds.
    slowed(&place, "cat", 0.001);
    let slower = lab(&place, &["compare", "a.json", "b.json"]);
    assert_eq!(status_text(slower.status), "exit 1", "{}", out(&slower));
    assert!(
        out(&slower).contains("SLOWER") && out(&slower).contains("tiny/count size 64 KiB cat"),
        "{}",
        out(&slower)
    );
    let tolerant = lab(&place, &["compare", "a.json", "b.json", "--fail-below", "0.0001"]);
    assert_eq!(status_text(tolerant.status), "exit 0", "{}", out(&tolerant));
    let faster = lab(&place, &["compare", "b.json", "a.json"]);
    assert_eq!(status_text(faster.status), "exit 0", "{}", out(&faster));
    assert!(out(&faster).contains("faster"));
}

/// One case that runs fullbore as a program, and one that does not.
const BUILDS: &str = r#"
about = "Two builds."

[[case]]
name = "lines"
title = "Lines"
show = "seconds"
answer = "same"

[[case.engine]]
name = "head"
shell = "head -c 100000 /dev/zero"

[[case.engine]]
name = "gen"
shell = "{fullbore} gen zero --bytes 100000"

[[case]]
name = "other"
title = "Other"
show = "seconds"

[[case.engine]]
name = "true"
shell = "true"
"#;

#[test]
fn another_build_is_measured_beside_this_one_and_a_slower_one_is_told() {
    let place = Sandbox::new();
    std::fs::write(place.path("builds.toml"), BUILDS).unwrap();
    // A build that takes its time, by a relative path.
    let slow = format!("#!/bin/sh\nsleep 0.2\nexec {} \"$@\"\n", fullbore().display());
    place.script("before", &slow);
    let args = ["--runs", "8", "builds.toml", "--against", "before", "--report", "both.json"];
    let ended = lab(&place, &args);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let tables = out(&ended);
    assert!(!tables.contains("head") && !tables.contains("Other"), "{tables}");
    let compared = lab(&place, &["compare", "both.json"]);
    assert_eq!(status_text(compared.status), "exit 0", "{}", compared.stderr);
    let text = out(&compared);
    assert!(text.starts_with("faster") && text.contains("builds/lines gen"), "{text}");
    assert!(text.contains("1 compared: 1 faster, 0 slower"), "{text}");

    let ended = lab(&place, &["--runs", "2", "builds.toml", "--report", "one.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let alone = lab(&place, &["compare", "one.json"]);
    assert_eq!(status_text(alone.status), "exit 2");
    assert!(
        alone.stderr.contains("one.json: it contains only one build of fullbore"),
        "{}",
        alone.stderr
    );
}

#[test]
fn records_of_different_suites_cannot_be_compared() {
    let place = place(TINY);
    lab(&place, &["--runs", "1", "tiny.toml/count", "--report", "a.json"]);
    lab(&place, &["--runs", "1", "tiny.toml/second", "--report", "b.json"]);
    let ended = lab(&place, &["compare", "a.json", "b.json"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("no engine was measured in both"), "{}", ended.stderr);
}
