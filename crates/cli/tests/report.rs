//! Report files: JSON that follows the schema, HTML that stands alone.

use fullbore_record::SCHEMA;
use serde_json::Value;

use crate::sandbox::{Sandbox, finish, status_text, with_fixture};

const TOP: &[&str] = &[
    "attached_at_ns",
    "job",
    "shares_from",
    "schema",
    "fullbore_version",
    "command",
    "started_unix_ns",
    "exit_status",
    "elapsed_ns",
    "bound_ns",
    "overlap_percent",
    "parallelism",
    "cpu_ns",
    "observer_cpu_ns",
    "idle_cpu_ns",
    "samples",
    "host",
    "stages",
    "pipes",
    "tuning",
    "incidents",
    "findings",
    "gaps",
    "timeline",
];
const HOST: &[&str] = &[
    "name",
    "kernel",
    "cpu",
    "cpus",
    "memory_bytes",
    "page_bytes",
    "pipe_max_bytes",
    "pipe_user_pages_soft",
];
const STAGE: &[&str] = &[
    "command_is",
    "words",
    "locale",
    "stage",
    "pid",
    "command",
    "processes",
    "threads",
    "start_ns",
    "life_ns",
    "cpu_ns",
    "running_percent",
    "runnable_percent",
    "blocked_reading_percent",
    "blocked_writing_percent",
    "blocked_other_percent",
    "blocked_other_causes",
    "read_bytes",
    "written_bytes",
    "read_calls",
    "write_calls",
    "peak_memory_bytes",
    "exit_status",
];
const PIPE: &[&str] = &[
    "pipe",
    "path",
    "writers",
    "readers",
    "outside_writer",
    "outside_reader",
    "initial_capacity_bytes",
    "capacity_bytes",
    "writer_blocked_percent",
    "reader_blocked_percent",
    "life_ns",
];
const FINDING: &[&str] = &[
    "best_time_ns",
    "confidence_percent",
    "kind",
    "stage",
    "pipe",
    "message",
    "advice",
    "evidence",
];
const TIMELINE: &[&str] = &["start_ns", "step_ns", "stages"];
const STAGE_TIMELINE: &[&str] = &[
    "stage",
    "running",
    "runnable",
    "blocked_reading",
    "blocked_writing",
    "blocked_other",
    "read_bytes",
    "written_bytes",
];

const LINE: &str = "{stage} --name a --no-read --seconds 1 --compute-us 1500 | {stage} --name b | {stage} --name c --no-write";

/// They are there only where wake-ups were counted, and their price was worth measuring.
const SOMETIMES: [&str; 3] = ["wake_ups", "waking_percent", "wake_up_price_ns"];

