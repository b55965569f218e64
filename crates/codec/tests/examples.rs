//! Runs the example as its README does.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::process::Command;

#[test]
fn the_example_encodes_its_input_up_to_a_fault() {
    let test = std::env::current_exe().unwrap();
    // The tests live in target/PROFILE/deps.
    let program = test.ancestors().nth(2).unwrap().join("examples/to_morse");
    let run = |line: &str| Command::new("sh").args(["-c", line]).arg(&program).output().unwrap();
    let whole = run("echo 'SOS Москва' | \"$0\"");
    let morse = "... --- ... / -- --- ... -.- .-- .-\n";
    assert_eq!(
        (whole.status.code(), String::from_utf8(whole.stdout).unwrap()),
        (Some(0), morse.to_owned())
    );
    let broken = run("printf 'SOS \\377' | \"$0\"");
    assert_eq!((broken.status.code(), broken.stdout.starts_with(b"... --- ...")), (Some(1), true));
}
