//! What people install: the static binary and the Debian package. `make test-packages` builds both and runs this.
//!
//! `FULLBORE_STATIC` and `FULLBORE_DEB` name them. A test whose package is not named is skipped, with `FULLBORE_CI=1` it fails.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test reports by panicking and printing"
)]

mod debian;
mod empty_root;

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The package that the variable names; `None` says why the test is skipped.
fn package(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skipped(&format!("{variable} is not set"));
    }
    path
}

/// Tells whether all programs are installed, and says which one is not.
fn are_installed(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let mut search = Command::new("sh");
        search.args(["-c", "command -v \"$0\" > /dev/null", program]);
        !search.status().unwrap().success()
    });
    if let Some(program) = missing {
        skipped(&format!("{program} is not installed"));
    }
    missing.is_none()
}

fn skipped(why: &str) {
    assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why} (FULLBORE_CI is set)");
    eprintln!("skipped: {why}");
}

/// Runs a program to its end, with these bytes as its input.
fn run(program: impl AsRef<OsStr>, arguments: &[&OsStr], input: &[u8]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may end without reading all of it.
    let input = input.to_vec();
    let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    output
}

/// What a program printed, which must have succeeded.
fn text(output: Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {message}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
