//! Several passes over a suite: their order, and what they find out that the rounds of one cannot.

use fullbore_lab::compare::{Verdict, compare};
use fullbore_lab::record::{Effort, LabRun, Stopped};
use fullbore_lab::statistics::DRIFT_FLOOR;

use crate::mock::{Mock, Noise, run_text, suite};

const SWEEP: &str =
    "show = \"seconds\"\nsetup = [\"make {x}\"]\nsweep = { x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }";

/// Half the width of the ratio of the second engine to the first.
fn half(record: &LabRun) -> f64 {
    record.suites[0].cases[0].points[0].engines[1].speed.unwrap().half_width().unwrap()
}

#[test]
fn a_point_comes_again_only_after_all_others() {
    let case = "show = \"seconds\"\nanswer = \"same\"\nsweep = { x = [1, 2] }";
    let first = suite(case, &[("a", "A{x} 1ms answer=y"), ("b", "B{x} 1ms answer=y")]);
    let second = "[[case]]\nname = \"d\"\ntitle = \"D\"\nshow = \"seconds\"\n\
                  [[case.engine]]\nname = \"c\"\nshell = \"C 1ms\"\n";
    let mut mock = Mock::default();
    let (record, memory) = run_text(&format!("{first}{second}"), Effort::Runs(5), &mut mock);
    let two = "A1 B1 A1 B1 A2 B2 A2 B2 C C";
    let checked = "(A1) (B1) A1 B1 A1 B1 (A2) (B2) A2 B2 A2 B2 (C) C C";
    assert_eq!(mock.log.join(" "), format!("{checked} {two} A1 B1 A2 B2 C"));
    for point in record.suites[0].cases.iter().flat_map(|case| &case.points) {
        assert_eq!((point.passes.as_slice(), point.rounds), ([2, 2, 1].as_slice(), 5));
    }
    assert_eq!(memory.cases, [1, 2, 2, 2, 2, 2], "a record after every case of every pass");
    assert_eq!(memory.suites, record.suites, "told once, with the last intervals");
}

#[test]
fn every_pass_makes_its_files_anew() {
    let case = "show = \"seconds\"\nsetup = [\"make all\", \"make {x}\"]\nsweep = { x = [1, 2] }";
    let mut mock = Mock::default();
    run_text(&suite(case, &[("a", "A 1ms")]), Effort::Runs(2), &mut mock);
    assert_eq!(mock.prepared, ["make all", "make 1", "make 2", "make all", "make 1", "make 2"]);
}

#[test]
fn a_suite_whose_time_is_over_is_not_visited_again() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2] }";
    let text = suite(case, &[("a", "A{x} 12000ms")]);
    let (record, _) = run_text(&text, Effort::Quick, &mut Mock::default());
    // One check and one round each are 48 s: another round would be more than a suite may take.
    for point in &record.suites[0].cases[0].points {
        assert_eq!((point.passes.as_slice(), point.stopped), ([1].as_slice(), Stopped::Budget));
    }
}

#[test]
fn later_passes_find_the_time_that_is_left_for_them() {
    let case = "show = \"seconds\"\nsweep = { x = [1, 2, 3] }";
    let restless = "A{x} 50ms 90ms 20ms 70ms 30ms 150ms";
    let text = suite(case, &[("a", "B{x} 60ms 20ms 80ms"), ("b", restless)]);
    let (record, _) = run_text(&text, Effort::Quick, &mut Mock::default());
    for point in &record.suites[0].cases[0].points {
        assert_eq!(point.passes.len(), 3);
        let (least, most) = (point.passes.iter().min(), point.passes.iter().max());
        assert!(most <= least.map(|least| 2 * least).as_ref(), "{:?}", point.passes);
    }
    assert!(record.elapsed_ns < 60_000_000_000);
}

#[test]
fn an_engine_that_fails_later_does_not_count() {
    let text = suite("show = \"seconds\"\nanswer = \"same\"", &[("a", "A 1ms answer=x")]);
    let mut mock = Mock { fails_from: Some(4), ..Mock::default() };
    let (record, _) = run_text(&text, Effort::Runs(6), &mut mock);
    let point = &record.suites[0].cases[0].points[0];
    assert!(record.has_failure() && point.engines[0].values.is_empty(), "{point:?}");
    assert_eq!((mock.log.len(), point.stopped), (4, Stopped::Nothing));
}

