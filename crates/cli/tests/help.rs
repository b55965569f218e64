//! Help, completions and the manual page: complete, and useful to somebody who has only them.

use std::io::Write;
use std::process::Stdio;

use crate::sandbox::{Sandbox, finish, status_text};

/// Every option of `run` that is promised.
const OPTIONS: &[&str] = &[
    "--shell",
    "--no-tune",
    "--pipe-size",
    "--report",
    "--live",
    "--quiet",
    "-q",
    "--strict",
    "--help",
    "PIPELINE",
];

fn text_of(args: &[&str]) -> String {
    let ended = Sandbox::new().run(args);
    assert_eq!(status_text(ended.status), "exit 0", "{args:?}: {}", ended.stderr);
    assert_eq!(ended.stderr, "", "{args:?}");
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn help_of_run_names_every_option_and_has_an_example() {
    let help = text_of(&["run", "--help"]);
    for option in OPTIONS {
        assert!(help.contains(option), "{option} is not in the help:\n{help}");
    }
    assert!(help.contains("fullbore run '"), "no example:\n{help}");
}

#[test]
fn help_names_every_command() {
    let help = text_of(&["--help"]);
    for command in ["run", "completions", "man"] {
        assert!(help.contains(command), "{command} is not in the help:\n{help}");
    }
    assert!(help.contains("fullbore run '"), "no example:\n{help}");
}

#[test]
fn every_option_has_a_description() {
    let help = text_of(&["run", "-h"]);
    for line in help.lines().filter(|line| line.trim_start().starts_with('-')) {
        assert!(
            line.trim().split("  ").filter(|part| !part.is_empty()).count() >= 2,
            "no description: {line}"
        );
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(text_of(&["--version"]).trim(), concat!("fullbore ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_arguments_the_help_is_shown_as_bad_usage() {
    let ended = Sandbox::new().run(&[]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("run"), "{}", ended.stderr);
    assert!(ended.stdout.is_empty());
}

#[test]
fn completions_are_scripts_their_shell_accepts() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text_of(&["completions", shell]);
        assert!(script.contains("pipe-size") && script.contains("fullbore"), "{shell}: {script}");
    }
    require_programs!("bash");
    let place = Sandbox::new();
    std::fs::write(place.path("completions"), text_of(&["completions", "bash"])).unwrap();
    let mut check = place.command("bash");
    check.args(["--norc", "-c", "source ./completions && complete -p fullbore"]);
    let ended = finish(check);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
}

#[test]
fn an_unknown_shell_has_no_completions() {
    assert_eq!(status_text(Sandbox::new().run(&["completions", "no-such-shell"]).status), "exit 2");
}

#[test]
fn the_manual_page_is_a_manual_page() {
    let page = text_of(&["man"]);
    assert!(page.contains(".TH"), "{page}");
    for option in OPTIONS.iter().filter(|option| option.starts_with("--")) {
        assert!(page.replace("\\-", "-").contains(option), "{option} is not in the manual page");
    }
    require_programs!("man");
    let place = Sandbox::new();
    let mut man = place.command("man");
    man.args(["--warnings", "-l", "-"]).env("MANPAGER", "cat").stdin(Stdio::piped());
    man.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = man.spawn().unwrap();
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("PIPELINE"));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn help_cut_short_by_a_reader_is_no_failure() {
    let place = Sandbox::new();
    let mut command = place.command("bash");
    command
        .args(["-c", r#""$@" | true; echo ${PIPESTATUS[0]}"#, "around"])
        .arg(crate::sandbox::fullbore())
        .arg("man");
    let ended = finish(command);
    let status = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    assert!(["0", "141"].contains(&status.as_str()), "{status}");
    assert_eq!(ended.stderr, "");
}
