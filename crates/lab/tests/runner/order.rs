//! Who runs when, and for how long.

use fullbore_lab::record::{Effort, Stopped};

use crate::mock::{Mock, run_text, suite};

const SECONDS: &str = "show = \"seconds\"";

#[test]
fn engines_run_in_turn_after_one_trial_each_that_does_not_count() {
    let mut mock = Mock::default();
    let text = suite(SECONDS, &[("a", "A 10ms"), ("b", "B 20ms")]);
    let (record, _) = run_text(&text, Effort::Runs(3), &mut mock);
    assert_eq!(mock.log, ["(A)", "(B)", "A", "B", "A", "B", "A", "B"]);
    let point = &record.suites[0].cases[0].points[0];
    assert_eq!((point.rounds, point.stopped), (3, Stopped::Rounds));
    assert_eq!(point.passes, [1, 1, 1]);
    assert_eq!(point.engines[1].values, [0.02; 3]);
    assert!(record.is_complete);
}

#[test]
fn all_engines_are_checked_in_their_order_before_any_is_timed() {
    let mut mock = Mock::default();
    let text = suite("show = \"seconds\"\nbaseline = \"b\"", &[("a", "A 1ms"), ("b", "B 1ms")]);
    run_text(&text, Effort::Runs(1), &mut mock);
    assert_eq!(mock.log, ["(A)", "(B)", "A", "B"]);
}

#[test]
fn steady_engines_stop_early_and_restless_ones_go_on() {
    let rounds = |line: &str| {
        let text = suite(SECONDS, &[("a", "A 100ms"), ("b", line)]);
        let (record, _) = run_text(&text, Effort::Usual, &mut Mock::default());
        let point = &record.suites[0].cases[0].points[0];
        (point.rounds, point.stopped)
    };
    assert_eq!(rounds("B 50ms"), (6, Stopped::Tight));
    let (restless, _) = rounds("B 50ms 90ms 20ms 70ms 30ms 150ms");
    assert!(restless > 20, "{restless} rounds");
}

#[test]
fn the_budget_ends_a_point_but_never_before_the_least_rounds() {
    let text = suite(SECONDS, &[("a", "A 4000ms 9000ms 2000ms"), ("b", "B 5000ms 1000ms 8000ms")]);
    let (record, _) = run_text(&text, Effort::Quick, &mut Mock::default());
    let point = &record.suites[0].cases[0].points[0];
    // A round takes about 10 s: the third pass has time for a second one.
    assert_eq!((point.passes.as_slice(), point.stopped), ([1, 1, 2].as_slice(), Stopped::Budget));
    assert!(record.elapsed_ns < 60_000_000_000);
}

#[test]
fn a_suite_that_is_far_over_its_time_leaves_points_out_and_says_so() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3] }";
    let text = suite(case, &[("a", "A{x} 30000ms")]);
    let (record, _) = run_text(&text, Effort::Quick, &mut Mock::default());
    let points = &record.suites[0].cases[0].points;
    assert_eq!(points.len(), 3);
    let outcomes: Vec<_> = points.iter().map(|point| point.engines[0].outcome.clone()).collect();
    assert_eq!(outcomes[0], fullbore_lab::record::Outcome::Measured);
    assert_eq!(outcomes[2], fullbore_lab::record::Outcome::NoTime);
}

#[test]
fn quick_has_values_of_its_own() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3] }\nfixed = { y = 7 }\nquick = { x = [2], y = 8 }";
    let text = suite(case, &[("a", "A-{x}-{y} 1ms")]);
    let mut mock = Mock::default();
    run_text(&text, Effort::Quick, &mut mock);
    assert_eq!(mock.log[0], "(A-2-8)");
    let mut mock = Mock::default();
    run_text(&text, Effort::Runs(1), &mut mock);
    assert_eq!(mock.log, ["(A-1-7)", "A-1-7", "(A-2-7)", "A-2-7", "(A-3-7)", "A-3-7"]);
}

#[test]
fn a_line_of_setup_runs_once_for_each_text() {
    let case = "show = \"seconds\"\nsetup = [\"make all\", \"make {x}\"]\nsweep = { x = [1, 2] }";
    let mut mock = Mock::default();
    run_text(&suite(case, &[("a", "A 1ms")]), Effort::Runs(1), &mut mock);
    assert_eq!(mock.prepared, ["make all", "make 1", "make 2"]);
}

#[test]
fn time_left_falls_to_the_last_points_share() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3, 4] }";
    let text = suite(case, &[("a", "A{x} 1000ms")]);
    let (_, memory) = run_text(&text, Effort::Runs(3), &mut Mock::default());
    let later = &memory.left_ns[4..];
    assert!(later.is_sorted_by(|a, b| a >= b), "{later:?}");
    assert!(*later.last().unwrap() < 6_000_000_000, "{later:?}");
}

#[test]
fn ctrl_c_in_the_first_pass_keeps_the_points_that_are_done() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3] }";
    let text = suite(case, &[("a", "A{x} 1ms"), ("b", "B 1ms")]);
    // In its first visit each point has 2 checks and 2 trials: the seventh trial is in the second point.
    let mut mock = Mock { interrupt_after: Some(7), ..Mock::default() };
    let (record, memory) = run_text(&text, Effort::Runs(2), &mut mock);
    assert_eq!(mock.log.len(), 7, "nothing runs after Ctrl-C");
    assert!(!record.is_complete);
    assert_eq!(record.suites[0].cases[0].points.len(), 1);
    assert_eq!((memory.cases, memory.suites), (vec![1], record.suites));
}

#[test]
fn ctrl_c_in_a_later_pass_keeps_the_rounds_of_the_earlier_ones() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3] }";
    let text = suite(case, &[("a", "A{x} 1ms"), ("b", "B 1ms")]);
    // The first pass has 12 trials, and the second visit of the first point 2: then half a round of the second.
    let mut mock = Mock { interrupt_after: Some(16), ..Mock::default() };
    let (record, memory) = run_text(&text, Effort::Runs(2), &mut mock);
    assert_eq!(mock.log.len(), 16);
    assert!(!record.is_complete);
    let points = &record.suites[0].cases[0].points;
    let passes: Vec<_> = points.iter().map(|point| point.passes.as_slice()).collect();
    assert_eq!(passes, [[1, 1].as_slice(), &[1], &[1]]);
    for point in points {
        let mut counts = point.engines.iter().map(|engine| engine.values.len());
        assert!(counts.all(|count| count == point.rounds as usize), "{point:?}");
    }
    assert_eq!(memory.cases, [1, 1]);
}

#[test]
fn ctrl_c_at_once_leaves_no_empty_case() {
    let text = suite(SECONDS, &[("a", "A 1ms")]);
    let mut mock = Mock { interrupt_after: Some(1), ..Mock::default() };
    let (record, _) = run_text(&text, Effort::Runs(2), &mut mock);
    assert!(record.suites.iter().all(|suite| suite.cases.is_empty()));
}
