//! `fullbore par` when copies are killed, readers leave, disks are full and resources are short: the right bytes, or a
//! status that is not 0; never a hang, and nothing left behind.
//!
//! `FULLBORE_RUNS=1000` repeats what happens at random; without it there are 40 runs.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::buffer::line;
use crate::par::fed;
use crate::processes::{Process, marked};
use crate::sandbox::{Ended, Sandbox, eventually, fullbore, status_text, wait_or_kill, within};

const BLOCK: usize = 256 << 10;
const BLOCKS: usize = 12;

/// Lines of 64 bytes that all differ, so many blocks of them.
fn input() -> Vec<u8> {
    (0..BLOCK * BLOCKS / 64).flat_map(|number| format!("{number:063}\n").into_bytes()).collect()
}

pub(crate) fn runs() -> usize {
    std::env::var("FULLBORE_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

/// Numbers that look random and are the same in each run (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed ^ (mixed >> 27)) >> 20).unwrap() % limit
    }
}

/// A `par` whose input is written by a thread and whose output is ours to read or to leave.
struct Running {
    child: Child,
    output: Option<std::io::PipeReader>,
}

impl Running {
    fn start(place: &Sandbox, arguments: &[&str], input: Vec<u8>) -> Self {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (output, stdout) = std::io::pipe().unwrap();
        let mut command = place.command(fullbore());
        command.arg("par").args(arguments).stdin(reader).stdout(stdout);
        let errors = fs::File::create(place.path("stderr")).unwrap();
        let child = command.stderr(errors).spawn().unwrap();
        std::thread::spawn(move || writer.write_all(&input).ok());
        Self { child, output: Some(output) }
    }

    fn read(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.output.as_mut().unwrap().read_exact(&mut bytes).unwrap();
        bytes
    }

    /// What is still to come, and the status.
    fn rest(&mut self, place: &Sandbox) -> Ended {
        let mut stdout = Vec::new();
        if let Some(mut output) = self.output.take() {
            output.read_to_end(&mut stdout).unwrap();
        }
        let status = wait_or_kill(&mut self.child, "par");
        let stderr = fs::read_to_string(place.path("stderr")).unwrap();
        Ended { status, stdout, stderr }
    }

    /// A copy that lives now.
    fn copy(&self, place: &Sandbox, chance: &mut Chance) -> Option<Process> {
        let par = Process(self.child.id());
        let mut copies = marked(place.mark());
        copies.retain(|process| {
            process.parent() == Some(par) && process.command_line().starts_with("sh -c")
        });
        (!copies.is_empty()).then(|| copies[chance.below(copies.len())])
    }
}

fn assert_nothing_is_left(place: &Sandbox, what: &str) {
    let gone = within(Duration::from_secs(10), || marked(place.mark()).is_empty().then_some(()));
    let left: Vec<_> = marked(place.mark()).iter().map(|process| process.command_line()).collect();
    assert!(gone.is_some(), "after {what}: {left:?}");
}

#[test]
fn a_killed_copy_costs_the_rest_of_its_block_and_its_number_is_named() {
    let input = input();
    let mut chance = Chance(1);
    for run in 0..runs() {
        let place = Sandbox::new();
        let jobs = ["-j1", "-j2", "-j5"][run % 3];
        rustix::fs::mkfifoat(rustix::fs::CWD, place.path("gate"), 0o600.into()).unwrap();
        let gate = fs::OpenOptions::new().read(true).write(true).open(place.path("gate"));
        let mut gate = gate.unwrap();
        // Each copy stops in the middle of its block and waits for a line.
        let script = "dd bs=100k count=1 iflag=fullblock status=none; read -r _ <gate; cat";
        let mut par = Running::start(&place, &["--block=256K", jobs, "-c", script], input.clone());
        std::thread::scope(|scope| {
            let mut output = par.output.take().unwrap();
            let got = scope.spawn(move || {
                let mut got = Vec::new();
                output.read_to_end(&mut got).map(|_| got).unwrap()
            });
            gate.write_all(&b"\n".repeat(chance.below(BLOCKS))).unwrap();
            eventually(|| par.copy(&place, &mut chance)).expect("a copy").kill();
            gate.write_all(&b"\n".repeat(BLOCKS)).unwrap();
            let ended = par.rest(&place);
            assert_one_block_is_short(&input, &got.join().unwrap(), &ended, run);
        });
        assert_nothing_is_left(&place, &format!("run {run}"));
    }
}