#[test]
fn drift_between_passes_widens_an_interval() {
    let run = |line: &str| {
        let text = suite("show = \"seconds\"", &[("a", "A 100ms"), ("b", line)]);
        half(&run_text(&text, Effort::Runs(12), &mut Mock::default()).0)
    };
    // The same twelve times, once each in a pass of its own, once mixed.
    let drifting = run("B 50ms 50ms 50ms 50ms 54ms 54ms 54ms 54ms 58ms 58ms 58ms 58ms");
    let mixed = run("B 50ms 54ms 58ms 54ms 58ms 50ms 54ms 50ms 54ms 58ms 50ms 58ms");
    assert!(drifting > 1.5 * mixed, "{drifting} and {mixed}");
}

#[test]
fn without_drift_an_interval_stays_tight() {
    let halves: Vec<f64> = (0..20)
        .map(|seed| {
            let noise = Some(Noise::new(seed, 0.0, 0.01));
            let mut mock = Mock { noise, ..Mock::default() };
            let text = suite(SWEEP, &[("a", "A{x} 100ms"), ("b", "B{x} 50ms")]);
            half(&run_text(&text, Effort::Runs(12), &mut mock).0)
        })
        .collect();
    let mean = halves.iter().sum::<f64>() / 20.0;
    // Twelve rounds that spread by 1.4 % have ± 1.3 %, their passes (four rounds each) ± 2.0 %, and the floor is ± 2 %.
    assert!((DRIFT_FLOOR..2.0 * DRIFT_FLOOR).contains(&mean), "{mean}: {halves:?}");
}

#[test]
fn one_engine_that_jumps_does_not_widen_the_others() {
    let jumping = ("j", "J{x} 10ms 10ms 40ms 40ms 20ms 20ms");
    let calm = [("a", "A{x} 100ms"), ("b", "B{x} 50ms"), ("c", "C{x} 20ms")];
    for calm in [&calm[..2], &calm[..]] {
        let engines = [calm, &[jumping]].concat();
        let (record, _) = run_text(&suite(SWEEP, &engines), Effort::Runs(6), &mut Mock::default());
        assert!(half(&record) < 1.5 * DRIFT_FLOOR, "{}", half(&record));
        let jumps = record.suites[0].cases[0].points[0].engines[calm.len()].speed.unwrap();
        assert!(jumps.half_width().unwrap() > 0.5, "{jumps:?}");
    }
}

/// A run of ten points whose engines drift by 5 % from pass to pass.
fn drifting(seed: u64) -> LabRun {
    let text =
        suite(SWEEP, &[("a", "A{x} 100ms"), ("b", "B{x} 50ms"), ("c", "C{x} 120ms 121ms 119ms")]);
    let mut mock = Mock { noise: Some(Noise::new(seed, 0.05, 0.01)), ..Mock::default() };
    run_text(&text, Effort::Runs(6), &mut mock).0
}

#[test]
fn ratios_of_a_second_run_lie_in_the_intervals_of_the_first_although_passes_drift() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..12 {
        let (first, second) = (drifting(2 * seed), drifting(2 * seed + 1));
        for ((.., one), (.., other)) in first.engine_runs().zip(second.engine_runs()) {
            let (Some(one), Some(other)) = (one.speed, other.speed) else { continue };
            all += 1;
            held += i32::from((one.low.unwrap()..=one.high.unwrap()).contains(&other.middle));
        }
    }
    assert_eq!(all, 240);
    assert!(held * 100 >= all * 95, "{held} of {all}");
}

#[test]
fn drift_is_no_regression_and_half_the_speed_is() {
    let (first, second) = (drifting(100), drifting(101));
    let comparison = compare(&first, &second);
    let told = comparison.rows.iter().filter(|row| row.verdict != Verdict::CannotTell);
    assert_eq!(told.count(), 0, "{comparison:?}");
    let mut slower = second;
    for engine in &mut slower.suites[0].cases[0].points[4].engines {
        let is_b = engine.engine == "b";
        engine.values.iter_mut().for_each(|value| *value *= if is_b { 2.0 } else { 1.0 });
    }
    let comparison = compare(&first, &slower);
    assert_eq!(comparison.regressions(0.95).count(), 1, "{comparison:?}");
}
