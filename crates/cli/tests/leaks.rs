//! Nothing of ours remains: no process, no descriptor, no changed pipe.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use rustix::pipe::fcntl_getpipe_size;

use crate::processes::marked;
use crate::sandbox::{Sandbox, finish, fullbore, wait_or_kill, within};

const OUTSIDE_BYTES: usize = 128 << 10; // not the default, so that "put back" and "never touched" differ from "reset"

#[test]
fn no_process_remains() {
    for line in ["seq 1000 | sort | tail -1", "yes | head -1", "kill -TERM $$", "false"] {
        let place = Sandbox::new();
        place.run(&["run", line]);
        let gone = within(Duration::from_secs(5), || marked(place.mark()).is_empty().then_some(()));
        let left: Vec<_> =
            marked(place.mark()).iter().map(|process| process.command_line()).collect();
        assert!(gone.is_some(), "after '{line}': {left:?}");
    }
}

#[test]
fn a_killed_fullbore_leaves_the_pipeline_running() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let line = "{ read x; echo $x; } | cat";
    let mut command = place.fullbore(&["run", "-q", line]);
    let (stdin, mut feed) = std::io::pipe().unwrap();
    let mut child = command.stdin(stdin).stdout(writer).spawn().unwrap();
    drop(command); // it holds our copies of the ends
    let started =
        within(Duration::from_secs(20), || crate::processes::running(place.mark(), "cat"));
    assert!(started.is_some(), "the pipeline does not start");
    child.kill().unwrap();
    child.wait().unwrap();
    feed.write_all(b"alone\n").unwrap();
    assert_eq!(std::io::read_to_string(reader).unwrap(), "alone\n");
}

#[test]
fn a_pipe_that_outlives_the_run_gets_its_size_back() {
    for options in [&["--pipe-size", "1M"][..], &[]] {
        let place = Sandbox::new();
        let (stdin, mut feed) = std::io::pipe().unwrap();
        let (drain, stdout) = std::io::pipe().unwrap();
        rustix::pipe::fcntl_setpipe_size(&feed, OUTSIDE_BYTES).unwrap();
        rustix::pipe::fcntl_setpipe_size(&drain, OUTSIDE_BYTES).unwrap();
        let mut command = place.reporting(options, "cat | cat");
        let mut child = command.stdin(stdin).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
        drop(command); // it holds our copies of the ends
        let reader = std::thread::spawn(move || {
            let mut drain = drain;
            let count = std::io::copy(&mut drain, &mut std::io::sink()).unwrap();
            (count, drain)
        });
        let block = vec![7; 64 << 10];
        for _ in 0..640 {
            feed.write_all(&block).unwrap();
        }
        drop(feed);
        assert_eq!(wait_or_kill(&mut child, "cat | cat").code(), Some(0));
        let (count, drain) = reader.join().unwrap();
        assert_eq!(count, 640 * (64 << 10));
        assert_eq!(fcntl_getpipe_size(&drain).unwrap(), OUTSIDE_BYTES, "{options:?}");
    }
}

#[test]
fn the_pipe_on_stdin_gets_its_size_back() {
    let place = Sandbox::new();
    let (stdin, feed) = std::io::pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&feed, OUTSIDE_BYTES).unwrap();
    let mut command = place.fullbore(&["run", "-q", "--pipe-size", "1M", "read x | cat; read y"]);
    let mut child = command.stdin(stdin).stdout(Stdio::null()).spawn().unwrap();
    drop(command); // it holds our copies of the ends
    (&feed).write_all(b"one\n").unwrap();
    let started =
        within(Duration::from_secs(20), || crate::processes::running(place.mark(), "sh -c"));
    assert!(started.is_some(), "the pipeline does not start");
    (&feed).write_all(b"two\n").unwrap();
    wait_or_kill(&mut child, "read");
    assert_eq!(fcntl_getpipe_size(&feed).unwrap(), OUTSIDE_BYTES);
}

#[test]
fn a_forced_size_reaches_the_pipes_of_the_pipeline() {
    let line = "{stage} --no-read --seconds 0.5 --sleep-us 1000 | {stage} --name last --no-write";
    let record = Sandbox::new().record(&["--pipe-size", "512K"], line);
    let pipe = crate::sandbox::pipe_between(&record, "--no-read", "last");
    assert_eq!(pipe.capacity_bytes, Some(512 << 10), "{:#?}", record.tuning);
    assert_eq!(pipe.initial_capacity_bytes, Some(64 << 10));
}

#[test]
fn a_run_without_tuning_changes_no_pipe() {
    let line = "{stage} --no-read --seconds 1 --burst 1M --compute-us 500 | {stage} --name last --no-write --compute-us 500";
    let record = Sandbox::new().record(&["--no-tune"], line);
    assert_eq!(record.tuning, []);
    let pipe = crate::sandbox::pipe_between(&record, "--no-read", "last");
    assert_eq!(pipe.capacity_bytes, pipe.initial_capacity_bytes);
}

#[test]
fn stages_inherit_no_descriptor_of_ours() {
    let place = Sandbox::new();
    // The shell's own list by a builtin: with a pipe it would hold ends of that for a moment.
    let line = "ls /proc/self/fd; cd /proc/$$/fd && echo *";
    let mut plain = place.command("sh");
    plain.args(["-c", line]);
    let mut ours = place.command(fullbore());
    ours.args(["run", "-q", line]);
    assert_eq!(
        String::from_utf8_lossy(&finish(ours).stdout),
        String::from_utf8_lossy(&finish(plain).stdout)
    );
}

/// The most descriptors that fullbore has while the line runs; the line prints how many there are, again and again.
fn most_descriptors(line: &str) -> usize {
    let ended = Sandbox::new().run(&["run", "-q", line]);
    let text = String::from_utf8(ended.stdout).unwrap();
    text.lines().map(|line| line.trim().parse().unwrap()).max().expect("the line prints numbers")
}

#[test]
fn only_live_processes_hold_descriptors_four_each() {
    // The parent of the shell is fullbore.
    let count = "ls /proc/$PPID/fd | wc -l";
    let short = format!("for i in $(seq 150); do echo $i | cat | cat >/dev/null; done; {count}");
    let after_many = most_descriptors(&short);
    assert!(after_many <= 64 + 4 * 3, "{after_many} after 450 processes");

    let long = format!("sleep 1 {}", "| cat ".repeat(31));
    let wide = format!("{long} & while kill -0 $! 2>/dev/null; do {count}; done; wait");
    let for_many = most_descriptors(&wide);
    assert!((3 * 32..=64 + 4 * 35).contains(&for_many), "{for_many} for 32 processes");
}
