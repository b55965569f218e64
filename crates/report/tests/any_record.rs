//! No record, however odd, makes a view panic.

use std::collections::BTreeMap;

use fullbore_record::{
    AdvicePart, Finding, FindingKind, Incident, Outcome, PipeRecord, RunRecord, SCHEMA,
    StageRecord, StageTimeline, TuningRecord,
};
use fullbore_report::text::{Style, summary};
use fullbore_report::{html, json};
use proptest::collection::vec;
use proptest::prelude::*;

mod samples;

fn stage() -> impl Strategy<Value = StageRecord> {
    (
        0..6_u32,
        any::<String>(),
        any::<[f64; 3]>(),
        any::<[Option<f64>; 2]>(),
        any::<[Option<u64>; 4]>(),
        any::<(u64, u64)>(),
        any::<Option<i32>>(),
    )
        .prop_map(
            |(stage, command, shares, blocked, counts, (life_ns, cpu_ns), exit_status)| {
                let mut record = StageRecord::default();
                record.stage = stage;
                record.command = command;
                record.life_ns = life_ns;
                record.cpu_ns = cpu_ns;
                record.running_percent = shares[0];
                record.runnable_percent = shares[1];
                record.blocked_other_percent = shares[2];
                record.blocked_reading_percent = blocked[0];
                record.blocked_writing_percent = blocked[1];
                record.read_bytes = counts[0];
                record.written_bytes = counts[1];
                record.read_calls = counts[2];
                record.write_calls = counts[3];
                record.exit_status = exit_status;
                record
            },
        )
}

fn pipe() -> impl Strategy<Value = PipeRecord> {
    (
        0..4_u32,
        vec(0..7_u32, 0..5),
        vec(0..7_u32, 0..5),
        any::<(bool, bool)>(),
        any::<[Option<u64>; 2]>(),
        any::<[Option<f64>; 2]>(),
    )
        .prop_map(|(pipe, writers, readers, outside, capacity, blocked)| {
            let mut record = PipeRecord::default();
            record.pipe = pipe;
            record.writers = writers;
            record.readers = readers;
            record.outside_writer = outside.0;
            record.outside_reader = outside.1;
            record.initial_capacity_bytes = capacity[0];
            record.capacity_bytes = capacity[1];
            record.writer_blocked_percent = blocked[0];
            record.reader_blocked_percent = blocked[1];
            record
        })
}

fn line() -> impl Strategy<Value = StageTimeline> {
    (0..7_u32, vec(any::<f32>(), 0..9), vec(any::<f32>(), 0..9), vec(any::<u64>(), 0..9)).prop_map(
        |(stage, running, blocked_writing, read_bytes)| {
            let mut line = StageTimeline::default();
            line.stage = stage;
            line.running = running;
            line.blocked_writing = blocked_writing;
            line.read_bytes = read_bytes;
            line
        },
    )
}

fn finding() -> impl Strategy<Value = Finding> {
    let kinds = prop_oneof![
        Just(FindingKind::Bottleneck),
        Just(FindingKind::TakingTurns),
        Just(FindingKind::Deadlock)
    ];
    (
        kinds,
        any::<Option<u32>>(),
        proptest::option::of(0..5_u32),
        any::<String>(),
        any::<String>(),
        any::<f64>(),
    )
        .prop_map(|(kind, stage, pipe, message, advice, number)| {
            Finding::new(kind, message)
                .about_stage(stage.map(|stage| stage % 7))
                .about_pipe(pipe)
                .with_advice(vec![AdvicePart::text(&advice), AdvicePart::command(advice)])
                .with_evidence(BTreeMap::from([
                    ("x_ns".to_owned(), number),
                    ("y_percent".to_owned(), number),
                ]))
        })
}

fn tuning() -> impl Strategy<Value = TuningRecord> {
    (0..5_u32, any::<[u64; 3]>(), any::<String>()).prop_map(
        |(pipe, [at_ns, from_bytes, to_bytes], reason)| {
            TuningRecord::new(pipe, at_ns, from_bytes, to_bytes, Outcome::Refused)
                .with_reason(reason)
        },
    )
}

prop_compose! {
    fn record()(
        command in any::<String>(),
        times in any::<[u64; 4]>(),
        numbers in any::<(Option<f64>, f64, i32)>(),
        stages in vec(stage(), 0..16),
        pipes in vec(pipe(), 0..8),
        tuning in vec(tuning(), 0..6),
        findings in vec(finding(), 0..6),
        gaps in vec(any::<String>(), 0..6),
        (start_ns, step_ns) in any::<(u64, u64)>(),
        lines in vec(line(), 0..8),
    ) -> RunRecord {
        let mut record = RunRecord::default();
        record.schema = SCHEMA.into();
        record.command = command;
        record.started_unix_ns = times[0];
        record.elapsed_ns = times[1];
        record.bound_ns = times[2];
        record.observer_cpu_ns = times[3];
        record.cpu_ns = Some(times[2]);
        record.overlap_percent = numbers.0;
        record.parallelism = numbers.1;
        record.exit_status = Some(numbers.2);
        record.incidents = vec![Incident::Stalled { stage: Some(9), lasted_ns: times[0] }];
        record.stages = stages;
        record.pipes = pipes;
        record.tuning = tuning;
        record.findings = findings;
        record.gaps = gaps;
        record.timeline.start_ns = start_ns;
        record.timeline.step_ns = step_ns;
        record.timeline.stages = lines;
        record
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_view_of_any_record_is_made(record in record(), width in 0..200_usize) {
        let plain = summary(&record, Style::plain(width));
        prop_assert!(!plain.contains('\x1b'));
        let _ = summary(&record, Style::colored(width));
        let page = html::page(&record);
        prop_assert_eq!(page.matches("<script").count(), 2);
        prop_assert!(!page.contains("NaN") && !page.contains("\"inf"));
        let _ = json::to_string(&record).unwrap();
    }
}

#[test]
fn the_summary_fits_every_width() {
    for (name, record) in samples::all() {
        for width in 0..200 {
            let colored = summary(&record, Style::colored(width));
            assert!(!colored.is_empty(), "{name}");
            let is_command = |line: &str| {
                let advice = record.findings.iter().flat_map(|finding| &finding.advice);
                let mut commands = advice.filter_map(|part| match part {
                    AdvicePart::Command(command) => Some(command),
                    _ => None,
                });
                commands.any(|command| line.trim_start().starts_with(&command.replace('\x1b', "␛")))
            };
            let text = summary(&record, Style::plain(width));
            for line in text.lines().filter(|line| !is_command(line)) {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= width.max(20), "{name}: {columns} columns of {width}: {line}");
            }
        }
    }
}

#[test]
fn a_record_survives_json() {
    for (name, record) in samples::all() {
        assert!(json::from_str(&json::to_string(&record).unwrap()).unwrap() == record, "{name}");
    }
}

#[test]
fn the_summary_says_once_how_long_it_took_and_could_have_taken() {
    for (name, record) in samples::all() {
        let text = summary(&record, Style::plain(200));
        assert_eq!(
            text.matches(&fullbore_measure::seconds(record.elapsed_ns)).count(),
            1,
            "{name}:\n{text}"
        );
        let best = usize::from(record.bound_ns > 0);
        assert_eq!(text.matches("best possible time").count(), best, "{name}:\n{text}");
    }
}
