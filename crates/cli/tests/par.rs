//! `fullbore par`: the output of the command alone, whatever the blocks.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::buffer::line;
use crate::sandbox::{Ended, Sandbox, eventually, finish, fullbore, status_text, wait_or_kill};

/// Lines of many lengths, among them empty ones and one that is longer than most blocks; the last has no end.
fn text() -> Vec<u8> {
    let mut text = String::new();
    for number in 0_u64..6000 {
        let length = number * number % 97;
        writeln!(text, "{number} {}", "x".repeat(length.try_into().unwrap())).unwrap();
        if number % 50 == 0 {
            text.push('\n');
        }
        if number == 3000 {
            writeln!(text, "long {}", "y".repeat(30_000)).unwrap();
        }
    }
    text.push_str("the last, without an end");
    text.into_bytes()
}

/// Runs a command with these bytes in its standard input, a pipe.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Ended {
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    std::thread::scope(|scope| {
        // Not every command reads everything.
        scope.spawn(move || writer.write_all(input).ok());
        finish(command)
    })
}

fn par(place: &Sandbox, arguments: &[&str], input: &[u8]) -> Ended {
    let mut command = place.command(fullbore());
    command.arg("par").args(arguments);
    fed(command, input)
}

fn assert_same(place: &Sandbox, options: &[&str], words: &[&str], input: &[u8]) {
    let mut alone = place.command(words[0]);
    alone.args(&words[1..]);
    let alone = fed(alone, input);
    let dealt = par(place, &[options, words].concat(), input);
    assert_eq!(dealt.stderr, alone.stderr, "{options:?} {words:?}");
    assert!(dealt.stdout == alone.stdout, "{options:?} {words:?}: other output");
    assert_eq!(status_text(dealt.status), status_text(alone.status), "{options:?} {words:?}");
}

#[test]
fn the_output_is_that_of_the_command_alone() {
    let place = Sandbox::new();
    let input = text();
    for size in ["3K", "64K", "1M", "256M"] {
        for words in
            [vec!["cat"], vec!["tr", "a-y", "A-Y"], vec!["sed", "s/x/<&>/g"], vec!["grep", "x"]]
        {
            assert_same(&place, &["--block", size], &words, &input);
            assert_same(&place, &["--block", size, "-j3"], &words, &input);
        }
    }
    // A process for every line.
    let few = &input[..2000];
    assert_same(&place, &["--block", "1"], &["cat"], few);
    assert_same(&place, &["-N", "1"], &["cat"], few);
    assert_same(&place, &["-N", "7", "-j4"], &["rev"], few);
    assert_same(&place, &[], &["cat"], &input);
}

#[test]
fn a_file_is_cut_as_a_stream_is() {
    let place = Sandbox::new();
    let input = text();
    fs::write(place.path("f"), &input).unwrap();
    for size in ["3000", "40K", "1M"] {
        let file = par(&place, &["--block", size, "-a", "f", "tr", "x", "X"], b"");
        let stream = par(&place, &["--block", size, "tr", "x", "X"], &input);
        assert!(file.stdout == stream.stdout && !file.stdout.is_empty(), "{size}");
        // The rest of a file on standard input; who reads on after par finds its end.
        let shell = format!(
            "{{ head -c 7 >/dev/null; $fullbore par --block {size} cat; cat; }} <f | cmp - <(tail -c +8 f)"
        );
        let ended = line(&place, &shell);
        assert_eq!(
            status_text(ended.status),
            "exit 0",
            "{}",
            String::from_utf8_lossy(&ended.stdout)
        );
    }
}

