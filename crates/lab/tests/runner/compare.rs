//! Two runs: what is told, and what is not.

use fullbore_lab::compare::{Basis, Verdict, compare};
use fullbore_lab::record::{Effort, LabRun};

use crate::mock::{Mock, run_text, suite};

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
