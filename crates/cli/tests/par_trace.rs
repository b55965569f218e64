//! `fullbore par` as strace sees it: which files it makes, and what it reads.

use std::fs;

use crate::par::fed;
use crate::sandbox::{Sandbox, fullbore, status_text};

/// The calls of par and of all it starts, one a line.
fn calls(place: &Sandbox, arguments: &[&str], input: &[u8], status: &str) -> Vec<String> {
    let _ = fs::create_dir(place.path("temporary"));
    let mut command = place.command("strace");
    command.args(["-f", "-qq", "-o", "trace"]).env("TMPDIR", place.path("temporary"));
    command.arg(fullbore()).arg("par").args(arguments);
    let ended = fed(command, input);
    assert_eq!(status_text(ended.status), status, "{arguments:?}: {}", ended.stderr);
    let trace = fs::read_to_string(place.path("trace")).unwrap();
    trace.lines().map(str::to_owned).collect()
}

/// The calls that make a file or a folder, or open something where temporary files are.
fn makes_a_file(call: &str) -> bool {
    let (_, call) = call.split_once(' ').unwrap();
    let call = call.trim_start();
    let makes = ["mkdir", "creat(", "mknod", "rename", "link(", "linkat", "symlink"];
    let opens = call.starts_with("open");
    makes.iter().any(|name| call.starts_with(name))
        || opens && (call.contains("O_CREAT") || call.contains("O_TMPFILE"))
        || opens
            && !call.contains("ENOENT")
            // Libraries are looked for beside the program, which may itself lie there.
            && !call.contains("O_RDONLY")
            && (call.contains("\"/tmp") || call.contains("/temporary"))
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|number| format!("{number:07}\n").into_bytes()).collect()
}

#[test]
fn no_file_is_made_on_disk() {
    require_programs!("strace");
    let input = numbers(200_000);
    let rows: [&[&str]; 7] = [
        &["--block=64K", "-j3", "cat"],
        &["--block=16K", "--window=64K", "-j2", "-c", "[ $PAR_BLOCK != 1 ] || sleep 0.3; cat"],
        &["--block=64K", "--retries=1", "sed", "s/0/1/"],
        &["--block=64K", "--unordered", "grep", "7"],
        &["--block=64K", "--merge=auto", "wc"],
        &["--block=200K", "--merge=auto", "sort"],
        &["--block=64K", "--merge=auto", "uniq", "-c"],
    ];
    for arguments in rows {
        let place = Sandbox::new();
        let mut calls = calls(&place, arguments, &input, "exit 0");
        assert!(calls.len() > 100, "{arguments:?}: {} calls", calls.len());
        calls.retain(|call| makes_a_file(call));
        assert!(calls.is_empty(), "{arguments:?}: {calls:#?}");
    }
}

#[test]
fn no_file_is_made_on_disk_when_sort_merges_many_outputs() {
    require_programs!("strace");
    let place = Sandbox::new();
    // sort -m takes 16 files at a time, unless --batch-size tells it otherwise.
    let mut calls =
        calls(&place, &["--block=10K", "--merge=auto", "sort"], &numbers(60_000), "exit 0");
    calls.retain(|call| makes_a_file(call));
    assert!(calls.is_empty(), "{calls:#?}");
}

#[test]
fn a_command_that_is_not_there_is_refused_before_anything_is_read() {
    require_programs!("strace");
    let input = numbers(1000);
    let rows: [(&[&str], &str); 5] = [
        (&["no-such-command"], "exit 127"),
        (&["--merge=auto", "no-such-command", "x"], "exit 127"),
        (&["-j3", "--retries=2", "./no-such-command"], "exit 127"),
        (&["/etc/passwd"], "exit 126"),
        (&["--merge=no-such-command", "cat"], "exit 2"),
    ];
    for (arguments, status) in rows {
        let place = Sandbox::new();
        let mut calls = calls(&place, arguments, &input, status);
        assert!(calls.len() > 20, "{arguments:?}: {} calls", calls.len());
        calls.retain(|call| {
            let (_, call) = call.split_once(' ').unwrap();
            let takes = ["read", "pread", "splice", "tee", "sendfile", "copy_file_range"];
            takes.iter().any(|name| call.trim_start().starts_with(name)) && call.contains("(0, ")
        });
        assert!(calls.is_empty(), "{arguments:?}: {calls:#?}");
    }
}
