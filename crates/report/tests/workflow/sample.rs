//! Workflows as `gather` makes them from records.

use fullbore_gather::{Files, Run, Workflow, compare, gather, read};
use serde_json::json;

/// Jobs of four rules on `hosts` hosts, of which the second is slow if there are several.
pub(crate) fn runs(jobs: u64, hosts: u64, host: &str) -> Vec<Run> {
    let job = |number: u64| {
        let (at, rule) =
            (number % hosts, ["align", "merge", "call", "plot"][(number / hosts % 4) as usize]);
        let seconds = (10 + number % 7) * if at == 1 { 3 } else { 1 };
        let ns = seconds * 1_000_000_000;
        let record = json!({
            "schema": "fullbore.run/2", "command": format!("{rule} in/{number}.txt | gzip > out/{number}.gz"),
            "job": {"variables": {"SLURM_JOB_NAME": rule}},
            "started_unix_ns": 1_780_000_000_000_000_000 + number / hosts * 12_000_000_000,
            "elapsed_ns": ns, "exit_status": u64::from(number % 97 == 3), "host": {"name": format!("{host}{at}"), "cpus": 4},
            "findings": [{"kind": if number.is_multiple_of(5) { "taking_turns" } else { "bottleneck" }, "stage": 1, "message": "It waits."}],
            "stages": [{"stage": 1, "command": format!("{rule} in/{number}.txt"), "life_ns": ns, "cpu_ns": ns / 2,
                "running_percent": 40.0, "runnable_percent": 12.0, "blocked_reading_percent": 5.0,
                "blocked_writing_percent": 3.0, "blocked_other_percent": 38.0,
                "blocked_other_causes": {"disk": 20.0, "network": 10.0, "lock": 8.0}, "read_bytes": 1_000_000}],
        });
        read(record.to_string().as_bytes(), &format!("{host}{at}/{number}.json")).unwrap()
    };
    (0..jobs).map(job).collect()
}

/// With an outlier, unread files and a run before.
pub(crate) fn compared() -> Workflow {
    let (before, mut after) = (runs(200, 3, "node"), runs(200, 3, "node"));
    after[40].elapsed_ns = Some(400_000_000_000);
    let unread = fullbore_gather::Unread {
        why: "cut off".to_owned(),
        files: 5,
        examples: vec!["half.json".to_owned()],
    };
    let files = Files { seen: 205, records: 200, copies: 1, others: 2, no_records: vec![unread] };
    let mut workflow = gather(&after, files, 10);
    workflow.against = Some(compare(&before, &after, Files::default()));
    workflow
}

/// With names that try to leave the page and the terminal.
pub(crate) fn hostile() -> Workflow {
    let evil =
        "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{1b}[2J\u{202e}\"' & \n";
    let mut all = runs(60, 2, evil);
    for run in &mut all {
        run.command = format!("{evil} {}", run.command);
        run.variables.insert("SLURM_JOB_NAME".to_owned(), evil.to_owned());
        run.findings[0].message = evil.to_owned();
    }
    gather(&all, Files::default(), 10)
}

pub(crate) fn all() -> Vec<(&'static str, Workflow)> {
    let of = |jobs, hosts| gather(&runs(jobs, hosts, "node"), Files::default(), 10);
    vec![
        ("nothing", Workflow::default()),
        ("one", of(1, 1)),
        ("three", of(3, 3)),
        ("compared", compared()),
        ("hostile", hostile()),
        ("many", of(10_000, 100)),
    ]
}
