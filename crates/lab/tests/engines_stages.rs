//! The sides of `overlap` as stages of a shell pipeline, and what a trial leaves behind.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod program;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use program::{program, trial};

fn shell(line: &str) -> (String, Option<i32>) {
    let line = line.replace("{stage}", &format!("{} stage", program().display()));
    let out = Command::new("sh").args(["-c", &line]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap() + &String::from_utf8_lossy(&out.stderr);
    (text, out.status.code())
}

#[test]
fn a_pipeline_of_stages_moves_the_stream_of_the_engine() {
    let sizes = "burst=64K total=1M producer_work=1";
    let direct = shell(&format!("{{stage}} produce {sizes} | {{stage}} consume consumer_work=1"));
    let queued = shell(&format!("{{stage}} produce {sizes} | cat | {{stage}} consume read=777"));
    assert_eq!(direct, queued);
    let parameters =
        r#"{"burst": 65536, "total": 1048576, "producer_work": 1, "consumer_work": 1}"#;
    let digest = trial("overlap", parameters).unwrap().answer.unwrap();
    assert_eq!(direct, (format!("1048576 bytes {digest}\n"), Some(0)));
}

#[test]
fn json_is_counted_and_a_wrong_word_is_named() {
    let line = r#"printf '{"a": [1, "x y"]}' | {stage} consume-json read=3"#;
    assert_eq!(shell(line), ("17 bytes 9 tokens\n".to_owned(), Some(0)));
    let (text, status) = shell("{stage} consume red=3");
    assert!(text.contains("consume: no parameter red; there are consumer_work"), "{text}");
    assert_eq!(status, Some(2));
}

/// Pids of the processes that this one started and that are still there.
fn children_of(pid: u32) -> Vec<String> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_coordinator_that_is_killed_takes_both_sides_with_it() {
    let mut trial =
        Command::new(program()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let job = br#"{"engine": "pipe", "parameters": {"total": 1152921504606846976}}"#;
    trial.stdin.take().unwrap().write_all(job).unwrap();
    let pid = trial.id();
    eventually("two sides", || children_of(pid).len() == 2);
    let sides = children_of(pid);
    trial.kill().unwrap();
    trial.wait().unwrap();
    let is_gone = |side: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{side}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    eventually("both sides gone", || sides.iter().all(is_gone));
}

#[test]
fn a_side_without_a_coordinator_says_so() {
    let side = Command::new(program())
        .arg(fullbore_lab::engines::SIDE)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&side.stderr);
    assert!(text.contains("standard input"), "{text}");
    assert_eq!(side.status.code(), Some(2));
}
