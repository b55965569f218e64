use super::*;
use crate::disk::bins::{Bins, rounded, value_of};
use crate::disk::record::{DirectionRun, LatencyRun, PassRun, SCHEMA, Target, Timeline};
use crate::disk::summary::summarise;
use crate::disk::{Options, suite};
use crate::record::Effort;

/// A generator for tests: the same numbers each time.
struct Noise(u64);

impl Noise {
    /// About normal, of variance 1.
    fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        }
        sum - 6.0
    }
}

/// A record of six workloads whose passes differ by `drift` and whose windows by `spread` (as parts), `speed` times as fast.
fn record(seed: u64, drift: f64, spread: f64, speed: f64, passes: usize) -> DiskRun {
    let mut noise = Noise(seed);
    let workloads = suite(Effort::Quick, None).unwrap().workloads.into_iter().enumerate();
    let workloads = workloads.map(|(place, workload)| {
        let rate = 10_000.0 * (place + 1) as f64 * speed;
        let passes = (0..passes).map(|_| pass(&mut noise, rate, drift, spread));
        WorkloadRun {
            passes: passes.collect(),
            name: workload.name,
            title: workload.title,
            stands_for: String::new(),
            options: workload.options,
            command: String::new(),
            trouble: None,
            summaries: Vec::new(),
        }
    });
    let mut run = DiskRun {
        schema: SCHEMA.to_owned(),
        fullbore_version: String::new(),
        label: None,
        command: String::new(),
        started_unix_ns: 0,
        elapsed_ns: 0,
        is_complete: true,
        effort: None,
        profile: String::new(),
        tester: "fio-3.33".to_owned(),
        hosts: Vec::new(),
        machine: None,
        target: Some(Target::default()),
        workloads: workloads.collect(),
        notes: Vec::new(),
    };
    summarise(&mut run);
    run
}

fn pass(noise: &mut Noise, rate: f64, drift: f64, spread: f64) -> PassRun {
    let rate = rate * (1.0 + drift * noise.next());
    let windows: Vec<f64> = (0..12).map(|_| rate * (1.0 + spread * noise.next())).collect();
    let iops = windows.iter().sum::<f64>() / windows.len() as f64;
    // 256 requests are always on their way.
    let latency = 256.0 / iops * 1e9;
    let mut bins = Bins::default();
    // As many requests as a real pass has, so many that percentiles differ by the rate alone.
    for place in 1..2_000 {
        let share = f64::from(place) / 2_000.0;
        let latency = latency * (1.0 + 0.3 * (share / (1.0 - share)).ln().max(-2.5));
        bins.add(value_of(rounded(latency)), 10);
    }
    let run = DirectionRun {
        direction: "read".to_owned(),
        requests: 19_990,
        iops,
        bytes_per_s: iops * 4096.0,
        latency: LatencyRun { mean_ns: latency, max_ns: 1, bins, ..LatencyRun::default() },
        timeline: Timeline { step_ms: 250, iops: windows, ..Timeline::default() },
        ..DirectionRun::default()
    };
    PassRun { jobs: 1, directions: vec![run], ..PassRun::default() }
}

fn flagged(comparison: &DiskComparison) -> usize {
    comparison.count(Verdict::Better) + comparison.count(Verdict::Worse)
}

#[test]
fn at_most_five_percent_of_the_rows_of_same_against_same_are_flagged() {
    for (drift, spread) in [(0.0, 0.01), (0.02, 0.02), (0.08, 0.05)] {
        let (mut all, mut false_ones) = (0, 0);
        for pair in 0..60 {
            let old = record(pair * 2 + 1, drift, spread, 1.0, 5);
            let new = record(pair * 2 + 2, drift, spread, 1.0, 5);
            let comparison = compare(&old, &new);
            all += comparison.rows().count();
            false_ones += flagged(&comparison);
        }
        assert!(
            all == 60 * 6 * 7 && false_ones * 20 <= all,
            "{drift} {spread}: {false_ones} of {all}"
        );
    }
}

/// Two records of so many workloads, made one after the other on a disk whose speed changes slowly: each pass begins where the one
/// before it ended.
fn walking(seed: u64, step: f64, workloads: usize) -> [DiskRun; 2] {
    let mut noise = Noise(seed);
    let mut empty = record(seed, 0.0, 0.01, 1.0, 0);
    empty.workloads.truncate(workloads);
    let mut both = [empty.clone(), empty];
    for place in 0..workloads {
        let mut rate = 10_000.0;
        for record in &mut both {
            for _ in 0..5 {
                rate *= 1.0 + step * noise.next();
                record.workloads[place].passes.push(pass(&mut noise, rate, 0.0, 0.01));
            }
        }
    }
    both.iter_mut().for_each(summarise);
    both
}