#[test]
fn records_end_where_the_user_says() {
    let place = Sandbox::new();
    // Each copy shows what it got between brackets.
    let rows: [(&[&str], &str, &str); 9] = [
        (&["-0", "-N1"], "a\nb\0c\0", "[a\nb\0][c\0]"),
        (&["-d", ";", "-N2"], "a;b;c", "[a;b;][c]"),
        (&["--recend", "<>", "-N1"], "a<>b<<>c", "[a<>][b<<>][c]"),
        (&["--recstart", ">", "-N1"], ">a\n>b\nc\n>d", "[>a\n][>b\nc\n][>d]"),
        (&["--recstart", ">", "-N1"], "x>a>", "[x][>a][>]"),
        (&["--recend", "\\n", "--recstart", ">", "-N1"], ">a>b\n>c\n", "[>a>b\n][>c\n]"),
        (&["--recstart", "ab", "--block", "3"], "ababxab", "[ab][abx][ab]"),
        (&["--header", "1", "-N1"], "h\na\nb\n", "[h\na\nb\n]"),
        (&["--block", "2"], "", "[]"),
    ];
    for (options, input, expected) in rows {
        let script = "printf '['; cat; printf ']'";
        let ended = par(&place, &[options, &["-c", script]].concat(), input.as_bytes());
        let got = String::from_utf8_lossy(&ended.stdout).into_owned();
        if options[0] == "--header" {
            // The first line of the output, `[h`, is that of the header.
            assert_eq!(got, "[h\na\n]b\n]", "{}", ended.stderr);
        } else {
            assert_eq!(got, expected, "{options:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn the_copies_know_their_block_and_place() {
    let place = Sandbox::new();
    let script = "read -r l; echo \"$l {#} $PAR_BLOCK $PARALLEL_SEQ $PARALLEL_JOBSLOT\"";
    let ended = par(&place, &["-N1", "-j1", "-c", script], b"a\nb\n");
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        "a 1 1 1 1\nb 2 2 2 1\n",
        "{}",
        ended.stderr
    );
}

#[test]
fn output_and_errors_come_in_the_order_of_the_input() {
    let place = Sandbox::new();
    // Earlier blocks take longer.
    let script = "read -r n; sleep 0.0$((9 - n)); echo out $n; echo err $n >&2";
    let ended = par(&place, &["-N1", "-j9", "-c", script], b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let expected = |word: &str| (1..=9).map(|n| format!("{word} {n}\n")).collect::<String>();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), expected("out"));
    assert_eq!(ended.stderr, expected("err"));
    let any =
        par(&place, &["--unordered", "-N1", "-j9", "-c", script], b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let mut lines: Vec<&str> = std::str::from_utf8(&any.stdout).unwrap().lines().collect();
    assert_ne!(lines[0], "out 1", "the first takes longest");
    lines.sort_unstable();
    assert_eq!(lines, expected("out").lines().collect::<Vec<_>>());
}

#[test]
fn the_exit_status_follows_from_those_of_the_copies() {
    let place = Sandbox::new();
    let script = "read -r n; exit $n";
    let rows: [(&[&str], &str, i32); 9] = [
        (&[], "0\n0\n", 0),
        (&[], "0\n3\n5\n", 3),
        (&["--status", "max"], "0\n3\n5\n1\n", 5),
        (&["--status", "any"], "1\n0\n1\n", 0),
        (&["--status", "any"], "1\n1\n", 1),
        (&["--status", "any"], "0\n2\n", 2),
        (&["--halt", "soon,fail=1", "-j1"], "0\n4\n0\n", 4),
        (&["--halt", "now,fail=2", "-j1"], "0\n4\n6\n0\n", 6),
        (&["-c", "kill -9 $$"], "0\n", 137),
    ];
    for (options, input, expected) in rows {
        let command: &[&str] = if options.contains(&"-c") { &[] } else { &["-c", script] };
        let ended = par(&place, &[&["-N1"], options, command].concat(), input.as_bytes());
        assert_eq!(ended.status.code(), Some(expected), "{options:?}: {}", ended.stderr);
        if expected == 137 {
            assert_eq!(ended.stderr, "fullbore: par: block 1: sh was killed by signal 9\n");
        }
    }
    // grep says 1 for a block without a match.
    let grep = par(&place, &["-N1", "--status", "any", "grep", "b"], b"a\nb\nc\n");
    assert_eq!((grep.status.code(), grep.stdout.as_slice()), (Some(0), &b"b\n"[..]));
}

#[test]
fn after_halt_nothing_more_is_started() {
    let place = Sandbox::new();
    let script = "read -r n; echo $n; test $n != 2";
    let ended =
        par(&place, &["-N1", "-j1", "--halt", "soon,fail=1", "-c", script], b"1\n2\n3\n4\n");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "1\n2\n");
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn a_failed_block_is_tried_again_and_its_output_comes_once() {
    let place = Sandbox::new();
    // Fails at the first try, after half of its output.
    let script =
        "read -r n; echo half $n; if mkdir tried.$n; then exit 9; fi 2>/dev/null; echo whole $n";
    let ended = par(&place, &["-N1", "-j2", "--retries", "1", "-c", script], b"1\n2\n3\n");
    let expected: String = (1..=3).map(|n| format!("half {n}\nwhole {n}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), expected, "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("failed with status 9; trying the block again").count(), 3);
    let never = par(&place, &["-N1", "--retries", "2", "-c", "exit 3"], b"1\n");
    assert_eq!(never.status.code(), Some(3));
    assert_eq!(never.stderr.matches("trying").count(), 2, "{}", never.stderr);
}

#[test]
fn the_job_log_has_the_columns_of_gnu_parallel() {
    let place = Sandbox::new();
    let ended =
        par(&place, &["-N1", "-j1", "--joblog", "log", "-c", "cat; exit $PAR_BLOCK"], b"ab\nc\n");
    assert_eq!(ended.status.code(), Some(1));
    let log = fs::read_to_string(place.path("log")).unwrap();
    let rows: Vec<Vec<&str>> = log.lines().map(|row| row.split('\t').collect()).collect();
    let columns = [
        "Seq",
        "Host",
        "Starttime",
        "JobRuntime",
        "Send",
        "Receive",
        "Exitval",
        "Signal",
        "Command",
    ];
    assert_eq!(rows[0], columns);
    let figures = |row: &[&str]| [row[0], row[4], row[5], row[6], row[7]].map(str::to_owned);
    assert_eq!(figures(&rows[1]), ["1", "3", "3", "1", "0"]);
    assert_eq!(figures(&rows[2]), ["2", "2", "2", "2", "0"]);
    assert_eq!(rows[1][8], "sh -c cat; exit $PAR_BLOCK");
}

#[test]
fn a_command_that_does_not_exist_costs_no_input() {
    let place = Sandbox::new();
    let rows = [
        ("par no-such-command", 127, "fullbore: par: no-such-command: command not found\n"),
        (
            "par 'grep x'",
            127,
            "fullbore: par: grep x: command not found\nhint: give a line for the shell with -c 'LINE'\n",
        ),
        (
            "par --prove 4M cat",
            127,
            "fullbore: par: 4M: command not found\nhint: write --prove=4M, with =; otherwise 4M is taken for the command\n",
        ),
        ("par /etc/passwd", 126, "fullbore: par: /etc/passwd: it cannot be executed\n"),
        ("par -j0 cat", 2, ""),
        ("par", 2, ""),
        (
            "par --block 2G --window 1M cat",
            2,
            "fullbore: par: --block 2 GiB is larger than --window 1 MiB\nhint: blocks wait in the window; give a larger one\n",
        ),
    ];
    for (arguments, status, message) in rows {
        let ended =
            line(&place, &format!("echo kept | {{ $fullbore {arguments}; s=$?; cat; exit $s; }}"));
        assert_eq!(ended.status.code(), Some(status), "{arguments}: {}", ended.stderr);
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "kept\n", "{arguments}");
        assert!(ended.stderr.starts_with(message), "{arguments}: {}", ended.stderr);
    }
}

#[test]
fn a_record_without_an_end_is_refused_before_it_fills_the_memory() {
    let place = Sandbox::new();
    let ended = line(&place, "head -c 20M /dev/zero | $fullbore par --window 4M cat");
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.stderr.contains("par: no record ends in "), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: say what ends a record"), "{}", ended.stderr);
    let short = line(
        &place,
        "{ seq 1000; head -c 20M /dev/zero; } | $fullbore par --block 64K --window 4M cat | head -n 1000 | md5sum; seq 1000 | md5sum",
    );
    let sums: Vec<&str> = std::str::from_utf8(&short.stdout).unwrap().lines().collect();
    assert_eq!(sums[0], sums[1], "what came before is whole");
}

#[test]
fn a_reader_that_leaves_ends_everything_silently() {
    let place = Sandbox::new();
    for _ in 0..25 {
        let ended = line(
            &place,
            "set +o pipefail; yes abc | $fullbore par --block 10K grep a | head -n 1; echo ${PIPESTATUS[1]}",
        );
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "abc\n141\n", "{}", ended.stderr);
        assert_eq!(ended.stderr, "");
    }
    // Nothing is left, also when a copy works on for long without writing.
    let ended = line(
        &place,
        "set +o pipefail; yes abc | $fullbore par -N1 -j2 -c 'cat; exec sleep 77.25' | head -n 1; ps -C sleep -o args= | grep -F 77.25; true",
    );
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "abc\n", "{}", ended.stderr);
}

