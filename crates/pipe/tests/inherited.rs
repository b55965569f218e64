//! What a process is started with, and what it lets go of. Each check needs a process of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program of `examples/let_go.rs`, which cargo builds with the tests.
fn let_go() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a program");
    let profile = test.ancestors().nth(2).expect("tests live in target/PROFILE/deps");
    profile.join("examples/let_go")
}

#[test]
fn inherited_ends_are_closed_and_our_own_stay() {
    let status = Command::new("sh")
        .args(["-c", "exec \"$0\" 9</dev/null"])
        .arg(let_go())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .status()
        .expect("sh starts");
    assert_eq!(
        status.code(),
        Some(0),
        "the promise of that number in examples/let_go.rs was broken"
    );
}