#[test]
fn a_disk_whose_speed_changes_slowly_is_seldom_called_another_one() {
    for workloads in [1, 2, 6] {
        let (mut all, mut wrong) = (0, 0);
        for seed in 1..=100 {
            let [old, new] = walking(seed, 0.02, workloads);
            let comparison = compare(&old, &new);
            all += comparison.rows().count();
            wrong += flagged(&comparison);
        }
        assert!(all > 0 && wrong * 20 <= all, "{workloads} workloads: {wrong} of {all}");
    }
}

#[test]
fn ten_percent_are_found_although_passes_differ_by_two_percent() {
    let (mut all, mut found) = (0, 0);
    for pair in 0..60 {
        let old = record(pair * 2 + 1, 0.02, 0.03, 1.0, 5);
        let new = record(pair * 2 + 2, 0.02, 0.03, 0.9, 5);
        for (_, row) in compare(&old, &new).rows() {
            all += 1;
            found += usize::from(row.verdict == Verdict::Worse);
        }
    }
    assert!(found * 100 >= all * 95, "{found} of {all}");
}

#[test]
fn ten_percent_on_a_steady_device_are_found_in_the_right_direction() {
    for (speed, expected) in [(0.9, Verdict::Worse), (1.1, Verdict::Better)] {
        let (mut all, mut found) = (0, 0);
        for pair in 0..30 {
            let old = record(pair * 2 + 1, 0.01, 0.02, 1.0, 5);
            let new = record(pair * 2 + 2, 0.01, 0.02, speed, 5);
            for (_, row) in compare(&old, &new).rows() {
                all += 1;
                found += usize::from(row.verdict == expected);
            }
        }
        assert!(found * 100 >= all * 95, "{speed}: {found} of {all}");
    }
}

#[test]
fn a_single_pass_has_intervals_from_its_log_and_none_for_percentiles() {
    let (old, new) = (record(1, 0.0, 0.01, 1.0, 1), record(2, 0.0, 0.01, 0.8, 1));
    let comparison = compare(&old, &new);
    for (_, row) in comparison.rows() {
        let expected = match row.metric {
            Metric::Iops | Metric::BytesPerSecond => Verdict::Worse,
            _ => Verdict::CannotTell,
        };
        // Mean latency has no log here, and fio's samples say nothing about it.
        assert_eq!(row.verdict, expected, "{row:?}");
    }
    assert!(
        comparison.notes.iter().any(|note| note.contains("one pass")),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn another_question_is_named_and_gives_no_verdict() {
    let old = record(1, 0.0, 0.01, 1.0, 5);
    let mut new = record(2, 0.0, 0.01, 2.0, 5);
    new.workloads[0].options.set("iodepth", "128");
    let comparison = compare(&old, &new);
    let first = &comparison.workloads[0];
    assert_eq!(first.obstacles.len(), 1);
    assert_eq!(
        (first.obstacles[0].what.as_str(), first.obstacles[0].after.as_str()),
        ("iodepth", "128")
    );
    assert!(
        first
            .rows
            .iter()
            .all(|row| row.verdict == Verdict::NotComparable && row.ratio.low.is_none())
    );
    assert!(comparison.workloads[1].rows.iter().all(|row| row.verdict != Verdict::NotComparable));
}

#[test]
fn workloads_of_other_names_are_found_by_their_question() {
    let old = record(1, 0.0, 0.01, 1.0, 5);
    let mut new = record(2, 0.0, 0.01, 1.0, 5);
    new.workloads[1].name = "mine".to_owned();
    new.workloads[2].name = "other".to_owned();
    new.workloads[2].options = Options(vec!["rw=randrw".to_owned()]);
    let comparison = compare(&old, &new);
    assert!(
        comparison
            .workloads
            .iter()
            .any(|pair| pair.name == "random-write" && pair.obstacles.is_empty())
    );
    assert_eq!(
        comparison.unmatched,
        ["sequential-read: only in the first", "other: only in the second"]
    );
}

#[test]
fn what_is_the_same_is_called_so() {
    let old = record(1, 0.0, 0.002, 1.0, 5);
    let comparison = compare(&old, &old);
    let rates = comparison.rows().filter(|(_, row)| row.metric == Metric::Iops);
    assert!(rates.into_iter().all(|(_, row)| row.verdict == Verdict::Same), "{comparison:?}");
}
