//! `fullbore buffer`: every byte arrives, once and in order, whatever stands before and behind it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;

use fullbore_measure::Bytes;
use fullbore_pipe::capacity;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::Value;

use crate::sandbox::{
    Ended, Sandbox, eventually, finish, fullbore, is_installed, relay_ends, status_text,
    wait_or_kill,
};

/// Bytes that differ everywhere, so that a piece that is lost, doubled or moved shows.
pub(crate) fn numbers(count: usize) -> Vec<u8> {
    (0..count.div_ceil(8) as u64).flat_map(u64::to_le_bytes).take(count).collect()
}

/// A shell line with `$ends` and `$fullbore`; fails when any stage does.
pub(crate) fn line(place: &Sandbox, line: &str) -> Ended {
    let mut command = place.command("bash");
    command.args(["-c", &format!("set -o pipefail; {line}")]);
    command.env("ends", relay_ends()).env("fullbore", fullbore());
    finish(command)
}

pub(crate) fn assert_output(ended: &Ended, stdout: &str) {
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), stdout, "{}", ended.stderr);
}

/// The last line of JSON that a buffer wrote.
pub(crate) fn last_state(stderr: &str) -> Option<Value> {
    let line = stderr.lines().rfind(|line| line.ends_with('}'))?;
    Some(serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
}

/// A buffer with its ends in our hands and its standard error, with many states a second, in a file.
pub(crate) struct Held {
    pub(crate) child: Child,
    pub(crate) input: Option<std::io::PipeWriter>,
    pub(crate) output: Option<std::io::PipeReader>,
    /// Another read end of the input, for what the buffer has left there.
    pub(crate) unread: Option<std::io::PipeReader>,
}

impl Held {
    pub(crate) fn start(place: &Sandbox, options: &[&str]) -> Self {
        Self::start_as(place, &["env"], fullbore().to_str().unwrap(), options)
    }

    /// The same with words in front of the command, and another copy of the program.
    pub(crate) fn start_as(
        place: &Sandbox,
        before: &[&str],
        program: &str,
        options: &[&str],
    ) -> Self {
        let (theirs_in, input) = std::io::pipe().unwrap();
        let (output, theirs_out) = std::io::pipe().unwrap();
        let mut command = place.command(before[0]);
        command.args(&before[1..]).arg(program).args(["buffer", "--json", "-i", "0.05"]);
        let unread = theirs_in.try_clone().unwrap();
        command.args(options).stdin(theirs_in).stdout(theirs_out);
        let stderr = File::create(place.path("stderr")).unwrap();
        let child = command.stderr(stderr).spawn().unwrap();
        Self { child, input: Some(input), output: Some(output), unread: Some(unread) }
    }

    /// Waits until the state is as asked for.
    pub(crate) fn wait_for(&self, place: &Sandbox, what: &str, is_it: impl Fn(&Value) -> bool) {
        let mut last = None;
        let met = eventually(|| {
            let text = fs::read_to_string(place.path("stderr")).unwrap();
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            last = last_state(whole);
            last.as_ref().filter(|state| is_it(state)).map(|_| ())
        });
        assert!(met.is_some(), "never {what}; last state: {last:?}");
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn read_to_end(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.output.as_mut().unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    pub(crate) fn end(&mut self) -> String {
        status_text(wait_or_kill(&mut self.child, "a buffer"))
    }
}

#[test]
fn a_long_sequence_arrives_whole_through_pipes() {
    let place = Sandbox::new();
    for options in ["-m 64K", "-m 1M", "-m 64M", "", "-m 4M --start 50%", "-m 1M --spill ."] {
        let ended = line(
            &place,
            &format!("$ends produce 200M | $fullbore buffer -q {options} | $ends consume check"),
        );
        assert_output(&ended, "209715200\n");
        assert_eq!(ended.stderr, "", "{options}");
    }
}

#[test]
fn chunks_that_end_within_pages_arrive_whole() {
    let place = Sandbox::new();
    for chunk in ["8", "1000", "4096", "5000", "66000"] {
        let ended = line(
            &place,
            &format!("$ends produce 4M {chunk} | $fullbore buffer -q -m 1M | $ends consume check"),
        );
        assert_output(&ended, "4194304\n");
    }
}

#[test]
fn two_buffers_in_a_row_and_a_consumer_that_splices_lose_nothing() {
    let place = Sandbox::new();
    let ended = line(
        &place,
        "$ends produce 300M | $fullbore buffer -q -m 8M | $fullbore buffer -q -m 2M | $ends consume splice",
    );
    assert_output(&ended, "314572800\n");
}

#[test]
fn a_consumer_that_pauses_gets_everything_in_order() {
    let place = Sandbox::new();
    let slow = "{ head -c 999999; head -c 1 >&2; sleep 0.3; dd bs=7777 count=300 status=none; sleep 0.3; cat; }";
    let ended = line(
        &place,
        &format!("$ends produce 100M | $fullbore buffer -q -m 32M | {slow} 2>second | cat >first"),
    );
    assert_output(&ended, "");
    let (first, second) =
        (fs::read(place.path("first")).unwrap(), fs::read(place.path("second")).unwrap());
    let expected = numbers(100 << 20);
    assert_eq!(second, expected[999_999..1_000_000]);
    assert!(first[..999_999] == expected[..999_999] && first[999_999..] == expected[1_000_000..]);
}

#[test]
fn files_sockets_and_fifos_work_on_both_sides() {
    let place = Sandbox::new();
    let expected = numbers(3_000_001);
    fs::write(place.path("in"), &expected).unwrap();
    let ended = line(
        &place,
        "printf 'before ' >out; $fullbore buffer -q <in >>out && mkfifo fifo && \
         { $fullbore buffer -q <fifo >from-fifo & $fullbore buffer -q <in >fifo; wait $!; } && \
         $fullbore buffer -q <in | cat >piped && cat in | $fullbore buffer -q >cut",
    );
    assert_output(&ended, "");
    let out = fs::read(place.path("out")).unwrap();
    assert!(out.strip_prefix(b"before ").unwrap() == expected, "appending to a file");
    for name in ["from-fifo", "piped", "cut"] {
        assert!(fs::read(place.path(name)).unwrap() == expected, "{name}");
    }
    through_sockets(&place, &expected);
}

fn through_sockets(place: &Sandbox, expected: &[u8]) {
    let (ours_in, theirs_in) = UnixStream::pair().unwrap();
    let (mut ours_out, theirs_out) = UnixStream::pair().unwrap();
    let mut command = place.fullbore(&["buffer", "-q", "-m", "1M"]);
    command.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out));
    let mut child = command.spawn().unwrap();
    drop(command); // it holds their ends
    let mut got = Vec::new();
    std::thread::scope(|scope| {
        let mut ours_in = ours_in;
        scope.spawn(move || ours_in.write_all(expected).unwrap());
        ours_out.read_to_end(&mut got).unwrap();
    });
    assert_eq!(wait_or_kill(&mut child, "sockets").code(), Some(0));
    assert!(got == expected);
}

#[test]
fn single_bytes_are_gathered_while_they_wait() {
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "1M"]);
    let expected = numbers(200_000);
    held.write(&expected[..100_000]);
    held.wait_for(&place, "taken", |state| state["read_bytes"] == 100_000);
    for byte in &expected[100_000..] {
        held.write(&[*byte]);
    }
    held.wait_for(&place, "taken", |state| state["read_bytes"] == 200_000);
    held.input = None;
    assert!(held.read_to_end() == expected);
    assert_eq!(held.end(), "exit 0");
}

