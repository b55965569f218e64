//! `fullbore par` where standard files, limits and machines are odd.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::buffer::line;
use crate::sandbox::{Sandbox, fullbore, status_text, wait_or_kill};

/// Runs a line on a file `input`; it must print `same`.
fn assert_prints_same(text: &str) {
    let place = Sandbox::new();
    let input: String = (0..60_000).map(|number| format!("{number}\n")).collect();
    fs::write(place.path("input"), input).unwrap();
    let ended = line(&place, text);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "same\n", "{text}: {}", ended.stderr);
    assert_eq!(status_text(ended.status), "exit 0", "{text}: {}", ended.stderr);
}

const COMPARE: &str = "| cmp - input && echo same";

#[test]
fn standard_files_of_all_kinds() {
    for text in [
        "mkfifo fifo; cat input >fifo & $fullbore par --block 10K cat <fifo",
        "$fullbore par --block 10K cat <input",
        "$fullbore par --block 10K cat < <(head -c 1000 input; tail -c +1001 input)",
        "cat input | $fullbore par --block 10K cat 2>&-",
        "cat input | (trap '' PIPE; $fullbore par --block 10K cat)",
        "cat input | nice -n 19 $fullbore par --block 10K cat",
    ] {
        assert_prints_same(&format!("{text} {COMPARE}"));
    }
    for text in [
        "head -n 9 input >out; tail -n +10 input | $fullbore par --block 10K cat >>out; cmp out input && echo same",
        "head -n 9 input >out; tail -n +10 input >rest; $fullbore par -a rest --block 10K cat >>out; cmp out input && echo same",
        "$fullbore par cat </dev/null; echo same",
        "n=$($fullbore par --merge auto wc -l </dev/null); [ $n = 0 ] && echo same",
    ] {
        assert_prints_same(text);
    }
}

#[test]
fn standard_files_that_cannot_be_used_are_named() {
    let place = Sandbox::new();
    for (text, message) in [
        ("$fullbore par cat <&-", "par: reading standard input: it is closed"),
        ("$fullbore par cat <.", "par: reading: standard input: Is a directory"),
        ("seq 9 | $fullbore par cat >&-", "par: writing standard output: it is closed"),
        ("$fullbore par -a . cat", "par: reading: .: Is a directory"),
        ("$fullbore par -a no cat", "par: reading: no: No such file or directory"),
    ] {
        let ended = line(&place, text);
        assert_eq!(ended.status.code(), Some(2), "{text}: {}", ended.stderr);
        assert!(ended.stderr.starts_with(&format!("fullbore: {message}\n")), "{}", ended.stderr);
    }
}

#[test]
fn on_one_cpu_and_as_another_user() {
    require_programs!("taskset", "setpriv");
    assert_prints_same(&format!(
        "cat input | taskset -c 0 $fullbore par --block 10K cat {COMPARE}"
    ));
    require!(rustix::process::geteuid().is_root(), "only root becomes another user");
    let other = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    assert_prints_same(&format!("cat input | {other} $fullbore par --block 10K cat {COMPARE}"));
}

#[test]
fn ends_that_do_not_block() {
    let place = Sandbox::new();
    let input: Vec<u8> =
        (0..400_000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    let socket = || UnixStream::pair().unwrap();
    let ((ours, theirs), (drain, stdout)) = (socket(), socket());
    for end in [&theirs, &stdout] {
        fcntl_setfl(end, fcntl_getfl(end).unwrap() | OFlags::NONBLOCK).unwrap();
    }
    let mut command = place.fullbore(&["par", "--block=100K", "-j3", "cat"]);
    command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(stdout));
    let mut child = command.spawn().unwrap();
    drop(command); // it holds the other ends
    let mut got = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (&ours).write_all(&input).unwrap();
            ours.shutdown(Shutdown::Write).unwrap();
        });
        (&drain).read_to_end(&mut got).unwrap();
    });
    assert_eq!(status_text(wait_or_kill(&mut child, "par")), "exit 0");
    assert!(got == input);
}

#[test]
fn records_of_odd_sizes() {
    for text in [
        // Empty ones.
        "head -c 1000000 /dev/zero | tr '\\0' '\\n' >input; cat input | $fullbore par cat",
        // Of exactly a block, a byte less, a byte more.
        "seq 1000 3000 >input; cat input | $fullbore par --block 5 cat",
        "seq 1000 3000 >input; cat input | $fullbore par --block 4 cat",
        "seq 1000 3000 >input; cat input | $fullbore par --block 6 cat",
        // 100 MB, and one behind it.
        "{ head -c 100M /dev/zero; echo; echo x; } >input; cat input | $fullbore par --block 4K cat",
        "{ head -c 100M /dev/zero; echo; echo x; } >input; $fullbore par -a input --block 4K cat",
    ] {
        assert_prints_same(&format!("{text} {COMPARE}"));
    }
}

