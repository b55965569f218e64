//! Runs the example as its README does.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::process::Command;

#[test]
fn the_example_is_a_stage_of_a_pipeline() {
    let test = std::env::current_exe().unwrap();
    // The tests live in target/PROFILE/deps.
    let program = test.ancestors().nth(2).unwrap().join("examples/upper");
    let run = |line: &str| Command::new("sh").args(["-c", line]).arg(&program).output().unwrap();
    assert_eq!(run("echo hello | \"$0\"").stdout, b"HELLO\n");
    let cut = run("{ yes | \"$0\"; echo status $? >&2; } | head -n 2");
    assert_eq!(
        (cut.stdout.as_slice(), cut.stderr.as_slice()),
        (b"Y\nY\n".as_slice(), b"status 0\n".as_slice())
    );
}