#[test]
fn a_line_goes_through_while_everything_stays_open() {
    for options in [&["-m", "1M"][..], &["-L", "1M"], &["--hash", "xxh3"], &["-o", "copy"]] {
        let place = Sandbox::new();
        let mut held = Held::start(&place, options);
        for line in [b"first\n", b"again\n"] {
            held.write(line);
            let mut got = [0; 6];
            held.output.as_mut().unwrap().read_exact(&mut got).unwrap();
            assert_eq!(&got, line);
        }
        held.input = None;
        assert_eq!(held.end(), "exit 0");
    }
}

#[test]
fn ends_that_somebody_made_non_blocking_stay_so_and_lose_nothing() {
    let place = Sandbox::new();
    let (theirs_in, mut input) = std::io::pipe().unwrap();
    let (mut output, theirs_out) = std::io::pipe().unwrap();
    for fd in [theirs_in.as_fd(), theirs_out.as_fd()] {
        fcntl_setfl(fd, fcntl_getfl(fd).unwrap() | OFlags::NONBLOCK).unwrap();
    }
    let kept = theirs_in.try_clone().unwrap();
    let mut command = place.fullbore(&["buffer", "-q", "-m", "1M"]);
    let mut child = command.stdin(theirs_in).stdout(theirs_out).spawn().unwrap();
    drop(command); // it holds their ends
    let expected = numbers(9_000_000);
    let mut got = Vec::new();
    std::thread::scope(|scope| {
        let expected = &expected;
        scope.spawn(move || {
            input.write_all(&expected[..10]).unwrap();
            input.write_all(&expected[10..]).unwrap();
        });
        output.read_to_end(&mut got).unwrap();
    });
    assert_eq!(wait_or_kill(&mut child, "non-blocking ends").code(), Some(0));
    assert!(got == expected);
    assert!(fcntl_getfl(&kept).unwrap().contains(OFlags::NONBLOCK), "the flag was changed");
}

