//! The published schema describes every field and value of the types, and every record that is kept for the tests.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fullbore_measure::Host;
use fullbore_record::{
    AdvicePart, Cause, ChangeKind, ChangeRecord, CommandIs, Finding, FindingKind, Incident, Job,
    KeepAwakeRecord, KeepAwakeTrial, LimitKind, LimitRecord, Outcome, PipeRecord, PredictionRecord,
    RunRecord, SCHEMA, SharesFrom, SpeedRecord, StageRecord, StageTimeline, TuningRecord,
    WhatIfRecord,
};
use jsonschema::Validator;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let text = fs::read_to_string(root().join("docs/fullbore.run-2.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What the schema says of one of its definitions.
fn validator_of(definition: &str) -> Validator {
    let mut schema = schema();
    let definitions = schema["$defs"].take();
    let reference = format!("#/$defs/{definition}");
    jsonschema::validator_for(&json!({ "$ref": reference, "$defs": definitions })).unwrap()
}

fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    let fault =
        |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    validator.iter_errors(value).map(fault).collect()
}

/// A record in which nothing is unknown or empty.
fn filled() -> RunRecord {
    let finding = Finding::new(FindingKind::Bottleneck, "jq is on a CPU 99 % of the time.")
        .about_stage(1)
        .about_pipe(1)
        .with_advice(vec![AdvicePart::text("Let it sort: "), AdvicePart::command("sort x")])
        .with_evidence(BTreeMap::from([("own_ns".to_owned(), 1.5)]));
    let mut finding = finding;
    finding.best_time_ns = Some(3);
    finding.confidence_percent = Some(97.5);
    let mut record = RunRecord::default();
    record.schema = SCHEMA.to_owned();
    record.overlap_percent = Some(1.0);
    record.attached_at_ns = Some(2);
    record.exit_status = Some(0);
    record.job = Job::of([("SLURM_JOB_ID".to_owned(), "1".to_owned())]);
    record.host =
        Host { pipe_max_bytes: Some(1), pipe_user_pages_soft: Some(1), ..Host::default() };
    record.stages = vec![stage()];
    record.pipes = vec![pipe()];
    record.tuning = vec![TuningRecord::new(1, 1, 1, 2, Outcome::Kept).with_reason("turns")];
    record.incidents = incidents();
    record.wake_up_price_ns = Some(33_000);
    let mut keep_awake = KeepAwakeRecord::default();
    keep_awake.trials = vec![KeepAwakeTrial::new(1, 2, Outcome::Reverted, "it did not help")];
    record.keep_awake = Some(keep_awake);
    record.findings = vec![finding];
    record.what_if = Some(what_if());
    record.gaps = vec!["no /proc".to_owned()];
    record.timeline.step_ns = 1;
    record.cpu_ns = Some(1);
    record.timeline.stages = vec![stage_timeline()];
    record
}

fn what_if() -> WhatIfRecord {
    let mut speed = SpeedRecord::default();
    speed.times = 1.5;
    let mut change = ChangeRecord::default();
    change.stage = Some(1);
    change.pipe = Some(1);
    change.capacity_bytes = Some(1);
    change.buffer_bytes = Some(1);
    change.cpus = Some(4);
    change.faster = vec![speed];
    let mut limit = LimitRecord::default();
    limit.stage = Some(1);
    limit.pipe = Some(1);
    let mut prediction = PredictionRecord::default();
    (prediction.change, prediction.limit) = (change, limit);
    let mut what_if = WhatIfRecord::default();
    what_if.predictions = vec![prediction];
    what_if
}

fn stage() -> StageRecord {
    let mut stage = StageRecord::default();
    stage.words = vec!["jq".to_owned()];
    stage.main_words = vec!["jq".to_owned()];
    stage.copies = Some(2);
    stage.locale = Some("C".to_owned());
    stage.buffering = BTreeMap::from([("_STDBUF_O".to_owned(), "L".to_owned())]);
    stage.blocked_reading_percent = Some(1.0);
    stage.blocked_writing_percent = Some(1.0);
    stage.blocked_other_causes = BTreeMap::from([(Cause::Disk, 1.0)]);
    stage.read_bytes = Some(1);
    stage.written_bytes = Some(1);
    stage.read_calls = Some(1);
    stage.write_calls = Some(1);
    stage.wake_ups = Some(1);
    stage.waking_percent = Some(1.0);
    stage.peak_memory_bytes = Some(1);
    stage.exit_status = Some(0);
    stage
}

fn pipe() -> PipeRecord {
    let mut pipe = PipeRecord::default();
    pipe.path = Some("fifo".to_owned());
    pipe.writers = vec![1];
    pipe.readers = vec![2];
    pipe.initial_capacity_bytes = Some(1);
    pipe.capacity_bytes = Some(1);
    pipe.writer_blocked_percent = Some(1.0);
    pipe.reader_blocked_percent = Some(1.0);
    pipe
}

fn stage_timeline() -> StageTimeline {
    let mut line = StageTimeline::default();
    line.running = vec![1.0];
    line.read_bytes = vec![1];
    line
}

fn incidents() -> Vec<Incident> {
    vec![
        Incident::LeakedEnd {
            pipe: 1,
            waiting_stage: 1,
            holder_stage: Some(2),
            holder_pid: 7,
            holder_command: "sleep 9".to_owned(),
            lasted_ns: 1,
        },
        Incident::Deadlock { stages: vec![1], pipes: vec![1], lasted_ns: 1, to_the_end: true },
        Incident::Stalled { stage: Some(1), lasted_ns: 1 },
    ]
}

#[test]
fn every_field_of_a_record_is_described() {
    let mut schema = schema();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let record = serde_json::to_value(filled()).unwrap();
    assert_eq!(faults(&validator, &record), [""; 0], "fields that the schema does not describe");
    let mut odd = record;
    odd["stages"][0]["colour"] = "red".into();
    assert!(!validator.is_valid(&odd), "the test would not see a field that is not described");
}

/// Lets no object have a field that is not described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && object.contains_key("description") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn every_value_of_an_enumeration_is_described() {
    let text = |value: Value| value.as_str().unwrap().to_owned();
    let causes = [
        Cause::Disk,
        Cause::Network,
        Cause::LocalSocket,
        Cause::Peer,
        Cause::Terminal,
        Cause::Sleep,
        Cause::Lock,
        Cause::Event,
        Cause::Child,
        Cause::FifoPeer,
        Cause::Stopped,
        Cause::Unknown,
    ];
    let kinds = [
        FindingKind::Bottleneck,
        FindingKind::TakingTurns,
        FindingKind::CpuStarved,
        FindingKind::SourceBound,
        FindingKind::SinkBound,
        FindingKind::SmallCalls,
        FindingKind::SmallPipe,
        FindingKind::WakeUps,
        FindingKind::LeakedEnd,
        FindingKind::Deadlock,
        FindingKind::Stalled,
    ];
    let outcomes = [Outcome::Kept, Outcome::Reverted, Outcome::Refused];
    let values = [
        ("Cause", causes.map(|cause| text(json!(cause))).to_vec()),
        ("FindingKind", kinds.map(|kind| text(json!(kind))).to_vec()),
        ("Outcome", outcomes.map(|outcome| text(json!(outcome))).to_vec()),
        (
            "CommandIs",
            [CommandIs::Program, CommandIs::ShellText].map(|is| text(json!(is))).to_vec(),
        ),
        (
            "SharesFrom",
            [SharesFrom::Samples, SharesFrom::Switches].map(|from| text(json!(from))).to_vec(),
        ),
    ];
    let schema = schema();
    for (name, values) in values.into_iter().chain(kinds_of_predictions()) {
        assert_eq!(schema["$defs"][name]["examples"], json!(values), "{name}");
    }
}

