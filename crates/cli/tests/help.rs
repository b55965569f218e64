//! Help, completions and the manual page: complete, and useful to somebody who has only them.

use std::io::Write;
use std::process::Stdio;

use crate::arguments::{commands, examples};
use crate::sandbox::{Sandbox, finish, status_text};

/// Every option of `run` that is promised.
const OPTIONS: &[&str] = &[
    "--shell",
    "--no-tune",
    "--pipe-size",
    "--exact",
    "--what-if",
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
fn help_names_every_command_and_every_command_has_an_example() {
    for (path, command) in commands() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let help = text_of(&[&words[..], &["--help"]].concat());
        for (child, _) in commands().iter().filter(|(child, _)| child.starts_with(&path)) {
            if let [name] = &child[path.len()..] {
                assert!(help.contains(&format!("\n  {name}")), "{name} is not in:\n{help}");
            }
        }
        // A command of a group has them there, or its own.
        let group = commands().into_iter().find(|(group, _)| group == &path[..path.len().min(1)]);
        let group = group.map(|(_, group)| examples(&group)).unwrap_or_default();
        assert!(!examples(&command).is_empty() || !group.is_empty(), "no example: {path:?}");
        for example in examples(&command) {
            assert!(help.contains(&example), "{example} is not whole in:\n{help}");
        }
    }
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
fn the_version_with_v_says_how_stages_work_and_write_here() {
    for words in [&["--version", "-v"][..], &["-V", "--verbose"], &["-v", "--version"], &["-Vv"]] {
        let text = text_of(words);
        let lines: Vec<_> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(lines, ["fullbore", "kernels:", "writer:"], "{text}");
        let ways = ["writer: ring", "writer: fresh (", "writer: copy ("];
        assert!(ways.iter().any(|way| text.contains(way)), "{text}");
    }
    assert_eq!(status_text(Sandbox::new().run(&["-v"]).status), "exit 2");
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

/// A manual page as somebody reads it in a terminal of 80 columns.
fn read_page(page: &str) -> String {
    let place = Sandbox::new();
    let mut man = place.command("man");
    man.args(["--warnings", "-l", "-"]).env("MANPAGER", "cat").env("MANWIDTH", "80");
    man.env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = man.spawn().unwrap();
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn every_command_has_a_manual_page_with_all_options_and_whole_examples() {
    require_programs!("man");
    for (path, command) in commands() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let page = text_of(&[&["man"][..], &words].concat());
        let read = read_page(&page);
        let name = [&["fullbore"][..], &words].concat().join("-");
        assert!(read.contains(&format!("{name} - ")), "{read}");
        let options = command.get_arguments().filter(|option| !option.is_hide_set());
        for option in options.filter_map(|option| option.get_long()) {
            assert!(read.contains(&format!("--{option}")), "{name}: no --{option} in\n{read}");
        }
        for example in examples(&command) {
            assert!(read.lines().any(|line| line.trim() == example), "{example} is not in\n{read}");
        }
        let below = commands();
        for (child, _) in below.iter().filter(|(child, _)| child.len() == path.len() + 1) {
            let is_ours = child.starts_with(&path);
            let page = format!("fullbore-{}(1)", child.join("-"));
            assert!(!is_ours || read.contains(&page), "{name}: no {page} in\n{read}");
        }
    }
}

#[test]
fn all_manual_pages_are_written_into_a_folder() {
    let place = Sandbox::new();
    let ended = place.run(&["man", "--directory", "new/man1"]);
    assert_eq!((status_text(ended.status).as_str(), ended.stderr.as_str()), ("exit 0", ""));
    let mut written: Vec<String> = std::fs::read_dir(place.path("new/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let page =
        |path: Vec<String>| format!("{}.1", [vec!["fullbore".to_owned()], path].concat().join("-"));
    let mut wanted: Vec<String> = commands().into_iter().map(|(path, _)| page(path)).collect();
    written.sort();
    wanted.sort();
    assert_eq!(written, wanted);
}

#[test]
fn completions_offer_every_command_and_every_name() {
    let script = text_of(&["completions", "bash"]);
    for (path, command) in commands() {
        let values = command.get_arguments().flat_map(|argument| argument.get_possible_values());
        let names = path.last().cloned().into_iter();
        for name in names.chain(values.map(|value| value.get_name().to_owned())) {
            assert!(script.contains(&name), "{name} of {path:?} is not offered");
        }
    }
    for name in ["magma", "korean", "transports", "one-and-zeros"] {
        assert!(script.contains(name), "{name} is not offered");
    }
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