/// All blocks are whole but the one that the message names; of that there is the beginning.
fn assert_one_block_is_short(input: &[u8], got: &[u8], ended: &Ended, run: usize) {
    let what = format!("run {run}: {}: {}", status_text(ended.status), ended.stderr);
    if ended.status.success() {
        assert!(got == input, "{what}: the copy had just ended, but bytes are missing");
        return;
    }
    assert_eq!(ended.status.code(), Some(137), "{what}");
    let number = ended.stderr.strip_prefix("fullbore: par: block ").expect(&what);
    let (number, rest) = number.split_once(": ").expect(&what);
    assert_eq!(rest, "sh was killed by signal 9\n", "{what}");
    let end = number.parse::<usize>().unwrap() * BLOCK;
    let lost = input.len() - got.len();
    assert!((0..=BLOCK).contains(&lost), "{what}: {lost} bytes are missing");
    let expected = [&input[..end - lost], &input[end..]].concat();
    assert!(got == expected, "{what}: not the other blocks and the beginning of this one");
}

#[test]
fn a_killed_copy_that_is_tried_again_costs_nothing() {
    let input = input();
    for number in 1..=BLOCKS {
        let place = Sandbox::new();
        let script = format!(
            "cat; if [ $PAR_BLOCK = {number} ] && mkdir held 2>/dev/null; then kill -9 $$; fi"
        );
        let options = ["--block=256K", "-j3", "--retries=1", "-c", &script];
        let ended = Running::start(&place, &options, input.clone()).rest(&place);
        assert!(ended.stdout == input, "block {number}: {}", ended.stderr);
        assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    }
}

#[test]
fn a_reader_that_leaves_at_any_byte_ends_all_and_has_read_the_right_ones() {
    let input = input();
    let mut chance = Chance(2);
    let rows: [&[&str]; 4] = [
        &["--block=256K", "cat"],
        &["--block=10K", "-j3", "grep", "0"],
        &["--block=64K", "-j2", "--retries=1", "cat"],
        &["-N100", "-c", "cat; exec cat /dev/zero"],
    ];
    for run in 0..runs() {
        let place = Sandbox::new();
        let mut par = Running::start(&place, rows[run % 4], input.clone());
        let most = if run % 4 == 3 { 6400 } else { input.len() - BLOCK };
        let got = par.read(1 + chance.below(most));
        assert!(input.starts_with(&got), "run {run}");
        par.output = None;
        let ended = par.rest(&place);
        let what = format!("run {run}: {:?}", rows[run % 4]);
        assert_nothing_is_left(&place, &what);
        // The rest may have fitted into the pipe, which has 1 MiB at most, before the reader left.
        if ended.status.success() && input.len() - got.len() <= 1 << 20 {
            continue;
        }
        assert_eq!(status_text(ended.status), "exit 141", "{what}: {}", ended.stderr);
        assert_eq!(ended.stderr, "", "{what}");
    }
}

