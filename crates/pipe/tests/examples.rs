//! Runs the example as its README does.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::process::Command;

#[test]
fn the_example_writes_as_many_zeros_as_it_was_told_and_a_reader_may_leave() {
    let test = std::env::current_exe().unwrap();
    // The tests live in target/PROFILE/deps.
    let program = test.ancestors().nth(2).unwrap().join("examples/zeros");
    let output = Command::new(&program).arg("3M").output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, vec![0; 3 << 20]);
    let mut line = Command::new("sh");
    line.args(["-c", "{ \"$0\" 8M; echo status $? >&2; } | head -c 1000"]).arg(program);
    let cut = line.output().unwrap();
    assert_eq!((cut.stdout.len(), cut.stderr.as_slice()), (1000, b"status 0\n".as_slice()));
}
