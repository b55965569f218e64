//! Tests what a process is started with and what it closes. Each check needs its own process.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of a program of `examples/`, which cargo builds with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // The tests live in target/PROFILE/deps.
    test.ancestors().nth(2).unwrap().join("examples").join(name)
}

#[test]
fn inherited_ends_are_closed_once_and_our_own_stay() {
    let status = Command::new("sh")
        .args(["-c", "exec \"$0\" 8</dev/null 9</dev/null"])
        .arg(example("let_go"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .status()
        .unwrap();
    assert_eq!(
        status.code(),
        Some(0),
        "the promise of that number in examples/let_go.rs was broken"
    );
}

#[test]
fn the_state_before_the_runtime_changes_it_is_recorded() {
    for (line, facts) in [
        ("exec \"$0\" </dev/null", ""),
        ("exec \"$0\" <&-", "stdin-closed"),
        ("exec \"$0\" </dev/null >&-", "stdout-closed"),
        ("trap '' PIPE; exec \"$0\" </dev/null", "sigpipe-ignored"),
        ("trap '' PIPE; exec \"$0\" <&- >&-", "stdin-closed stdout-closed sigpipe-ignored"),
    ] {
        let mut command = Command::new("sh");
        let found = command.args(["-c", line]).arg(example("what_was_found")).output().unwrap();
        assert_eq!(String::from_utf8(found.stderr).unwrap().trim(), facts, "{line}");
    }
}