#[test]
fn pipes_are_widened_and_get_their_capacity_back() {
    let place = Sandbox::new();
    let (theirs_in, input) = std::io::pipe().unwrap();
    let (output, theirs_out) = std::io::pipe().unwrap();
    let kept = theirs_in.try_clone().unwrap();
    let mut command = place.fullbore(&["buffer", "-q"]);
    let mut child = command.stdin(theirs_in).stdout(theirs_out).spawn().unwrap();
    drop(command); // it holds their ends
    let wide = eventually(|| {
        let capacities = [capacity(&input).unwrap(), capacity(&output).unwrap()];
        (capacities == [Bytes(1 << 20); 2]).then_some(())
    });
    assert!(wide.is_some(), "the pipes were not widened");
    drop(input);
    assert_eq!(wait_or_kill(&mut child, "an empty stream").code(), Some(0));
    assert_eq!([capacity(&kept).unwrap(), capacity(&output).unwrap()], [Bytes(65536); 2]);
}

#[test]
fn other_files_get_the_stream_as_well() {
    let place = Sandbox::new();
    let ended = line(
        &place,
        "$ends produce 5M | $fullbore buffer -q -o first -o second | $ends consume check",
    );
    assert_output(&ended, "5242880\n");
    for name in ["first", "second"] {
        assert!(fs::read(place.path(name)).unwrap() == numbers(5 << 20), "{name}");
    }
}

#[test]
fn the_programs_that_check_digests_accept_the_line() {
    for (hash, check) in [("sha256", "sha256sum"), ("blake3", "b3sum"), ("xxh3", "xxhsum")] {
        if !is_installed(check) {
            crate::require::skipped(&format!("{check} is not installed"));
            continue;
        }
        let place = Sandbox::new();
        fs::write(place.path("in"), numbers(3_000_001)).unwrap();
        let ended = line(
            &place,
            &format!(
                "cp in 'a \\b' && $fullbore buffer -q --hash {hash} <in 2>line | cmp - in && \
                 {check} -c line <in && \
                 $fullbore buffer -q --hash {hash} -N 'a \\b' <in 2>named | cmp - in && \
                 {check} -c named && \
                 echo x >>'a \\b' && ! {check} -c named 2>&1"
            ),
        );
        assert_eq!(status_text(ended.status), "exit 0", "{hash}: {}", ended.stderr);
        let said = String::from_utf8(ended.stdout).unwrap();
        assert_eq!(said.matches("OK").count(), 2, "{hash}: {said}");
        assert_eq!(said.matches("FAILED").count(), 1, "{hash}: {said}");
    }
}

