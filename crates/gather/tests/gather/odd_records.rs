//! Records of other versions, without fields, with absurd values: read or refused with a reason, and never a panic.

use fullbore_gather::{Files, FindingKind, NotARecord, Run, compare, gather, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn run(value: &Value) -> Run {
    read(value.to_string().as_bytes(), "a.json").unwrap()
}

/// A job of `seconds` that started at `start` on `host`.
fn job(command: &str, host: &str, start: u64, seconds: f64) -> Value {
    let elapsed_ns = (seconds * 1e9) as u64;
    json!({
        "schema": "fullbore.run/2", "command": command, "started_unix_ns": 1_700_000_000_000_000_000 + start * 1_000_000_000,
        "elapsed_ns": elapsed_ns, "exit_status": 0, "host": {"name": host, "cpus": 4},
        "stages": [{"stage": 1, "command": command, "life_ns": elapsed_ns, "cpu_ns": elapsed_ns, "running_percent": 100.0,
            "runnable_percent": 0.0, "blocked_reading_percent": 0.0, "blocked_writing_percent": 0.0,
            "blocked_other_percent": 0.0, "blocked_other_causes": {}, "read_bytes": 1000}],
    })
}

#[test]
fn what_is_no_record_is_refused_with_a_reason() {
    let whole = job("sort a", "a", 0, 1.0).to_string();
    let schema = |name: &str| NotARecord::Schema(Some(name.to_owned()));
    for (text, why) in [
        ("", NotARecord::Empty),
        (" \n", NotARecord::Empty),
        (&whole[..whole.len() / 2], NotARecord::CutOff),
        (&whole[..whole.len() - 1], NotARecord::CutOff),
        ("<html>", NotARecord::NoJson),
        ("{\"schema\": \"fullbore.lab/1\", \"host\": 3}", schema("fullbore.lab/1")),
        ("{\"schema\": \"fullbore.run/3\"}", schema("fullbore.run/3")),
        ("{\"a\": 1}", NotARecord::Schema(None)),
        ("[]", NotARecord::Schema(None)),
        ("3", NotARecord::Schema(None)),
        ("null", NotARecord::Schema(None)),
    ] {
        assert_eq!(read(text.as_bytes(), "a").map(|_| ()).unwrap_err(), why, "{text}");
    }
    let wrong = whole.replace("\"elapsed_ns\":1000000000", "\"elapsed_ns\":\"soon\"");
    assert!(matches!(read(wrong.as_bytes(), "a"), Err(NotARecord::Field(_))), "{wrong}");
    assert!(read(b"{\"schema\": \"fullbore.run/2\", \"command\": \"\xff\"}", "a").is_err());
}

#[test]
fn records_of_other_versions_are_read() {
    let mut value = job("sort a", "a", 0, 1.0);
    value["schema"] = "fullbore.run/1".into();
    value["host"] = json!({"kernel": "6.1", "cpus": 2});
    assert_eq!(run(&value).host, "");
    value["schema"] = "fullbore.run/2".into();
    value["colour"] = json!({"unknown": [1, 2]});
    value["findings"] = json!([{"kind": "a_later_kind", "message": "x", "colour": 1}]);
    value["stages"][0]["blocked_other_causes"] = json!({"a_later_cause": 1.0});
    let workflow = gather(&[run(&value)], Files::default(), 10);
    assert_eq!(workflow.jobs.len(), 1);
    let nothing = run(&json!({"schema": "fullbore.run/2"}));
    let workflow = gather(&[nothing], Files::default(), 10);
    assert_eq!((workflow.totals.without_time, workflow.totals.unknown_status), (1, 1));
}

#[test]
fn time_of_a_job_is_divided_without_a_rest() {
    let mut value = job("a | b", "a", 0, 10.0);
    let stage = &mut value["stages"][0];
    stage["running_percent"] = json!(50.0);
    stage["blocked_other_percent"] = json!(30.0);
    stage["blocked_other_causes"] = json!({"disk": 20.0, "sleep": 10.0});
    stage["blocked_reading_percent"] = json!(15.0);
    stage["life_ns"] = json!(8_000_000_000_u64);
    let causes = gather(&[run(&value)], Files::default(), 10).totals.causes;
    assert_eq!(causes.running_ns, 4_000_000_000);
    assert_eq!(causes.disk_ns, 1_600_000_000);
    assert_eq!(causes.other_ns, 800_000_000);
    assert_eq!(causes.stages_ns, 1_200_000_000);
    assert_eq!(causes.unseen_ns, 2_400_000_000);
    assert_eq!(causes.total_ns(), 10_000_000_000);
}

#[test]
fn the_critical_time_follows_the_jobs_that_follow_each_other() {
    // The long job spans all; the short ones run beside it.
    let mut jobs = vec![job("long x", "a", 0, 100.0)];
    jobs.extend((0..20).map(|n| job("short x", "a", n * 5, 4.0)));
    let runs: Vec<Run> = jobs.iter().map(run).collect();
    let workflow = gather(&runs, Files::default(), 10);
    let verdict = &workflow.findings[0];
    assert_eq!(verdict.kind, FindingKind::LimitingRule);
    assert_eq!(workflow.rules[verdict.rule.unwrap()].name, "long x");
    assert_eq!(workflow.totals.elapsed_ns, 100_000_000_000);
    // One after the other, with an hour of nothing between them.
    let runs: Vec<Run> =
        [job("a", "h", 0, 10.0), job("b", "h", 3610, 10.0)].iter().map(run).collect();
    let workflow = gather(&runs, Files::default(), 10);
    assert_eq!(workflow.findings[0].kind, FindingKind::Idle);
    assert_eq!(workflow.totals.idle_ns, 3600 * 1_000_000_000);
}

#[test]
fn a_recipe_that_calls_make_does_not_hide_its_jobs() {
    let mut jobs = vec![job("cd sub && make all", "a", 0, 101.0)];
    jobs.extend((0..10).map(|n| job("sort x.txt", "a", n * 10, 9.9)));
    let runs: Vec<Run> = jobs.iter().map(run).collect();
    let workflow = gather(&runs, Files::default(), 10);
    let verdict = &workflow.findings[0];
    assert_eq!(verdict.kind, FindingKind::LimitingRule);
    assert_eq!(workflow.rules[verdict.rule.unwrap()].name, "sort FILE", "{}", verdict.message);
}

#[test]
fn few_siblings_make_no_outlier_and_seconds_must_matter() {
    let outliers = |count: u64, seconds: f64, long: f64| {
        let mut jobs: Vec<Value> =
            (0..count).map(|n| job("sort x", "a", n * 100, seconds)).collect();
        jobs.push(job("sort x", "a", count * 100, long));
        let runs: Vec<Run> = jobs.iter().map(run).collect();
        gather(&runs, Files::default(), 10).costly.outliers.len()
    };
    assert_eq!(outliers(30, 10.0, 60.0), 1);
    assert_eq!(outliers(5, 10.0, 60.0), 0);
    assert_eq!(outliers(30, 10.0, 14.0), 0);
    assert_eq!(outliers(30, 0.01, 0.06), 0);
}

#[test]
fn a_failed_job_that_ran_again_is_said_and_not_compared() {
    let mut jobs: Vec<Value> = (0..20).map(|n| job("sort x", "a", n * 100, 10.0)).collect();
    let mut failed = job("sort x", "a", 2000, 90.0);
    failed["exit_status"] = json!(137);
    jobs.push(failed);
    jobs.push(job("sort x", "a", 2100, 10.0));
    let runs: Vec<Run> = jobs.iter().map(run).collect();
    let workflow = gather(&runs, Files::default(), 10);
    assert!(workflow.costly.outliers.is_empty());
    let failed = workflow.findings.iter().find(|it| it.kind == FindingKind::Failed).unwrap();
    assert!(failed.message.contains("1 of them ran again and succeeded"), "{}", failed.message);
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!(0)),
        Just(json!("x")),
        Just(json!(100.0)),
        Just(json!(u64::MAX)),
    ]
}

