//! `fullbore gather` on folders of records: what it names, what it counts, what it refuses.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ended, Sandbox, status_text};

const SECOND: u64 = 1_000_000_000;

/// The record of a job as `fullbore run` writes it, made by a real run.
fn template(place: &Sandbox) -> Value {
    let record = place.record(&["--no-tune"], "head -c 3000000 /dev/zero | gzip | wc -c");
    fs::remove_file(place.path("report.json")).unwrap();
    serde_json::to_value(record).unwrap()
}

/// Writes a job of a rule: start and length in seconds.
fn write(
    place: &Sandbox,
    template: &Value,
    file: &str,
    rule: &str,
    host: &str,
    start: u64,
    seconds: u64,
) {
    let mut record = template.clone();
    record["job"] = json!({"variables": {"SLURM_JOB_NAME": rule, "SLURM_JOB_ID": "1"}});
    record["host"]["name"] = host.into();
    record["started_unix_ns"] = json!((1_780_000_000 + start) * SECOND);
    record["elapsed_ns"] = json!(seconds * SECOND);
    for stage in record["stages"].as_array_mut().unwrap() {
        stage["life_ns"] = json!(seconds * SECOND);
    }
    let path = place.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_string_pretty(&record).unwrap()).unwrap();
}

/// Jobs of two rules on three hosts; on `slow`, they take three times as long.
fn workflow(place: &Sandbox, folder: &str, slow: &str) -> Value {
    let template = template(place);
    write_jobs(place, &template, folder, slow);
    template
}

fn write_jobs(place: &Sandbox, template: &Value, folder: &str, slow: &str) {
    for (rule, length) in [("align", 20), ("merge", 8)] {
        for host in ["a", "b", "c"] {
            for number in 0..8 {
                let seconds = (length + number % 3) * if host == slow { 3 } else { 1 };
                let file = format!("{folder}/{host}/{rule}-{number}.json");
                write(place, template, &file, rule, host, number * 70, seconds);
            }
        }
    }
}

fn text(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.clone()).unwrap()
}

fn json_of(place: &Sandbox, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(place.path(name)).unwrap()).unwrap()
}

#[test]
fn a_slow_host_is_the_verdict_of_text_page_and_json() {
    let place = Sandbox::new();
    workflow(&place, "records", "b");
    let ended = place.run(&["gather", "records", "--report", "w.html", "--report", "w.json"]);
    assert_eq!((status_text(ended.status).as_str(), ended.stderr.as_str()), ("exit 0", ""));
    let shown = text(&ended);
    assert!(shown.starts_with("  48 jobs of 2 rules on 3 hosts in "), "{shown}");
    assert!(shown.contains("slow host: On host b, the jobs of all 2 rules"), "{shown}");
    assert!(shown.contains("> b"), "{shown}");
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let found = json_of(&place, "w.json");
    assert_eq!(found["schema"], "fullbore.workflow/1");
    assert_eq!(found["findings"][0]["kind"], "slow_host");
    let host = &found["findings"][0]["host"];
    let host = usize::try_from(host.as_u64().unwrap()).unwrap();
    assert_eq!(found["hosts"][host]["name"], "b");
    assert_eq!(found["jobs"].as_array().unwrap().len(), 48);
    let page = fs::read_to_string(place.path("w.html")).unwrap();
    assert!(page.contains("On host b, the jobs") && page.contains("<svg"), "{page}");
}

#[test]
fn quiet_prints_nothing_and_top_shortens_the_lists() {
    let place = Sandbox::new();
    workflow(&place, "records", "b");
    let ended = place.run(&["gather", "-q", "records", "--report", "w.json"]);
    assert_eq!((text(&ended).as_str(), ended.stderr.as_str()), ("", ""));
    assert!(place.path("w.json").exists());
    let shown = text(&place.run(&["gather", "--top", "1", "records"]));
    assert!(
        shown.contains("… and 1 more rule\n") && shown.contains("… and 2 more hosts"),
        "{shown}"
    );
}