#[test]
fn with_json_the_digest_and_a_failure_are_fields_of_the_last_line() {
    let place = Sandbox::new();
    let ended = line(&place, "printf abc | $fullbore buffer --json --hash blake3 >out");
    assert_output(&ended, "");
    let states: Vec<Value> =
        ended.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let digest = &states.last().unwrap()["digest"];
    assert_eq!(digest["algorithm"], "blake3");
    assert_eq!(digest["hex"], "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    let ended = line(&place, "printf abc | $fullbore buffer --json >/dev/full; echo $?");
    assert_output(&ended, "2\n");
    let states: Vec<Value> =
        ended.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = states.last().unwrap()["error"].as_str().unwrap();
    assert!(error.contains("/dev/full: No space left on device"), "{error}");
}

#[test]
fn a_file_is_not_read_and_written_at_once() {
    for (words, what) in [
        ("-o f <f", "writing: f"),
        ("-o other -o ./g <f", "writing: ./g"), // a second name of the same file
        ("<f >>f", "writing standard output"),
        ("<>f 1>&0; cat", "writing standard output"),
    ] {
        let place = Sandbox::new();
        fs::write(place.path("other"), "kept").unwrap();
        fs::write(place.path("f"), numbers(1 << 20)).unwrap();
        fs::hard_link(place.path("f"), place.path("g")).unwrap();
        // One of them reads at the beginning and writes further on in the same file.
        let ended = match words.strip_suffix("; cat") {
            None => line(&place, &format!("ulimit -f 4096; $fullbore buffer -q {words}")),
            Some(_) => {
                line(&place, "exec 3<>f; head -c 1000 <&3 >/dev/null; $fullbore buffer -q <f >&3")
            }
        };
        assert_eq!(status_text(ended.status), "exit 2", "{words}: {}", ended.stderr);
        let message = format!("fullbore: buffer: {what}: the input file is the output file\n");
        assert!(ended.stderr.starts_with(&message), "{words}: {}", ended.stderr);
        assert!(fs::read(place.path("f")).unwrap() == numbers(1 << 20), "{words}");
        assert_eq!(fs::read(place.path("other")).unwrap(), b"kept", "{words}");
    }
}

#[test]
fn a_file_that_ends_before_it_is_written_to_may_be_both() {
    let place = Sandbox::new();
    fs::write(place.path("f"), "one\ntwo\n").unwrap();
    // As with cat: nothing is left to read, or it is written to where it was read.
    let ended = line(
        &place,
        "{ cat >/dev/null; $fullbore buffer -q >>f; } <f; $fullbore buffer -q <f 1<>f; : >new; \
         $fullbore buffer -q <new >>new; cat f new",
    );
    assert_output(&ended, "one\ntwo\n");
}

#[test]
fn help_names_every_option_and_has_examples() {
    let ended = Sandbox::new().run(&["buffer", "--help"]);
    let help = String::from_utf8(ended.stdout).unwrap();
    for option in [
        "-m, --memory",
        "--spill",
        "-L, --rate-limit",
        "-o, --output",
        "--hash",
        "--start",
        "--stop",
        "-s, --size",
        "-N, --name",
        "-q, --quiet",
        "--json",
        "-i, --interval",
        "--on-interrupt",
        "Examples:",
        "fullbore.buffer/1",
    ] {
        assert!(help.contains(option), "{option} is not in the help:\n{help}");
    }
}

#[test]
fn wrong_usage_is_said_in_one_line() {
    for (words, about) in [
        (&["-m", "1K"][..], "at least 64 KiB"),
        (&["-L", "0"], "0"),
        (&["--start", "120%"], "percentage"),
        (&["--hash", "md5"], "md5"),
        (&["surplus"], "surplus"),
        (&["--stop", "10%"], "--stop does nothing without --start"),
        (&["--start", "20%", "--stop", "80%"], "--stop is not below --start"),
        (&["-q", "--json"], "cannot be used with"),
        (&["-q", "-i", "2"], "cannot be used with"),
        (&["-N", "red\x1b[31m"], "control characters"),
        (&["--spill", "/no/such/folder"], "/no/such/folder"),
        (&["-o", "/no/such/file"], "/no/such/file"),
    ] {
        let ended = Sandbox::new().run(&[&["buffer"], words].concat());
        assert_eq!(status_text(ended.status), "exit 2", "{words:?}");
        assert!(ended.stderr.starts_with("fullbore: "), "{}", ended.stderr);
        assert!(ended.stderr.contains(about), "{words:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains('\x1b'), "{words:?}: {:?}", ended.stderr);
    }
}