#[test]
fn grep_before_head_never_hangs_and_leaves_nothing() {
    let place = Sandbox::new();
    let producers = ["yes abc", "seq 300000", "cat numbers"];
    fs::write(place.path("numbers"), input()).unwrap();
    for run in 0..runs() + runs() / 4 {
        let producer = producers[run % 3];
        let size = ["1K", "64K", "2M"][run / 3 % 3];
        let ended = line(
            &place,
            &format!(
                "set +o pipefail; {producer} | $fullbore par --block {size} grep -e '' | head -n 1; echo ${{PIPESTATUS[1]}}"
            ),
        );
        let first = ["abc\n".to_owned(), "1\n".to_owned(), format!("{:063}\n", 0)];
        let got = String::from_utf8_lossy(&ended.stdout);
        // Status 0: par had written all before head left.
        let expected = [141, 0].map(|status| format!("{}{status}\n", first[run % 3]));
        assert!(expected.contains(&got.to_string()), "{producer}: {got}: {}", ended.stderr);
        assert_eq!(ended.stderr, "", "{producer}");
        assert_nothing_is_left(&place, producer);
    }
}

#[test]
fn a_signal_in_the_middle_ends_par_its_copies_and_nothing_else() {
    let input = input();
    let mut chance = Chance(3);
    let signals = [Signal::TERM, Signal::INT, Signal::HUP];
    for run in 0..runs() {
        let place = Sandbox::new();
        let signal = signals[run % 3];
        let size = ["--block=256K", "--block=4K"][run / 3 % 2];
        let mut par = Running::start(&place, &[size, "-j3", "cat"], input.clone());
        let mut got = par.read(1 + chance.below(input.len() - BLOCK));
        kill_process(Pid::from_child(&par.child), signal).unwrap();
        let ended = par.rest(&place);
        got.extend(&ended.stdout);
        assert!(input.starts_with(&got), "run {run}: {}", ended.stderr);
        // All of the rest may have fitted into the pipe before the signal came.
        let status = status_text(ended.status);
        let whole = status == "exit 0" && got == input;
        assert!(whole || status == format!("signal {}", signal.as_raw()), "run {run}: {status}");
        assert_nothing_is_left(&place, &format!("run {run}"));
    }
}

#[test]
fn a_par_that_is_killed_leaves_no_copies() {
    let place = Sandbox::new();
    let mut par = Running::start(&place, &["--block=256K", "-j3", "cat"], input());
    par.read(3 * BLOCK);
    kill_process(Pid::from_child(&par.child), Signal::KILL).unwrap();
    wait_or_kill(&mut par.child, "par");
    par.output = None;
    assert_nothing_is_left(&place, "SIGKILL");
}

#[test]
fn an_output_without_room_is_an_error_and_what_is_there_is_the_beginning() {
    require_programs!("unshare");
    let place = Sandbox::new();
    fs::create_dir(place.path("small")).unwrap();
    fs::write(place.path("input"), input()).unwrap();
    let script = "mount -t tmpfs -o size=1M none small || { echo no mount; exit 77; }; \
        for options in '' '-j3 --block 10K' '--block 700K' '--retries 1 --block 100K' '--merge cat' \
            '--merge auto sort' '-a input' '-a input --block 30K'; do \
          case $options in *sort) set -- $options;; *) set -- $options cat;; esac; \
          cat input | $fullbore par \"$@\" 2>errors >small/out; echo $?; \
          cmp -n $(stat -c %s small/out) small/out input || echo other bytes; \
          grep -c 'No space left on device' errors; rm small/out; \
          cat input | $fullbore par \"$@\" >/dev/full 2>errors; echo $?; \
        done";
    let mut command = place.command("unshare");
    command.args(["-m", "bash", "-c", script]).env("fullbore", fullbore());
    let ended = crate::sandbox::finish(command);
    require!(!ended.stdout.starts_with(b"no mount"), "mounting is not allowed here");
    let lines = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(lines, "2\n1\n2\n".repeat(8), "{}", ended.stderr);
}

