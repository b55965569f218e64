//! Tests that a program which only links the crate is left alone before `main`.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::process::Command;

#[test]
fn a_program_that_only_links_the_crate_is_not_inspected_and_keeps_its_descriptors() {
    let test = std::env::current_exe().unwrap();
    // The tests live in target/PROFILE/deps.
    let program = test.ancestors().nth(2).unwrap().join("examples/nothing_before_main");
    let mut command = Command::new("sh");
    let line = "trap '' PIPE; exec \"$0\" <&- 9</dev/null";
    let status = command.args(["-c", line]).arg(program).status().unwrap();
    assert_eq!(status.code(), Some(0), "the promise of that number in the example was broken");
}