#[test]
fn merges_make_the_output_that_of_one_run() {
    let place = Sandbox::new();
    let input = text();
    let numbers: Vec<u8> =
        (0..9000_u64).flat_map(|n| format!("{}\n", n * n % 211 / 9).into_bytes()).collect();
    let commands = [
        "wc",
        "wc -l",
        "wc -L",
        "grep -c x",
        "sort",
        "sort -n",
        "sort -u -r",
        "uniq",
        "uniq -c",
        "head -n 700",
        "tail -n 700",
        "tr -cs a-z \\n",
        "cut -c2-9",
        "grep x",
        "sort -k2,2 -s",
    ];
    for command in commands {
        let words = shell_words::split(command).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for input in [&input, &numbers, &Vec::new()] {
            for size in ["2K", "50K"] {
                assert_same(&place, &["--merge", "auto", "--block", size, "-j3"], &words, input);
            }
        }
    }
    // A command of the user's.
    let ended = par(&place, &["--block", "2K", "--merge", "sort -mnu", "-c", "sort -nu"], &numbers);
    let all: String = (0..=23).map(|n| format!("{n}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), all, "{}", ended.stderr);
}

#[test]
fn par_warns_where_the_output_would_not_be_that_of_one_run() {
    let place = Sandbox::new();
    let rows: [(&[&str], &str); 9] = [
        (&["awk", "{ s += $1 } END { print s }"], "END runs once per block"),
        (&["wc", "-l"], "hint: add --merge auto"),
        (&["nl"], "numbers the lines of its block"),
        (&["-c", "tr a b | sort"], "hint: add --merge auto"),
        (&["-0", "grep", "x"], "its records are lines\nhint: leave out -0"),
        (&["grep", "-z", "x"], "its records end with a zero byte\nhint: add -0"),
        (
            &["--header", "1", "--merge", "sort", "cat"],
            "the header of every copy\nhint: print no header",
        ),
        (&["grep", "x"], ""),
        (&["--merge", "auto", "sort"], ""),
    ];
    for (words, warning) in rows {
        let ended = par(&place, words, b"1 x\n2\n");
        assert!(ended.stderr.contains(warning), "{words:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.is_empty(), warning.is_empty(), "{words:?}: {}", ended.stderr);
    }
}

#[test]
fn outputs_that_cannot_be_merged_are_named() {
    let place = Sandbox::new();
    let ended = par(&place, &["-N1", "--merge", "sum", "-c", "cat"], b"1\nx\n");
    assert_eq!(ended.status.code(), Some(2));
    assert_eq!(
        ended.stderr,
        "fullbore: par: --merge: the output of block 2: `x` cannot be added to `1`\nhint: give another --merge, or none\n"
    );
    let ended = par(&place, &["--merge", "nosuch", "cat"], b"1\n");
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        ended
            .stderr
            .starts_with("fullbore: par: --merge: nosuch: no such command\nhint: cat, auto, sum"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_copy_that_stops_reading_is_no_error() {
    let place = Sandbox::new();
    let input = text();
    let ended = par(&place, &["--block", "100K", "-c", "exec head -n 1"], &input);
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.starts_with(b"0 \n"), "{:?}", &ended.stdout[..9]);
}

#[test]
fn a_signal_reaches_the_copies_and_then_ends_par() {
    let place = Sandbox::new();
    for (signal, name) in [(Signal::TERM, "TERM"), (Signal::INT, "INT"), (Signal::HUP, "HUP")] {
        let script = format!(
            "trap 'echo got >>got.{name}; exit 0' {name}; echo up >>up.{name}; while :; do sleep 0.01; done"
        );
        let mut command: Command = place.command(fullbore());
        command.args(["par", "-N1", "-j2", "-c", &script]).stdin(Stdio::piped());
        let mut child: Child = command.stdout(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"1\n2\n").unwrap();
        let up = place.path(&format!("up.{name}"));
        let are_up = || fs::read_to_string(&up).ok().filter(|text| text.lines().count() == 2);
        eventually(are_up).expect("two copies");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = wait_or_kill(&mut child, name);
        assert_eq!(status_text(status), format!("signal {}", signal.as_raw()));
        let got = fs::read_to_string(place.path(&format!("got.{name}"))).unwrap();
        assert_eq!(got, "got\ngot\n", "{name}");
    }
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left() {
    require!(cfg!(target_os = "linux"), "not Linux");
    let place = Sandbox::new();
    let ended = line(&place, "seq 100000 | $fullbore par --block 10K cat >/dev/full");
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        ended.stderr.contains("par: writing standard output: No space left on device"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_waits_stays_inside_the_window() {
    let place = Sandbox::new();
    // The first copy sleeps, the others are done: their output must not grow without end.
    let script = "if [ $PAR_BLOCK = 1 ]; then sleep 0.7; fi; cat";
    let peak = "p=$!; m=0; while k=$(awk '/^RssShmem|^VmRSS/ {s+=$2} END {print s}' /proc/$p/status 2>/dev/null) && [ -n \"$k\" ]; do [ $k -gt $m ] && m=$k; sleep 0.02; done; echo $m";
    let ended = line(
        &place,
        &format!(
            "head -c 200M /dev/zero | tr '\\0' '\\n' >f; $fullbore par -j3 --window 16M --block 1M -c '{script}' < <(cat f) >out & {peak}; cmp f out"
        ),
    );
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let kib: u64 = std::str::from_utf8(&ended.stdout).unwrap().trim().parse().unwrap();
    assert!(kib < 32 << 10, "{kib} KiB for a window of 16 MiB");
}
