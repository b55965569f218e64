//! What `fullbore doctor` says about the machine that it runs on.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::bad_input::in_own_mounts;
use crate::sandbox::{Ended, Sandbox, finish, fullbore, status_text, wait_or_kill};
use crate::terminal::Terminal;

fn text(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.clone()).unwrap()
}

/// `fullbore doctor --json`, which has to agree with its exit status.
fn document(ended: &Ended) -> Value {
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let costs = findings.iter().any(|finding| finding["level"] == "costs_speed");
    assert_eq!(status_text(ended.status), if costs { "exit 1" } else { "exit 0" }, "{document:#}");
    assert_eq!(ended.stderr, "");
    document
}

/// The names of findings that do not change from one moment to the next.
fn lasting(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap().iter();
    let names = findings.map(|finding| finding["name"].as_str().unwrap().to_owned());
    names.filter(|name| !name.ends_with("pressure") && name != "memory").collect()
}

#[test]
fn json_has_the_documented_shape_and_the_status_says_whether_anything_costs() {
    let document = document(&Sandbox::new().run(&["doctor", "--json"]));
    assert_eq!(document["schema"], "fullbore.doctor/1");
    assert!(document["kernel"].as_str().unwrap().contains('.'), "{document:#}");
    for finding in document["findings"].as_array().unwrap() {
        let keys: Vec<&String> = finding.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 7, "{finding:#}");
        for key in ["name", "level", "what", "consequence", "source"] {
            assert!(finding[key].is_string(), "{key}: {finding:#}");
        }
        let level = finding["level"].as_str().unwrap();
        assert!(["costs_speed", "hides", "good_to_know"].contains(&level), "{finding:#}");
        assert!(finding["commands"].is_array() && finding["undo"].is_array(), "{finding:#}");
    }
    for unread in document["unread"].as_array().unwrap() {
        assert!(unread["what"].is_string() && unread["why"].is_string(), "{unread:#}");
    }
}