#[test]
fn with_few_descriptors_the_bytes_are_right_or_the_status_is_not_0() {
    let place = Sandbox::new();
    fs::write(place.path("input"), &input()[..200 << 10]).unwrap();
    let mut worked = 0;
    for limit in 5..25 {
        for arguments in
            ["--block 10K -j8 cat", "--block 30K -a input -j3 cat", "--block 40K --merge auto wc"]
        {
            let command = arguments.rsplit(' ').next().unwrap();
            let ended = line(
                &place,
                &format!(
                    "set +o pipefail; cat input | {command} >expected; cat input | (ulimit -n {limit}; exec $fullbore par {arguments}) >out; s=$?; \
                    cmp -s out expected && echo same $s || echo other $s"
                ),
            );
            let got = String::from_utf8_lossy(&ended.stdout);
            let what = format!("{limit} for {arguments}: {got}{}", ended.stderr);
            assert_ne!(got, "other 0\n", "{what}");
            if got == "same 0\n" {
                worked += 1;
            } else {
                assert!(ended.stderr.contains("Too many open files"), "{what}");
            }
            assert_nothing_is_left(&place, &what);
        }
    }
    assert!(worked > 10, "{worked}");
}

/// Runs lines of `par` as a user whose pipes have as little room as Linux gives; each prints the statuses of its pipeline.
fn with_small_pipes(lines: &[&str]) {
    require_programs!("setpriv", "perl", "timeout");
    require!(rustix::process::geteuid().is_root(), "only root becomes another user");
    let place = Sandbox::new();
    let world = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.path("."), world).unwrap();
    fs::write(place.path("input"), input()).unwrap();
    // Pipes of 1 MiB until the user has no more pages; then run the rest of the words.
    let hold = "use Fcntl; $^F = 9999; \
        for (1..70) { pipe(my $r, my $w); fcntl($w, 1031, 1 << 20); push @held, $r, $w; } \
        pipe(my $r, my $w); print STDERR fcntl($w, 1032, 0), \"\\n\"; exec @ARGV";
    let script =
        "cat input | timeout 20 $fullbore par $options | cmp - input; echo ${PIPESTATUS[*]}";
    let script: String = lines.iter().map(|line| format!("options='{line}'\n{script}\n")).collect();
    let mut command: Command = place.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]);
    command.args(["perl", "-e", hold, "bash", "-c", &script]).env("fullbore", fullbore());
    let ended = fed(command, b"");
    require!(!ended.stderr.contains("65536"), "pipes have no limit here");
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        "0 0 0\n".repeat(lines.len()),
        "{}",
        ended.stderr
    );
    let first = ended.stderr.lines().next().unwrap();
    assert!(["4096", "8192"].contains(&first), "{}", ended.stderr);
}

#[test]
fn with_small_pipes_nothing_is_lost() {
    with_small_pipes(&["--block 10K cat", "--block 300K -j3 cat", "--block 2K --merge cat cat"]);
}

#[test]
fn with_small_pipes_an_output_that_is_kept_does_not_hang() {
    with_small_pipes(&["--retries 1 cat", "--merge auto sort", "--block 50K --merge auto sort"]);
}

/// Sorts ten blocks with this merge, which fails: the status says so.
fn failed_merge(merge: &str) -> Ended {
    let place = Sandbox::new();
    let mut command = place.command(fullbore());
    command.args(["par", "--block=20K", "--merge", merge, "sort"]);
    let ended = fed(command, &input()[..200 << 10]);
    assert!(!ended.status.success(), "{merge}: {}", ended.stderr);
    assert_nothing_is_left(&place, merge);
    ended
}

#[test]
fn a_merge_that_fails_fails_par() {
    for merge in ["false", "sort -m --no-such-option", "sh -c 'kill -9 $$'", "no-such"] {
        failed_merge(merge);
    }
}

#[test]
fn a_merge_that_fails_is_named() {
    for merge in ["false", "sort -m --no-such-option", "sh -c 'kill -9 $$'"] {
        let ended = failed_merge(merge);
        assert!(ended.stderr.contains("fullbore: par: --merge"), "{merge}: {}", ended.stderr);
    }
}
