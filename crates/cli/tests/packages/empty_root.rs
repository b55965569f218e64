//! The static binary in a root directory that contains nothing else, as in an empty container.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::{are_installed, package, run, skipped, text};

/// A directory with the static binary and, as `/bin/sh`, a static shell; `None` where that cannot be had.
fn empty_root() -> Option<TempDir> {
    let binary = package("FULLBORE_STATIC")?;
    if !are_installed(&["unshare", "busybox"]) {
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("bin")).unwrap();
    std::fs::copy(binary, root.path().join("fullbore")).unwrap();
    let busybox = text(run("sh", &["-c", "command -v busybox"].map(OsStr::new), b""));
    std::fs::copy(busybox.trim_end(), root.path().join("bin/busybox")).unwrap();
    std::os::unix::fs::symlink("busybox", root.path().join("bin/sh")).unwrap();
    if !in_root(root.path(), &["/bin/sh", "-c", "exit 0"], b"").status.success() {
        skipped("busybox is not static, or no root directory can be had here (user namespaces)");
        return None;
    }
    Some(root)
}

/// Runs a command in this root directory, which is gone with all its mounts and processes afterwards.
fn in_root(root: &Path, command: &[&str], input: &[u8]) -> Output {
    let root = format!("--root={}", root.display());
    let unshare = ["--map-root-user", "--mount", "--pid", "--fork", "--kill-child", &root];
    let words = unshare.into_iter().chain(command.iter().copied());
    run("unshare", &words.map(OsStr::new).collect::<Vec<_>>(), input)
}

/// Every stage, each with an input; what it prints does not depend on the machine.
const STAGES: &[(&[&str], &str)] = &[
    (&["--version"], ""),
    (&["gen", "jsonl", "--rows", "3000"], ""),
    (&["gen", "random", "--bytes", "2M"], ""),
    (&["gen", "fizzbuzz", "--bytes", "2M"], ""),
    (&["count", "--top", "3"], "b\na\nb\nc\nb\na\n"),
    (&["utf8", "check"], "Жизнь\n"),
    (&["utf8", "check"], "a\u{0}b"),
    (&["morse", "encode"], "SOS Москва"),
    (&["morse", "decode"], "... --- ..."),
    (&["json", "select", ".a"], "{\"a\":1}\n{\"a\":[2]}\n"),
    (&["json", "check"], "{\"a\":1,}\n"),
    (&["buffer", "--quiet"], "through a buffer"),
    (&["completions", "fish"], ""),
    (&["man", "run"], ""),
    (&["no-such-command"], ""),
];

#[test]
fn every_stage_does_in_an_empty_root_what_the_dynamic_binary_does_outside() {
    let Some(root) = empty_root() else { return };
    for (arguments, input) in STAGES {
        let command = [&["/fullbore"][..], arguments].concat();
        let inside = in_root(root.path(), &command, input.as_bytes());
        let words: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let outside = run(env!("CARGO_BIN_EXE_fullbore"), &words, input.as_bytes());
        let seen = |output: &Output| {
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        assert_eq!(seen(&inside), seen(&outside), "{arguments:?}");
        assert!(inside.stdout == outside.stdout, "{arguments:?}: not the same output");
    }
}

#[test]
fn a_sealed_stream_opens_again_in_an_empty_root() {
    let Some(root) = empty_root() else { return };
    let line = "umask 077 && printf %064d 7 > /key && echo secret | /fullbore gost seal --key-file /key | /fullbore gost open --key-file /key";
    assert_eq!(text(in_root(root.path(), &["/bin/sh", "-c", line], b"")), "secret\n");
}

/// What a container does before its program starts; it ends with that program.
const MOUNT: &str = "busybox mkdir -p /proc && busybox mount -t proc proc /proc && ";

/// Pipelines with their output and exit status.
const LINES: &[(&str, &str, i32)] = &[
    ("echo one; echo two | /bin/sh -c 'read word; echo $word'", "one\ntwo\n", 0),
    ("echo out; exit 3", "out\n", 3),
    ("while :; do echo y; done | read word; echo $word done", "done\n", 0),
    ("kill -9 $$", "", 137),
    ("no-such-command", "", 127),
];

#[test]
fn run_is_transparent_in_an_empty_root_with_and_without_proc() {
    let Some(root) = empty_root() else { return };
    for mount in ["", MOUNT] {
        for (line, output, status) in LINES {
            // The shell of the test reports the status, because a signal would end the only process of the namespace.
            let script = format!("{mount}/fullbore run -q \"$1\"; echo status $?");
            let ended = in_root(root.path(), &["/bin/sh", "-c", &script, "sh", line], b"");
            let wanted = format!("{output}status {status}\n");
            assert_eq!(String::from_utf8_lossy(&ended.stdout), wanted, "{line} after '{mount}'");
        }
    }
}

#[test]
fn run_watches_the_stages_in_an_empty_root_with_proc_and_says_what_it_lacks_without() {
    let Some(root) = empty_root() else { return };
    // The second stage ends only after the first, which ends after it worked for a while.
    let line =
        "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $i | while read word; do :; done";
    for (mount, wanted, unwanted) in [
        (MOUNT, "the best possible time", "stayed open"),
        ("", "/proc is not mounted: nothing of this run can be seen", "too short"),
    ] {
        let script = format!("{mount}/fullbore run \"$1\"");
        let ended = in_root(root.path(), &["/bin/sh", "-c", &script, "sh", line], b"");
        let words =
            String::from_utf8_lossy(&ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(wanted) && !words.contains(unwanted), "{words}");
    }
}