#[test]
fn the_text_has_every_command_of_the_json_on_a_line_of_its_own() {
    let place = Sandbox::new();
    let document = document(&place.run(&["doctor", "--json"]));
    let text = text(&place.run(&["doctor"]));
    assert!(text.contains("speed here."), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let findings = document["findings"].as_array().unwrap();
    let names = lasting(&document);
    for finding in findings
        .iter()
        .filter(|finding| names.contains(&finding["name"].as_str().unwrap().to_owned()))
    {
        for command in finding["commands"].as_array().unwrap() {
            let line = format!("      {}", command.as_str().unwrap());
            assert!(text.lines().any(|shown| shown == line), "{line} is not in:\n{text}");
        }
    }
    for line in text.lines().filter(|line| !line.starts_with("      ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn every_command_is_one_that_a_shell_understands() {
    let place = Sandbox::new();
    let document = document(&place.run(&["doctor", "--json"]));
    for finding in document["findings"].as_array().unwrap() {
        let both = [&finding["commands"], &finding["undo"]];
        for command in both.into_iter().flat_map(|commands| commands.as_array().unwrap()) {
            let mut check = place.command("sh");
            check.args(["-n", "-c", command.as_str().unwrap()]);
            assert_eq!(status_text(finish(check).status), "exit 0", "{command}");
        }
    }
}

#[test]
fn a_user_without_privileges_gets_an_answer() {
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    require_programs!("setpriv");
    let place = Sandbox::new();
    place.copy_program(fullbore(), "fullbore-copy");
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = place.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.args(["./fullbore-copy", "doctor", "--json"]);
    let document = document(&finish(command));
    let all = lasting(&document);
    // Linux limits the pipes of this user only.
    assert!(!all.contains(&"process_facts".to_owned()), "{document:#}");
}

#[test]
fn a_process_on_one_cpu_is_told_so_with_a_command_that_lifts_it() {
    require_programs!("taskset", "bash");
    let place = Sandbox::new();
    require!(std::thread::available_parallelism().unwrap().get() > 1, "there is only one CPU");
    let mut command = place.command("taskset");
    command.args(["-c", "0"]).arg(fullbore()).args(["doctor", "--json"]);
    let document = document(&finish(command));
    let findings = document["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["name"] == "cpus").unwrap();
    let lift = found["commands"][0].as_str().unwrap();
    require!(lift.starts_with("taskset"), "a control group allows fewer CPUs than there are");
    // Pasted into the shell that it was printed for, it helps.
    let mut shell = place.command("bash");
    let again = format!("{lift} > /dev/null; exec {} doctor --json", fullbore().display());
    shell.args(["-c", &format!("taskset -pc 0 $$ > /dev/null; {again}")]);
    let after: Value = serde_json::from_slice(&finish(shell).stdout).unwrap();
    assert!(!lasting(&after).contains(&"cpus".to_owned()), "{after:#}");
}

#[test]
fn without_sys_that_is_said_and_nothing_is_invented() {
    require_programs!("unshare");
    let place = Sandbox::new();
    let ended = in_own_mounts(&place, "mount -t tmpfs none /sys", r#"exec "$1" doctor --json"#);
    require!(ended.is_some(), "covering /sys is not allowed here");
    let document = document(&ended.unwrap());
    let all = lasting(&document);
    for invented in ["perf_events", "wake_ups", "counters", "huge_pages", "cpus"] {
        assert!(!all.contains(&invented.to_owned()), "{document:#}");
    }
    assert_eq!(document["unread"][0]["what"], "/sys");
}

#[test]
fn an_output_that_is_closed_or_full_or_left_is_met_with_manners() {
    require_programs!("bash");
    let place = Sandbox::new();
    let ours = fullbore().display().to_string();
    let status = |line: &str| {
        let mut command = place.command("bash");
        command.args(["-c", line]);
        let ended = finish(command);
        assert!(!ended.stderr.contains("panicked"), "{line}: {}", ended.stderr);
        (ended.status.code(), ended.stderr)
    };
    let (code, message) = status(&format!("{ours} doctor >&-"));
    assert_eq!(code, Some(2), "{message}");
    let (code, message) = status(&format!("{ours} doctor > /dev/full"));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("No space left"), "{message}");
    let (code, message) = status(&format!("{ours} doctor | head -1 > first; wc -l < first"));
    assert_eq!((code, message.as_str()), (Some(0), ""));
    // A reader that has left before anything is written.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = place.fullbore(&["doctor"]).stdout(writer).spawn().unwrap();
    let status = status_text(wait_or_kill(&mut child, "doctor without a reader"));
    assert_eq!(status, "exit 141");
}

#[test]
fn on_a_narrow_terminal_only_commands_are_wider_than_it() {
    require_programs!("setsid");
    let place = Sandbox::new();
    let ours = fullbore().display().to_string();
    let mut terminal = Terminal::start(&place, 40, 30, &[&ours, "doctor"], &[("NO_COLOR", "1")]);
    let (_, shown) = terminal.wait_for_end();
    assert!(shown.contains("speed here."), "{shown}");
    for line in shown.lines().filter(|line| !line.starts_with("      ")) {
        assert!(line.trim_end().chars().count() <= 40, "{line:?}");
    }
    let mut terminal = Terminal::start(&place, 80, 30, &[&ours, "doctor"], &[("NO_COLOR", "")]);
    let (_, shown) = terminal.wait_for_end();
    let has_findings = shown.contains(": ");
    assert!(!has_findings || shown.contains('\u{1b}'), "colours on a terminal: {shown:?}");
}

#[test]
fn wrong_usage_is_refused() {
    for words in [&["doctor", "now"][..], &["doctor", "--jsn"]] {
        let ended = Sandbox::new().run(words);
        assert_eq!(status_text(ended.status), "exit 2", "{words:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty(), "{words:?}");
    }
}