proptest! {
    #[test]
    fn whatever_a_record_says_it_is_gathered(
        changes in proptest::collection::vec((0..40_usize, 0..9_usize, value()), 0..60),
        command in "\\PC{0,60}",
    ) {
        let mut jobs: Vec<Value> = (0..40).map(|n| job(&command, ["a", "b"][n as usize % 2], n * 3, 2.0)).collect();
        for (at, field, value) in changes {
            match field {
                0 => jobs[at]["started_unix_ns"] = value,
                1 => jobs[at]["elapsed_ns"] = value,
                2 => jobs[at]["exit_status"] = value,
                3 => jobs[at]["stages"][0]["life_ns"] = value,
                4 => jobs[at]["stages"][0]["running_percent"] = value,
                5 => jobs[at]["stages"][0]["blocked_other_causes"] = json!({"disk": value}),
                6 => jobs[at]["stages"][0]["read_bytes"] = value,
                7 => jobs[at]["host"]["cpus"] = value,
                _ => jobs[at]["stages"][0]["cpu_ns"] = value,
            }
        }
        let runs: Vec<Run> = jobs.iter().filter_map(|job| read(job.to_string().as_bytes(), "a").ok()).collect();
        let workflow = gather(&runs, Files::default(), 10);
        prop_assert_eq!(workflow.jobs.len(), runs.len());
        prop_assert_eq!(workflow.rules.iter().map(|rule| rule.jobs).sum::<u64>(), runs.len() as u64);
        let _ = compare(&runs, &runs[..runs.len() / 2], Files::default());
    }
}