#[test]
fn without_order_a_full_window_loses_and_doubles_nothing() {
    let place = Sandbox::new();
    let first_fails = "cat; [ -e t$PAR_BLOCK ] || { touch t$PAR_BLOCK; exit 1; }";
    for (text, count) in [
        ("--merge sum wc -l".to_owned(), "3000000\n"),
        (format!("--retries 1 -c '{first_fails}' 2>/dev/null | wc -l"), "3000000\n"),
        ("-c 'cat; sleep 0.1' | wc -l".to_owned(), "3000000\n"),
    ] {
        let text = format!("seq 3000000 | $fullbore par -j4 --window 4M --unordered {text}");
        let ended = line(&place, &text);
        assert_eq!(String::from_utf8_lossy(&ended.stdout), count, "{text}: {}", ended.stderr);
        assert_eq!(status_text(ended.status), "exit 0", "{text}: {}", ended.stderr);
    }
}

#[test]
fn what_has_ended_is_written_although_the_input_goes_on() {
    let place = Sandbox::new();
    let text = "mkfifo fifo; bytes=$(seq 300000 | wc -c); \
        $fullbore par --unordered -N 300000 cat <fifo | \
        { until [ -e go ]; do :; done; head -c $bytes | cksum; } & \
        exec 3>fifo; seq 300000 >&3; : >go; wait $!; seq 300000 | cksum";
    let ended = line(&place, text);
    let sums: Vec<&str> = std::str::from_utf8(&ended.stdout).unwrap().lines().collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{sums:?} {}", ended.stderr);
}

#[test]
fn a_reader_of_the_errors_that_leaves_stops_nothing_else() {
    let place = Sandbox::new();
    // The first copy says much when it is its turn, the second before it is.
    let copy =
        "[ $PAR_BLOCK != 1 ] || until [ -e second ]; do :; done; cat; seq 100000 >&2; : >second";
    let text = format!(
        "trap '' PIPE; seq 300000 | $fullbore par -j2 --block 1M -c '[ $PAR_BLOCK != 2 ] || seq 100000 >&2; {copy}' \
         2> >(head -n1 >/dev/null) | cksum; seq 300000 | cksum"
    );
    let ended = line(&place, &text);
    let sums: Vec<&str> = std::str::from_utf8(&ended.stdout).unwrap().lines().collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{sums:?} {}", ended.stderr);
}

#[test]
fn where_the_ends_of_children_are_ignored() {
    assert_prints_same(&format!(
        "trap '' CHLD; cat input | $fullbore par --block 10K cat {COMPARE}"
    ));
}

#[test]
fn a_limit_of_file_sizes_does_not_kill_par() {
    let place = Sandbox::new();
    let ended = line(&place, "ulimit -f 10; seq 60000 | $fullbore par cat | cksum");
    let says = ended.stderr.starts_with("fullbore: par: ") && ended.status.code() == Some(2);
    let works = ended.status.success();
    assert!(says || works, "{} {}", status_text(ended.status), ended.stderr);
}

#[test]
fn the_window_knows_the_limit_of_the_control_group() {
    let place = Sandbox::new();
    let script = "g=/sys/fs/cgroup/memory/fullbore-test-$$; mkdir $g && echo 60M >$g/memory.limit_in_bytes || { echo no; exit; }; \
        (echo $BASHPID >$g/cgroup.procs; head -c 200M /dev/zero | tr '\\0' '\\n' | $fullbore par -c '[ $PAR_BLOCK != 1 ] || sleep 1; cat' | wc -c); rmdir $g";
    let ended = line(&place, script);
    require!(ended.stdout != b"no\n", "control groups cannot be made here");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "209715200\n", "{}", ended.stderr);
}

#[test]
fn a_terminal_is_read_to_its_end() {
    require_programs!("script");
    let place = Sandbox::new();
    let binary = fullbore().display().to_string();
    let text =
        format!("printf '1\\n2\\n' | script -qec 'stty -echo; {binary} par -N1 cat' /dev/null");
    let ended = line(&place, &text);
    assert!(ended.stdout.ends_with(b"1\r\n2\r\n"), "{}", ended.stdout.escape_ascii());
}
