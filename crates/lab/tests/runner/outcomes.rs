//! Whose times count.

use fullbore_lab::record::{Effort, EngineRun, LabRun, Outcome};

use crate::mock::{Mock, run_text, suite};

const SAME: &str = "show = \"seconds\"\nanswer = \"same\"";

fn engines(record: &LabRun) -> &[EngineRun] {
    &record.suites[0].cases[0].points[0].engines
}

#[test]
fn the_time_of_a_wrong_answer_never_counts() {
    let mut mock = Mock::default();
    let text =
        suite(SAME, &[("a", "A 10ms answer=x"), ("b", "B 1ms answer=y"), ("c", "C 5ms answer=x")]);
    let (record, _) = run_text(&text, Effort::Runs(2), &mut mock);
    let [a, b, c] = engines(&record) else { panic!() };
    assert_eq!(b.outcome, Outcome::WrongAnswer { expected: "x".into(), found: "y".into() });
    assert!(b.values.is_empty() && b.value.is_none() && b.speed.is_none());
    assert!(!mock.log.contains(&"B".to_owned()), "{:?}", mock.log);
    assert_eq!((a.values.len(), c.values.len()), (2, 2));
    assert!((c.speed.unwrap().middle - 2.0).abs() < 1e-9);
    assert!(record.has_wrong_answer() && !record.has_failure());
}

#[test]
fn what_most_engines_answer_is_right_even_against_the_baseline() {
    let mut mock = Mock::default();
    let text =
        suite(SAME, &[("a", "A 10ms answer=y"), ("b", "B 1ms answer=x"), ("c", "C 5ms answer=x")]);
    let (record, _) = run_text(&text, Effort::Runs(2), &mut mock);
    let [a, b, c] = engines(&record) else { panic!() };
    assert_eq!(a.outcome, Outcome::WrongAnswer { expected: "x".into(), found: "y".into() });
    assert_eq!((b.values.len(), c.values.len()), (2, 2));
    assert_eq!(b.speed, None, "there is no baseline to be compared with");
}

#[test]
fn without_a_majority_nobody_is_blamed_and_no_time_counts() {
    let text = suite(SAME, &[("a", "A 10ms answer=x"), ("b", "B 1ms answer=y")]);
    let (record, _) = run_text(&text, Effort::Runs(2), &mut Mock::default());
    let [a, b] = engines(&record) else { panic!() };
    let disputed = |found: &str, other: &str, others: &str| Outcome::Disputed {
        found: found.into(),
        other: other.into(),
        others: others.into(),
    };
    assert_eq!(a.outcome, disputed("x", "b", "y"));
    assert_eq!(b.outcome, disputed("y", "a", "x"));
    assert!(a.values.is_empty() && b.values.is_empty());
    assert!(record.has_wrong_answer(), "the exit status tells it");

    let four = [
        ("a", "A 1ms answer=x"),
        ("b", "B 1ms answer=y"),
        ("c", "C 1ms answer=y"),
        ("d", "D 1ms answer=x"),
    ];
    let (record, _) = run_text(&suite(SAME, &four), Effort::Runs(1), &mut Mock::default());
    assert!(engines(&record).iter().all(|run| matches!(run.outcome, Outcome::Disputed { .. })));
}

#[test]
fn an_expected_answer_is_filled_in_and_binds_the_baseline_too() {
    let case = "show = \"seconds\"\nfixed = { n = 7 }\nexpect = \"{n}\"";
    let text = suite(case, &[("a", "A 1ms answer=8"), ("b", "B 1ms answer={n}")]);
    let (record, _) = run_text(&text, Effort::Runs(1), &mut Mock::default());
    assert!(matches!(engines(&record)[0].outcome, Outcome::WrongAnswer { .. }));
    assert_eq!(engines(&record)[1].outcome, Outcome::Measured);
    assert_eq!(engines(&record)[1].speed, None, "there is no baseline to be compared with");
}

#[test]
fn an_answer_that_is_not_judged_is_told() {
    let text = suite(
        SAME,
        &[("a", "A 1ms answer=x"), ("b", "B 1ms answer=y\"\nunchecked = true\nlabel = \"b")],
    );
    let (record, _) = run_text(&text, Effort::Runs(1), &mut Mock::default());
    let b = &engines(&record)[1];
    assert_eq!(b.outcome, Outcome::Measured);
    assert!(b.remark.as_ref().unwrap().contains("'y', not 'x'"), "{b:?}");
}

#[test]
fn an_engine_without_an_answer_fails_where_one_is_asked_for() {
    let text = suite(SAME, &[("a", "A 1ms answer=x"), ("b", "B 1ms")]);
    let (record, _) = run_text(&text, Effort::Runs(1), &mut Mock::default());
    assert!(
        matches!(&engines(&record)[1].outcome, Outcome::Failed { why } if why.contains("answer"))
    );
}

#[test]
fn what_is_missing_is_told_and_the_others_go_on() {
    let text = suite(
        "show = \"seconds\"",
        &[
            ("a", "A 1ms\"\nneeds = [{ program = \"absent\", install = \"get it\" }]\nlabel = \"a"),
            ("b", "B fail"),
            ("c", "C 1ms"),
        ],
    );
    let mut mock = Mock::default();
    let (record, _) = run_text(&text, Effort::Runs(2), &mut mock);
    let [a, b, c] = engines(&record) else { panic!() };
    let (what, remedy) = ("absent is not installed".to_owned(), "get it".to_owned());
    assert_eq!(a.outcome, Outcome::NotAvailable { what, remedy });
    assert_eq!(b.outcome, Outcome::Failed { why: "exit status 3".into() });
    assert_eq!(c.values.len(), 2);
    assert_eq!(mock.log, ["(B)", "(C)", "C", "C"]);
    assert!(record.has_failure());
}

#[test]
fn a_setup_that_fails_is_the_reason_of_every_engine() {
    let text = suite("show = \"seconds\"\nsetup = [\"broken\"]", &[("a", "A 1ms"), ("b", "B 1ms")]);
    let mut mock = Mock::default();
    let (record, _) = run_text(&text, Effort::Runs(1), &mut mock);
    for engine in engines(&record) {
        assert_eq!(engine.outcome, Outcome::Failed { why: "setup: no space".into() });
    }
    assert!(mock.log.is_empty());
}

#[test]
fn rates_come_from_what_the_suite_says_is_moved() {
    let case = "show = \"bytes/s\"\nbytes = \"2 * {size}\"\nfixed = { size = \"500kB\" }";
    let text = suite(case, &[("a", "A 1ms")]);
    let (record, _) = run_text(&text, Effort::Runs(2), &mut Mock::default());
    assert_eq!(engines(&record)[0].values, [1e9, 1e9]);
}

#[test]
fn wild_values_and_drift_are_flagged_and_kept() {
    let text = suite(
        "show = \"seconds\"",
        &[
            ("a", "A 10ms 11ms 10ms 9ms 11ms 10ms 9ms 300ms"),
            ("b", "B 10ms 11ms 12ms 13ms 14ms 15ms 16ms 17ms"),
        ],
    );
    let (record, _) = run_text(&text, Effort::Runs(8), &mut Mock::default());
    let [a, b] = engines(&record) else { panic!() };
    assert_eq!((a.outliers, a.drift_percent), (1, None));
    assert!((a.value.unwrap().middle - 0.01).abs() < 1e-9, "a wild value moves no median: {a:?}");
    assert!(b.drift_percent.is_some_and(|percent| percent > 30.0), "{b:?}");
}
