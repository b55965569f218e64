//! Records of the version before are converted, and what a later version adds is kept.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fullbore_record::{
    AdvicePart, Cause, CommandIs, FindingKind, Incident, ReadError, RunRecord, SCHEMA, StageRecord,
    StageTimeline, advice_text, read,
};
use serde_json::{Value, json};

/// A record of this version as JSON.
fn record() -> Value {
    let mut stage = StageRecord::default();
    stage.stage = 1;
    let mut record = RunRecord::default();
    record.schema = SCHEMA.to_owned();
    record.stages.push(stage);
    let mut record = serde_json::to_value(record).unwrap();
    record["findings"] = json!([{
        "kind": "bottleneck", "stage": 1, "pipe": null, "message": "It is slow.",
        "advice": [{"text": "Try "}, {"command": "sort x"}], "best_time_ns": null,
        "confidence_percent": null, "evidence": {}
    }]);
    record
}

#[test]
fn what_a_later_version_adds_is_kept_and_written_back() {
    let mut later = record();
    later["plan"] = json!({ "rewrote": ["sort"] });
    later["shares_from"] = "telepathy".into();
    later["stages"][0]["colour"] = "red".into();
    later["stages"][0]["command_is"] = "script".into();
    later["stages"][0]["blocked_other_causes"] = json!({ "disk": 1.0, "gpu": 2.5 });
    later["findings"][0]["kind"] = "too_hot".into();
    later["findings"][0]["weight"] = json!(3);
    later["findings"][0]["advice"][0] = json!({ "link": "x" });
    later["incidents"] = json!([{ "kind": "meltdown", "degrees": [1, 2] }]);
    later["tuning"] = json!([{
        "pipe": 1, "at_ns": 2, "from_bytes": 3, "to_bytes": 4, "outcome": "kept", "reason": "", "by": "hand"
    }]);
    later["timeline"]["unit"] = "ns".into();
    let mut line = serde_json::to_value(StageTimeline::default()).unwrap();
    line["swapped_bytes"] = json!([0]);
    later["timeline"]["stages"] = json!([line]);
    let read = read(&later.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), later);
    assert!(matches!(read.findings[0].kind, FindingKind::Other(name) if name.text() == "too_hot"));
    let causes: Vec<_> = read.stages[0].blocked_other_causes.keys().collect();
    assert!(matches!(causes[..], [Cause::Disk, Cause::Other(name)] if name.text() == "gpu"));
    assert!(matches!(read.incidents[0], Incident::Other(_)));
    assert_eq!(advice_text(&read.findings[0].advice), "`sort x`");
}

#[test]
fn a_record_without_an_exit_status_is_read_as_unknown() {
    assert_eq!(read(&record().to_string()).unwrap().exit_status, None);
}

#[test]
fn a_record_of_version_1_is_converted() {
    let mut old = record();
    old["schema"] = "fullbore.run/1".into();
    for name in ["shares_from", "attached_at_ns", "job"] {
        old.as_object_mut().unwrap().remove(name);
    }
    old["exit_status"] = 141.into();
    (old["elapsed_ns"], old["bound_ns"]) = (20.into(), 10.into());
    let mut stage = old["stages"][0].clone();
    stage.as_object_mut().unwrap().retain(|name, _| name != "words" && name != "command_is");
    stage["command"] = "tr 'a' b".into();
    let mut copy = stage.clone();
    copy["command"] = "while read l; do echo $l; done".into();
    old["stages"] = json!([stage, copy]);
    old["findings"][0]["message"] =
        "It is slow; the best possible time is 10 ns, this run took 20 ns.".into();
    old["findings"][0]["advice"] = "Give it more: `stdbuf -o64K tr …` or less.".into();
    old["findings"][0].as_object_mut().unwrap().remove("best_time_ns");

    let read = read(&old.to_string()).unwrap();
    assert_eq!((read.schema.as_str(), read.exit_status), (SCHEMA, Some(141)));
    assert_eq!(read.stages[0].words, ["tr", "a", "b"]);
    assert_eq!(read.stages[1].command_is, CommandIs::ShellText);
    assert_eq!(read.findings[0].message, "It is slow.");
    assert_eq!(read.findings[0].best_time_ns, Some(10));
    let parts = [
        AdvicePart::text("Give it more: "),
        AdvicePart::command("stdbuf -o64K tr …"),
        AdvicePart::text(" or less."),
    ];
    assert_eq!(read.findings[0].advice, parts);
}

#[test]
fn what_is_no_record_is_refused() {
    assert!(matches!(read("{\"schema\": \"fullbore.lab/1\"}"), Err(ReadError::Schema(Some(_)))));
    assert!(matches!(read("{}"), Err(ReadError::Schema(None))));
    assert!(matches!(read("no JSON"), Err(ReadError::Json(_))));
    assert!(matches!(read("{\"schema\": \"fullbore.run/2\"}"), Err(ReadError::Json(_))));
}
