//! Trials in a process of their own, by the example `engine`.
#![allow(
    dead_code,
    clippy::print_stderr,
    reason = "each test program uses a part; skipped tests say so"
)]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use fullbore_lab::{Job, TrialResult};

/// The program, built if need be.
pub(crate) fn program() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // target/PROFILE/deps/TEST
        let test = std::env::current_exe().unwrap();
        let profile = test.ancestors().nth(2).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "fullbore-lab", "--example", "engine"]);
        // The folder of a profile has its name, but for one.
        if !profile.ends_with("debug") {
            build.arg("--profile").arg(profile.file_name().unwrap());
        }
        assert!(build.status().unwrap().success(), "the program of the tests does not build");
        profile.join("examples")
    });
    folder.join("engine")
}

/// Says why a test is skipped; fails when nothing may be skipped.
pub(crate) fn skipped(why: &str) {
    assert!(
        std::env::var_os("FULLBORE_CI").is_none(),
        "skipped: {why} (FULLBORE_CI is set, so this is a failure)"
    );
    eprintln!("skipped: {why}");
}

/// A job from the JSON of its parameters.
pub(crate) fn job(engine: &str, parameters: &str) -> Job {
    Job { engine: engine.to_owned(), parameters: serde_json::from_str(parameters).unwrap() }
}

/// One trial: its sample, or what the program said.
pub(crate) fn trial(engine: &str, parameters: &str) -> Result<TrialResult, String> {
    let mut child = Command::new(program())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let job = serde_json::to_string(&job(engine, parameters)).unwrap();
    child.stdin.take().unwrap().write_all(job.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    if out.status.success() {
        return Ok(serde_json::from_slice(&out.stdout).unwrap());
    }
    let text = String::from_utf8(out.stderr).unwrap();
    Err(text.trim_end().trim_start_matches("engine: ").to_owned())
}