/// Values of the enumerations of predictions.
fn kinds_of_predictions() -> [(&'static str, Vec<String>); 2] {
    let text = |value: Value| value.as_str().unwrap().to_owned();
    let changes = [
        ChangeKind::TwiceAsFast,
        ChangeKind::InfinitelyFast,
        ChangeKind::OnTwoCpus,
        ChangeKind::PipeOf,
        ChangeKind::AllPipesOf,
        ChangeKind::BufferOf,
        ChangeKind::Cpus,
        ChangeKind::Faster,
    ];
    let limits = [
        LimitKind::Stage,
        LimitKind::Waiting,
        LimitKind::Cpus,
        LimitKind::Pipe,
        LimitKind::Outside,
    ];
    [
        ("ChangeKind", changes.map(|kind| text(json!(kind))).to_vec()),
        ("LimitKind", limits.map(|kind| text(json!(kind))).to_vec()),
    ]
}

#[test]
fn every_record_kept_for_the_tests_is_as_the_schema_says() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let finding = validator_of("Finding");
    let (mut records, mut findings, mut wrong) = (0, 0, Vec::new());
    for path in json_files(&root().join("crates")) {
        let Ok(value) = serde_json::from_str::<Value>(&fs::read_to_string(&path).unwrap()) else {
            continue;
        };
        if value["schema"] == SCHEMA {
            records += 1;
            wrong.extend(faults(&validator, &value).into_iter().map(|f| format!("{path:?}: {f}")));
        }
        if path.to_string_lossy().ends_with(".findings.json") {
            for found in value.as_array().unwrap() {
                findings += 1;
                wrong.extend(faults(&finding, found).into_iter().map(|f| format!("{path:?}: {f}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(records >= 6 && findings >= 40, "only {records} records and {findings} findings");
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(json_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found
}
