//! Two runs: what is told, and what is not.

use fullbore_lab::compare::{Basis, Verdict, compare, compare_builds};
use fullbore_lab::record::{Effort, LabRun};

use crate::mock::{Mock, Noise, run_builds, run_text, suite};

fn record(engines: &[(&str, &str)]) -> LabRun {
    let text = suite("show = \"seconds\"", engines);
    run_text(&text, Effort::Runs(12), &mut Mock::default()).0
}

const STEADY: (&str, &str) = ("base", "BASE 100ms 103ms 98ms 101ms 99ms 102ms 97ms");

#[test]
fn a_run_compared_with_itself_shows_nothing() {
    let run = record(&[STEADY, ("b", "B 50ms 60ms 40ms 45ms"), ("c", "C 9ms")]);
    let comparison = compare(&run, &run);
    assert_eq!(comparison.rows.len(), 2);
    assert!(comparison.rows.iter().all(|row| row.verdict == Verdict::CannotTell));
    assert!(comparison.unmatched.is_empty() && comparison.warnings.is_empty(), "{comparison:?}");
    assert_eq!(comparison.regressions(0.95).count(), 0);
}

#[test]
fn ten_percent_slower_is_found_and_named() {
    let before = record(&[STEADY, ("b", "B 50ms 51ms 49ms"), ("c", "C 20ms 21ms")]);
    let after = record(&[STEADY, ("b", "B 55ms 56ms 54ms"), ("c", "C 20ms 21ms")]);
    let comparison = compare(&before, &after);
    let slower: Vec<_> = comparison.regressions(0.95).map(|row| row.engine.as_str()).collect();
    assert_eq!(slower, ["b"]);
    let back = compare(&after, &before);
    assert_eq!(back.rows.iter().filter(|row| row.verdict == Verdict::Faster).count(), 1);
}

#[test]
fn a_slower_machine_is_no_slower_engine() {
    let before = record(&[("base", "BASE 100ms 101ms"), ("b", "B 50ms 51ms")]);
    let after = record(&[("base", "BASE 200ms 202ms"), ("b", "B 100ms 102ms")]);
    assert!(compare(&before, &after).rows.iter().all(|row| row.verdict == Verdict::CannotTell));
}

#[test]
fn an_engine_that_is_alone_is_compared_by_its_value() {
    let (before, after) = (record(&[("a", "A 10ms 11ms")]), record(&[("a", "A 20ms 21ms")]));
    let comparison = compare(&before, &after);
    assert_eq!(comparison.rows[0].basis, Basis::Value);
    assert_eq!(comparison.rows[0].verdict, Verdict::Slower);
}

#[test]
fn less_than_the_limit_is_slower_but_no_regression() {
    let (before, after) = (record(&[("a", "A 10ms")]), record(&[("a", "A 11ms")]));
    let comparison = compare(&before, &after);
    assert_eq!(comparison.rows[0].verdict, Verdict::Slower);
    assert_eq!((comparison.regressions(0.95).count(), comparison.regressions(0.9).count()), (1, 0));
}

#[test]
fn points_are_the_same_by_their_values_however_they_are_told() {
    let text =
        suite("show = \"seconds\"\nsweep = { size = [64, \"4K\"] }", &[("a", "A {size} 9ms")]);
    let before = run_text(&text, Effort::Runs(3), &mut Mock::default()).0;
    let mut after = before.clone();
    after.suites[0].cases[0].sweep[0].is_size = false;
    let comparison = compare(&before, &after);
    assert_eq!((comparison.rows.len(), comparison.unmatched.len()), (2, 0), "{comparison:?}");
}

#[test]
fn what_only_one_run_has_is_told() {
    let before = record(&[STEADY, ("b", "B 1ms")]);
    let mut after = record(&[STEADY, ("b", "B fail")]);
    after.machine.host.kernel = "9".to_owned();
    let comparison = compare(&before, &after);
    assert!(
        comparison.unmatched.iter().any(|line| line.contains(" b: only in the first")),
        "{comparison:?}"
    );
    assert!(comparison.warnings.iter().any(|line| line.contains("the kernel")), "{comparison:?}");
}

/// A run of this build beside the one before, on a machine whose times vary by 10 % from trial to trial.
fn two_builds(seed: u64, slow: Option<(&'static str, f64)>) -> LabRun {
    let text = suite(
        "show = \"seconds\"",
        &[("peer", "PEER 30ms"), ("seal", "{fullbore} 50ms"), ("pair", "x{fullbore} 20ms")],
    );
    let mut mock = Mock { noise: Some(Noise::new(seed, 0.0, 0.1)), slow, ..Mock::default() };
    run_builds(&text, Effort::Runs(40), &mut mock)
}

#[test]
fn only_what_runs_fullbore_is_measured_with_the_build_before_in_front_of_it() {
    let run = two_builds(0, None);
    let names: Vec<_> = run.engine_runs().map(|(.., engine)| engine.engine.as_str()).collect();
    assert_eq!(names, ["seal.before", "seal", "pair.before", "pair"]);
    assert_eq!(run.suites[0].cases[0].baseline, "seal.before");
}

#[test]
fn a_build_that_is_ten_percent_slower_in_one_stage_is_found_on_a_restless_machine() {
    let (mut found, mut falsely) = (0, 0);
    for seed in 0..40 {
        let slower = compare_builds(&two_builds(seed, Some(("NEW", 1.1))));
        assert_eq!(slower.rows.len(), 2);
        let told: Vec<_> = slower.regressions(0.95).map(|row| row.engine.as_str()).collect();
        found += i32::from(told.contains(&"seal"));
        let same = compare_builds(&two_builds(100 + seed, None));
        falsely += i32::from(same.rows.iter().any(|row| row.verdict != Verdict::CannotTell));
    }
    assert!(found >= 34, "{found} of 40 found");
    assert!(falsely <= 2, "{falsely} of 40 told although nothing had changed");
}

#[test]
fn a_run_of_one_build_has_no_builds_to_compare() {
    assert!(compare_builds(&record(&[STEADY, ("b", "B 50ms")])).rows.is_empty());
}