fn keys(value: &Value) -> Vec<&str> {
    let keys = value.as_object().expect("an object").keys().map(String::as_str);
    let mut keys: Vec<_> = keys.filter(|key| !SOMETIMES.contains(key)).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

#[test]
fn json_has_the_keys_of_the_schema() {
    let place = Sandbox::new();
    let ended = finish(place.reporting(&[], LINE));
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let report: Value =
        serde_json::from_slice(&std::fs::read(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(keys(&report), sorted(TOP));
    assert_eq!(report["schema"], SCHEMA);
    assert_eq!(report["command"], with_fixture(LINE));
    assert_eq!(keys(&report["host"]), sorted(HOST));
    assert_eq!(keys(&report["stages"][0]), sorted(STAGE));
    assert_eq!(keys(&report["pipes"][0]), sorted(PIPE));
    assert_eq!(keys(&report["findings"][0]), sorted(FINDING));
    assert_eq!(keys(&report["timeline"]), sorted(TIMELINE));
    assert_eq!(keys(&report["timeline"]["stages"][0]), sorted(STAGE_TIMELINE));
}

/// yash waits for the last stage only and leaves the others to fullbore.
#[test]
fn cpu_time_of_stages_that_no_shell_waited_for_is_counted() {
    require_programs!("yash", "gzip");
    let line = "for i in 1 2 3; do head -c 6M /dev/zero | gzip -9 | cat >/dev/null; done";
    let record = Sandbox::new().record(&["--shell", "yash"], line);
    let in_stages_ns: u64 = record.stages.iter().map(|stage| stage.cpu_ns).sum();
    let cpu_ns = record.cpu_ns.expect("all processes have ended");
    assert!(in_stages_ns > 0 && in_stages_ns < cpu_ns + 20_000_000, "{in_stages_ns} of {cpu_ns}");
}

#[test]
fn the_numbers_of_a_record_fit_together() {
    let record = Sandbox::new().record(&[], LINE);
    assert_eq!(record.stages.len(), 3);
    assert!((900_000_000..5_000_000_000).contains(&record.elapsed_ns), "{}", record.elapsed_ns);
    assert!(record.bound_ns <= record.elapsed_ns, "{} > {}", record.bound_ns, record.elapsed_ns);
    assert!(record.samples > 20, "{} samples", record.samples);
    assert!(record.observer_cpu_ns > 0 && record.observer_cpu_ns < record.elapsed_ns);
    let in_stages_ns: u64 = record.stages.iter().map(|stage| stage.cpu_ns).sum();
    let cpu_ns = record.cpu_ns.expect("all processes have ended");
    assert!(in_stages_ns > 0 && in_stages_ns < cpu_ns + 20_000_000, "{in_stages_ns} of {cpu_ns}");
    assert!(record.started_unix_ns > 1_600_000_000_000_000_000);
    assert!(record.host.cpus >= 1 && record.host.kernel.contains('.'));
    for stage in &record.stages {
        let sum = stage.running_percent
            + stage.runnable_percent
            + stage.blocked_reading_percent.unwrap()
            + stage.blocked_writing_percent.unwrap()
            + stage.blocked_other_percent;
        assert!((95.0..=105.0).contains(&sum), "shares add up to {sum}: {stage:#?}");
        assert_eq!(stage.exit_status.unwrap_or(0), 0);
        assert!(
            stage.peak_memory_bytes.is_some_and(|bytes| (100_000..100_000_000).contains(&bytes)),
            "{stage:#?}"
        );
    }
    let steps = record.timeline.stages[0].running.len();
    assert!(steps >= 5, "{steps} steps");
    assert!(
        record
            .timeline
            .stages
            .iter()
            .all(|stage| stage.running.len() == steps && stage.runnable.len() == steps)
    );
}

#[test]
fn several_reports_of_one_run() {
    let place = Sandbox::new();
    let ended = place.run(&[
        "run",
        "-q",
        "--report",
        "one.json",
        "--report=two.json",
        "--report",
        "page.html",
        "seq 10 | cat",
    ]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!(
        std::fs::read(place.path("one.json")).unwrap(),
        std::fs::read(place.path("two.json")).unwrap()
    );
    assert!(place.path("page.html").exists());
}

#[test]
fn an_old_report_is_replaced_as_a_whole() {
    let place = Sandbox::new();
    std::fs::write(place.path("report.json"), vec![b'x'; 1 << 20]).unwrap();
    finish(place.reporting(&[], "true"));
    let report: Value =
        serde_json::from_slice(&std::fs::read(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema"], SCHEMA);
}

#[test]
fn the_page_stands_alone() {
    let place = Sandbox::new();
    let ended =
        place.run(&["run", "-q", "--report", "page.html", "seq 300000 | sort | tail -1 # <b>&\"'"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..page.len().min(80)]);
    assert!(page.contains("<svg") && page.contains("seq 300000"));
    assert!(!page.contains("# <b>"), "the command is not escaped");
    for outside in ["src=\"http", "src='http", "href=\"//", "src=\"//", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page loads something from elsewhere: {outside}");
    }
}

#[test]
fn the_page_opens_in_a_browser() {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let browser = browsers.into_iter().find(|browser| crate::sandbox::is_installed(browser));
    require!(browser.is_some(), "no Chromium is installed");
    let place = Sandbox::new();
    let ended = place.run(&["run", "-q", "--report", "page.html", "seq 300000 | sort | tail -1"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let mut command = place.command(browser.unwrap());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--user-data-dir=profile",
    ]);
    command.args(["--virtual-time-budget=3000", "--enable-logging=stderr", "--dump-dom"]);
    command
        .arg(format!("file://{}", place.path("page.html").display()))
        .env("HOME", place.path(""));
    let ended = finish(command);
    let page = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(page.contains("sort") && page.contains("<svg"), "{page}\n{}", ended.stderr);
    let complaints: Vec<_> = ended.stderr.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn a_run_too_short_to_observe_has_a_report_too() {
    let record = Sandbox::new().record(&[], "true");
    assert_eq!((record.schema.as_str(), record.exit_status), (SCHEMA, Some(0)));
    assert_eq!(Sandbox::new().record(&[], "").exit_status, Some(0));
}

#[test]
fn a_report_is_written_when_the_pipeline_was_killed() {
    let record = Sandbox::new().record(&[], "sleep 0.2 | cat; kill -KILL $$");
    assert_eq!(record.exit_status, Some(137));
    assert_eq!(record.stages.len(), 2, "{:#?}", record.stages);
}

#[test]
fn strict_names_what_could_not_be_done() {
    let place = Sandbox::new();
    std::os::unix::fs::symlink("/dev/full", place.path("full.json")).unwrap();
    let ended = place.run(&["run", "-q", "--strict", "--report", "full.json", "sleep 0.1; exit 3"]);
    assert_eq!(status_text(ended.status), "exit 125");
    let said = ended.stderr.lines().find(|line| line.contains("--strict: ")).unwrap_or_default();
    assert!(said.contains("full.json: No space left"), "{}", ended.stderr);
    assert!(said.ends_with("(the pipeline returned 3)"), "{}", ended.stderr);
}
