//! What `json group` says when it is asked in the middle, and when it is interrupted.

use std::fs::File;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};

use rustix::process::Signal;

use crate::processes::Process;
use crate::sandbox::{Sandbox, eventually, status_text, wait_or_kill};

const RECORDS: usize = 400_000;

/// A copy that has read all records of an input that stays open.
struct Asked {
    place: Sandbox,
    child: Child,
    input: Option<ChildStdin>,
}

impl Asked {
    fn start(args: &[&str]) -> Self {
        let place = Sandbox::new();
        let mut command = place.fullbore(args);
        command.stdin(Stdio::piped());
        command.stdout(File::create(place.path("out")).unwrap());
        command.stderr(File::create(place.path("said")).unwrap());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all("{\"k\":\"a\",\"n\":1}\n".repeat(RECORDS).as_bytes()).unwrap();
        eventually(|| (rustix::io::ioctl_fionread(&input).unwrap() == 0).then_some(())).unwrap();
        Self { place, child, input: Some(input) }
    }

    fn send(&self, signal: Signal) {
        Process(self.child.id()).send(signal);
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path(name)).unwrap()
    }

    fn end(&mut self) -> String {
        status_text(wait_or_kill(&mut self.child, "json group with a signal"))
    }
}

/// Numbers of records in rows of the group `a`.
fn counts(text: &str) -> Vec<usize> {
    let count = |line: &str| {
        let mut words = line.split_whitespace();
        (words.next() == Some("a")).then(|| words.next()?.parse().ok()).flatten()
    };
    text.lines().filter_map(count).collect()
}

#[test]
fn sigusr1_prints_the_answer_so_far_and_it_goes_on() {
    for jobs in ["-j1", "-j3"] {
        let mut asked = Asked::start(&["json", "group", ".k", "count", "sum .n", jobs]);
        asked.send(Signal::USR1);
        let seen = eventually(|| counts(&asked.text("said")).first().copied());
        let seen = seen.expect("an answer so far");
        assert!(seen > 0 && seen <= RECORDS, "{seen}: {}", asked.text("said"));
        asked.input.as_mut().unwrap().write_all(b"{\"k\":\"a\",\"n\":5}\n").unwrap();
        asked.input = None;
        assert_eq!(asked.end(), "exit 0", "{}", asked.text("said"));
        assert_eq!(asked.text("out"), format!("a\t{}\t{}\n", RECORDS + 1, RECORDS + 5));
    }
}

#[test]
fn many_sigusr1_do_no_harm() {
    let mut asked = Asked::start(&["json", "group", ".k"]);
    for _ in 0..50 {
        asked.send(Signal::USR1);
    }
    asked.input = None;
    assert_eq!(asked.end(), "exit 0", "{}", asked.text("said"));
    assert_eq!(asked.text("out"), format!("a\t{RECORDS}\n"));
}

#[test]
fn ctrl_c_prints_what_was_seen_and_marks_it() {
    for jobs in ["-j1", "-j3"] {
        let mut asked = Asked::start(&["json", "group", ".k", "count", jobs]);
        asked.send(Signal::INT);
        let status = asked.end();
        assert!(status == "exit 130" || status == "signal 2", "{status}: {}", asked.text("said"));
        let seen = counts(&asked.text("out"));
        assert!(seen.len() == 1 && seen[0] > 0 && seen[0] <= RECORDS, "{:?}", asked.text("out"));
        assert!(asked.text("said").contains("partial"), "{}", asked.text("said"));
    }
}

#[test]
fn ctrl_c_leaves_whole_lines() {
    for args in [["json", "select", ".k"], ["json", "where", ".n == 1"]] {
        let mut asked = Asked::start(&args);
        asked.send(Signal::INT);
        let status = asked.end();
        assert!(status == "exit 130" || status == "signal 2", "{status}: {}", asked.text("said"));
        assert!(asked.text("out").is_empty() || asked.text("out").ends_with('\n'), "{args:?}");
    }
}