#[test]
fn two_runs_are_compared_rule_by_rule() {
    let place = Sandbox::new();
    let template = workflow(&place, "old", "");
    // The same pipeline, so that jobs differ in nothing but their times.
    write_jobs(&place, &template, "new", "");
    for host in ["a", "b", "c"] {
        for number in 0..8 {
            let file = format!("new/{host}/align-{number}.json");
            write(&place, &template, &file, "align", host, number * 70, 2 * (20 + number % 3));
        }
    }
    let ended = place.run(&["gather", "new", "--against", "old", "--report", "w.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let found = json_of(&place, "w.json")["against"].clone();
    let rule = |place: usize| &found["rules"][place];
    assert_eq!((&rule(0)["name"], &rule(0)["is_certain"]), (&json!("align"), &json!(true)));
    assert!((rule(0)["times"].as_f64().unwrap() - 2.0).abs() < 0.05, "{found:#}");
    assert_eq!(rule(1)["is_certain"], false, "{found:#}");
    assert!(text(&ended).contains("compared: The workflow took"), "{}", text(&ended));
}

#[test]
fn what_is_no_record_is_counted_and_said() {
    let place = Sandbox::new();
    let template = workflow(&place, "records", "");
    let whole = serde_json::to_string(&template).unwrap();
    for (name, content) in [
        ("half.json", &whole[..whole.len() / 2]),
        ("empty.json", ""),
        ("lab.json", "{\"schema\": \"fullbore.lab/1\"}"),
        ("page.html", "<html>"),
        (".writing.json", "{"),
    ] {
        fs::write(place.path("records").join(name), content).unwrap();
    }
    let one = place.path("records/a/align-0.json");
    fs::copy(&one, place.path("records/copy.json")).unwrap();
    symlink("../records", place.path("records/circle")).unwrap();
    symlink("self.json", place.path("records/self.json")).unwrap();
    symlink(&one, place.path("records/link.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path("records/fifo.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let ended = place.run(&["gather", "records", "--report", "w.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let files = json_of(&place, "w.json")["files"].clone();
    let counts = ["seen", "records", "copies", "others"].map(|name| files[name].as_u64().unwrap());
    assert_eq!(counts, [55, 48, 2, 2], "{files:#}");
    let shown = text(&ended);
    for part in [
        "5 of 55 files",
        "cut off (half.json)",
        "1 empty (empty.json)",
        "fullbore.lab/1",
        "no regular file (fifo.json)",
        "(self.json)",
    ] {
        assert!(
            shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(part),
            "{part}: {shown}"
        );
    }
}

#[test]
fn a_folder_without_records_is_refused_with_a_hint() {
    let place = Sandbox::new();
    fs::create_dir(place.path("none")).unwrap();
    let refused = |name: &str, cause: &str| {
        let ended = place.run(&["gather", name]);
        assert_eq!(status_text(ended.status), "exit 2", "{}", text(&ended));
        assert!(ended.stderr.contains(cause) && text(&ended).is_empty(), "{}", ended.stderr);
        if ended.stderr.contains("hint:") {
            crate::advice::assert_hint_is_understood(&ended.stderr);
        }
    };
    refused("none", "gather: none: no file is there");
    fs::write(place.path("none/a.txt"), "").unwrap();
    refused("none", "none of its 1 files ends in .json");
    fs::write(place.path("none/a.json"), "{").unwrap();
    refused("none", "none of 1 files is a record of a run: 1 cut off (a.json)");
    refused("missing", "gather: missing: No such file or directory");
    let unwritable = place.run(&["gather", "none", "--report", "missing/w.json"]);
    assert!(unwritable.stderr.contains("missing/w.json"), "{}", unwritable.stderr);
}

#[test]
fn names_of_strangers_steer_neither_terminal_nor_page() {
    use std::os::unix::ffi::OsStrExt;
    let place = Sandbox::new();
    let mut template = workflow(&place, "records", "");
    template["command"] = "evil \u{1b}[2J</script><script>alert(1)</script> \"x' & \u{202e}".into();
    let rule = "<b>\u{1b}]0;t\u{7}\nrule";
    for number in 0..10 {
        let file = format!("records/<i>{number}.json");
        write(&place, &template, &file, rule, "<u>\u{1b}[31m", number * 50, 40);
    }
    let odd = place.path("records").join(Path::new(std::ffi::OsStr::from_bytes(b"\xff\x1b.json")));
    fs::write(odd, "{").unwrap();
    let ended = place.run(&["gather", "records", "--report", "w.html"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let shown = text(&ended);
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    let page = fs::read_to_string(place.path("w.html")).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<i>") && !page.contains("<u>") && page.contains("&lt;u&gt;"));
}

#[test]
fn a_folder_that_cannot_be_listed_is_counted() {
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    require_programs!("setpriv");
    let place = Sandbox::new();
    workflow(&place, "records", "");
    for folder in ["", "records", "records/a", "records/b"] {
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(place.path("records/c"), fs::Permissions::from_mode(0o0)).unwrap();
    place.copy_program(crate::sandbox::fullbore(), "fullbore-copy");
    let mut command = place.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.args(["./fullbore-copy", "gather", "records"]);
    let ended = crate::sandbox::finish(command);
    fs::set_permissions(place.path("records/c"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let shown = text(&ended).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("32 jobs") && shown.contains("1 unreadable folder: permission denied (c)"),
        "{shown}"
    );
}
