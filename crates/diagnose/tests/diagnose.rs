//! Golden tests: each `diagnose/*.json` is a record, the `*.findings.json` next to it what it shows.
//!
//! A record says in `about` what the case is and in `verdict` what the first finding must be (`"bottleneck 2"`: kind,
//! and stage or pipe; `null`: no finding); the wording is in the findings file, which `FULLBORE_BLESS=1` rewrites.
//! The records are of `fullbore.run/1`, so reading that is tested, too. Fields that a record leaves out have their
//! defaults.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use fullbore_diagnose::{bound_ns, diagnose};
use fullbore_record::{
    AdvicePart, Finding, PipeRecord, RunRecord, StageRecord, StageTimeline, advice_text, read,
};
use serde::Serialize;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnose")
}

fn cases() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.to_string_lossy().ends_with(".json")
                && !path.to_string_lossy().ends_with(".findings.json")
        })
        .collect();
    paths.sort();
    paths
}

/// Adds to `value` the fields of `defaults` that it lacks, inside objects too.
fn complete(value: &mut Value, defaults: &Value) {
    if let (Value::Object(value), Value::Object(defaults)) = (value, defaults) {
        for (key, default) in defaults {
            complete(value.entry(key).or_insert_with(|| default.clone()), default);
        }
    }
}

fn complete_each<T: Serialize + Default>(items: &mut Value) {
    let defaults = serde_json::to_value(T::default()).unwrap();
    for item in items.as_array_mut().unwrap() {
        complete(item, &defaults);
    }
}

fn record_of(mut case: Value) -> RunRecord {
    case["schema"] = "fullbore.run/1".into();
    complete(&mut case, &serde_json::to_value(RunRecord::default()).unwrap());
    complete_each::<StageRecord>(&mut case["stages"]);
    complete_each::<PipeRecord>(&mut case["pipes"]);
    complete_each::<StageTimeline>(&mut case["timeline"]["stages"]);
    read(&case.to_string()).unwrap()
}

/// `bottleneck 2`, `taking_turns 1`, `cpu_starved`.
fn verdict(findings: &[Finding]) -> Value {
    let Some(first) = findings.first() else {
        return Value::Null;
    };
    let kind = serde_json::to_value(first.kind).unwrap();
    let kind = kind.as_str().unwrap();
    match first.stage.or(first.pipe) {
        Some(number) => format!("{kind} {number}").into(),
        None => kind.into(),
    }
}

#[test]
fn every_record_shows_what_it_should() {
    let bless = std::env::var_os("FULLBORE_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in cases() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let (about, wanted) = (case["about"].clone(), case["verdict"].clone());
        let findings = diagnose(&record_of(case));
        if verdict(&findings) != wanted {
            wrong.push(format!("{name}: {about}\n  wanted {wanted}, found {}", verdict(&findings)));
        }
        let golden = path.with_extension("findings.json");
        let found = serde_json::to_string_pretty(&findings).unwrap() + "\n";
        if bless {
            fs::write(&golden, &found).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            wrong.push(format!("{name}: differs from {}:\n{found}", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_finding_is_the_subject_of_a_case() {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let findings = cases()
        .iter()
        .map(|path| diagnose(&record_of(serde_json::from_str(&read(path)).unwrap())))
        .collect::<Vec<_>>();
    let all = serde_json::to_string(&findings).unwrap();
    for kind in [
        "bottleneck",
        "taking_turns",
        "cpu_starved",
        "source_bound",
        "sink_bound",
        "small_calls",
        "small_pipe",
        "wake_ups",
        "leaked_end",
        "deadlock",
        "stalled",
    ] {
        assert!(all.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }
}

#[test]
fn messages_are_one_sentence() {
    for path in cases() {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for finding in diagnose(&record_of(case)) {
            let message = &finding.message;
            assert!(
                message.ends_with('.') && !message.contains('\n') && !message.contains(". "),
                "{message}"
            );
            assert!(
                !message.contains("  ") && !message.contains("NaN") && !message.contains("inf "),
                "{message}"
            );
            let advice = advice_text(&finding.advice);
            assert!(advice.is_empty() || advice.ends_with('.'), "{advice}");
            assert!(!advice.contains("  ") && !advice.contains(". ."), "{advice}");
            for part in &finding.advice {
                let AdvicePart::Command(command) = part else { continue };
                assert!(shell_words::split(command).is_ok(), "no shell reads {command}");
                assert!(!command.contains(['…', '\n']), "nobody can paste {command}");
            }
        }
    }
}

#[test]
fn the_best_possible_time_does_not_take_threads_for_serial_work() {
    let second = 1_000_000_000;
    let stage = |cpu_ns, running_percent| {
        let mut stage = StageRecord::default();
        stage.life_ns = 10 * second;
        stage.cpu_ns = cpu_ns;
        stage.running_percent = running_percent;
        stage
    };
    // Four threads for 5 s beside one for 6 s.
    let stages = [stage(20 * second, 50.0), stage(6 * second, 60.0)];
    assert_eq!(bound_ns(&stages, 8), 6 * second);
    assert_eq!(bound_ns(&stages, 2), 13 * second);
    assert_eq!(bound_ns(&stages, 0), 6 * second);
    assert_eq!(bound_ns(&[], 4), 0);
}

#[test]
fn the_findings_of_the_record_itself_do_not_matter() {
    for path in cases() {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut record = record_of(case);
        let findings = diagnose(&record);
        record.findings.clone_from(&findings);
        record.bound_ns = 1;
        assert_eq!(diagnose(&record), findings);
    }
}
