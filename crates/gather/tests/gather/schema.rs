//! The published schema describes every field and value of a workflow.

use std::fs;
use std::path::Path;

use fullbore_gather::{Cause, Files, FindingKind, Unread, Workflow, compare, gather};
use serde_json::{Value, json};

use crate::seeded::{Blame, Seeded};

fn schema() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fullbore.workflow-1.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A workflow with something in every list.
fn filled() -> Workflow {
    let mut seeded = Seeded::new(7);
    seeded.fault.slow_host = Some((0, 3.0, Some(Blame::Cpu)));
    seeded.fault.outliers = Some((1, 1, 30.0));
    let mut runs = seeded.run();
    let before = runs.clone();
    for run in runs.iter_mut().take(3) {
        run.findings.push(
            serde_json::from_value(json!({"kind": "taking_turns", "message": "In turn."})).unwrap(),
        );
        run.exit_status = Some(1);
    }
    let unread = Unread { why: "empty".to_owned(), files: 1, examples: vec!["a".to_owned()] };
    let files = Files { no_records: vec![unread], ..Files::default() };
    let mut workflow = gather(&runs, files.clone(), 10);
    workflow.against = Some(compare(&before, &runs, files));
    workflow
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
fn every_field_of_a_workflow_is_described() {
    let mut schema = schema();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let workflow = serde_json::to_value(filled()).unwrap();
    for list in ["stages", "turns", "cpu_waits", "outliers"] {
        assert_ne!(workflow["costly"][list], json!([]), "{list} has nothing to be compared");
    }
    let faults: Vec<String> = validator
        .iter_errors(&workflow)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(faults, [""; 0]);
    let mut odd = workflow;
    odd["jobs"][0]["colour"] = "red".into();
    assert!(!validator.is_valid(&odd), "the test would not see a field that is not described");
}

#[test]
fn every_value_of_an_enumeration_is_described() {
    let kinds = [
        FindingKind::SlowHost,
        FindingKind::SlowOnHost,
        FindingKind::Idle,
        FindingKind::WaitsForCpus,
        FindingKind::LimitingRule,
        FindingKind::NoSingleRule,
        FindingKind::Outliers,
        FindingKind::TakesTurns,
        FindingKind::Failed,
        FindingKind::MoreInput,
    ];
    let schema = schema();
    assert_eq!(schema["$defs"]["FindingKind"]["examples"], json!(kinds));
    assert_eq!(schema["$defs"]["Cause"]["examples"], json!(Cause::ALL));
}

#[test]
fn a_workflow_that_was_written_is_read_back_the_same() {
    let workflow = filled();
    let text = serde_json::to_string(&workflow).unwrap();
    assert_eq!(serde_json::from_str::<Workflow>(&text).unwrap(), workflow);
}
