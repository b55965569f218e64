//! `fullbore count` beside the programs that it stands for: sort, uniq and awk.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::processes::peaks_of;
use crate::sandbox::{Ended, Sandbox, finish, status_text, tiers, wait_or_kill, with_fixture};

/// Runs a line of bash in which `input` is a file.
fn bash(line: &str, input: &[u8]) -> Ended {
    let place = Sandbox::new();
    fs::write(place.path("input"), input).unwrap();
    let mut command = place.command("bash");
    command.env("LC_ALL", "C").args(["-c", &with_fixture(line)]);
    finish(command)
}

/// Fails unless two lines print the same.
fn same(ours: &str, theirs: &str, input: &[u8]) {
    let [one, other] = [ours, theirs].map(|line| bash(&format!("set -o pipefail; {line}"), input));
    assert_eq!((one.stderr.as_str(), other.stderr.as_str()), ("", ""), "{ours}; {theirs}");
    assert_eq!(status_text(one.status), "exit 0", "{ours}");
    assert!(
        one.stdout == other.stdout,
        "{ours}:\n{}\n{theirs}:\n{}",
        String::from_utf8_lossy(&one.stdout[..one.stdout.len().min(2000)]),
        String::from_utf8_lossy(&other.stdout[..other.stdout.len().min(2000)]),
    );
}

/// Lines that repeat, of all lengths around those that matter, some of them not text.
fn lines() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..6000_u32 {
        let mixed = number.wrapping_mul(2_654_435_761) >> 16;
        let line = match mixed % 7 {
            0 => String::new(),
            1 => format!("{}", mixed % 50),
            2 => format!(" {} ,b,{}", mixed % 9, mixed % 3),
            3 => "x".repeat((mixed % 40) as usize),
            4 => format!("a\tcolumn {}\r", mixed % 11),
            _ => format!("the same beginning, then {}", mixed % 400),
        };
        text.extend(line.bytes());
        if mixed % 31 == 0 {
            text.extend([0, 0xFF, b'\r']);
        }
        text.push(b'\n');
    }
    text.extend(b"no line end");
    text
}

/// The equivalents of docs/count.md: what people write, and what they can write instead.
pub(crate) const EQUIVALENTS: &[(&str, &str)] = &[
    ("sort input | uniq -c", "{fullbore} count input"),
    ("sort input | uniq -c | sort -rn", "{fullbore} count --sort count input"),
    ("sort input | uniq -c | sort -rn | head -n 10", "{fullbore} count --top 10 input"),
    ("sort -u input", "{fullbore} count --unique input"),
    ("sort input | uniq -d", "{fullbore} count --repeated input"),
    ("awk '!seen[$0]++' input", "{fullbore} count --unique --sort first input"),
    ("awk '{ print $2 }' input | sort | uniq -c", "{fullbore} count -k 2 input"),
    ("awk -F, '{ print $2 }' input | sort | uniq -c", "{fullbore} count -k 2 -t , input"),
    ("cut -f 1 input | sort | uniq -c", "{fullbore} count -k 1 -t '\\t' input"),
    ("sort -z input | uniq -z -c", "{fullbore} count -z input"),
    ("sort input | uniq | wc -l", "{fullbore} count --unique input | wc -l"),
];

#[test]
fn every_equivalent_prints_the_same() {
    require_programs!("gawk");
    for (theirs, ours) in EQUIVALENTS {
        // mawk reads \xFF and NUL differently; gawk takes bytes as they are.
        let theirs = theirs.replace("awk ", "gawk ");
        same(ours, &theirs, &lines());
    }
}

#[test]
fn the_page_lists_the_equivalents() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/count.md");
    let page = fs::read_to_string(page).unwrap();
    for (theirs, ours) in EQUIVALENTS {
        let cell = |line: &str| {
            line.replace(" input", "").replace("{fullbore}", "fullbore").replace('|', "\\|")
        };
        let row = format!("| `{}` | `{}` |", cell(theirs), cell(ours));
        assert!(page.contains(&row), "not in docs/count.md: {row}");
    }
}

#[test]
fn threads_memory_and_the_way_in_do_not_change_the_output() {
    let input = lines().repeat(40);
    let theirs = "sort input | uniq -c";
    for jobs in [1, 2, 5] {
        same(&format!("{{fullbore}} count -j {jobs} < input"), theirs, &input);
        same(&format!("cat input | {{fullbore}} count -j {jobs} -"), theirs, &input);
    }
    for tier in tiers() {
        same(&format!("FULLBORE_TIER={tier} {{fullbore}} count input"), theirs, &input);
    }
}

#[test]
fn lines_that_do_not_fit_into_memory_are_counted_on_disk() {
    let mut input = Vec::new();
    for number in 0..300_000_u32 {
        let mixed = number.wrapping_mul(2_654_435_761);
        let long = if number % 100 == 0 { "long ".repeat(20) } else { String::new() };
        writeln!(input, "{long}{}", mixed % 170_000).unwrap();
    }
    let sorted = "sort input | uniq -c";
    for jobs in [1, 3] {
        let count = format!("{{fullbore}} count -m 1M -j {jobs} -T .");
        same(&format!("{count} input"), sorted, &input);
        same(&format!("{count} --sort count input"), &format!("{sorted} | sort -rn"), &input);
        same(&format!("{count} --top 7 input"), &format!("{sorted} | sort -rn | sed 7q"), &input);
        same(&format!("{count} --sort first --unique input"), "awk '!n[$0]++' input", &input);
        // Nothing stays behind.
        same(&format!("{count} input > /dev/null; ls -A"), "ls -A", &input);
    }
}

#[test]
fn a_disk_that_is_full_is_named() {
    require_programs!("prlimit");
    let input: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    // A file may not grow beyond 64 KiB: write(2) then fails as on a full disk.
    let line = "trap '' XFSZ; prlimit --fsize=65536 {fullbore} count -m 1M -T . input";
    let ended = bash(line, &input);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert_eq!(ended.stdout, b"");
    assert!(ended.stderr.contains("count: temporary file: .: File too large"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: -T DIR"), "{}", ended.stderr);
    let ended = bash("{fullbore} count -m 1M -T nowhere input", &input);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("nowhere: No such file or directory"), "{}", ended.stderr);
}

#[test]
fn temporary_files_have_no_name_while_they_are_used() {
    let place = Sandbox::new();
    let mut command = place.fullbore(&["count", "-m", "1M", "-T", "."]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for number in 0..400_000 {
        writeln!(input, "{number}").unwrap();
    }
    input.flush().unwrap();
    // The pipe holds less than was written, so most of it was counted and is on disk.
    let pid = child.id();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let is_gone = |fd: &fs::DirEntry| {
        fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().ends_with("(deleted)"))
    };
    assert!(open.filter(is_gone).count() >= 1, "nothing was written to disk");
    assert_eq!(fs::read_dir(place.path(".")).unwrap().count(), 0, "a file has a name");
    drop(input);
    assert!(wait_or_kill(&mut child, "count").success());
}

#[test]
fn small_and_odd_inputs() {
    for (line, input, output) in [
        ("{fullbore} count input", &b""[..], &b""[..]),
        ("{fullbore} count input", b"\n", b"      1 \n"),
        ("{fullbore} count input", b"a", b"      1 a\n"),
        ("{fullbore} count input", b"a\r\na\n", b"      1 a\n      1 a\r\n"),
        ("{fullbore} count input", b"a\0b\na\0b", b"      2 a\0b\n"),
        ("{fullbore} count -z input", b"a\nb\0a\nb", b"      2 a\nb\0"),
        ("{fullbore} count -0 --unique input", b"b\0a\0b\0", b"a\0b\0"),
        // As for sort, the last line of each file ends with the file.
        ("{fullbore} count input input - < input", b"x\ny", b"      3 x\n      3 y\n"),
        ("{fullbore} count --top 0 input", b"a\n", b""),
        ("{fullbore} count --top 2 --sort key input", b"b\nb\na\na\na\nc\n", b"      3 a\n      2 b\n"),
        ("{fullbore} count --repeated --top 1 input", b"b\nb\na\n", b"b\n"),
        ("{fullbore} count --json input", b"a\na\n\xff\n", b"{\"count\":2,\"key\":\"a\"}\n{\"count\":1,\"key\":\"\xef\xbf\xbd\",\"bytes\":\"ff\"}\n"),
        ("{fullbore} count --json --repeated input", b"a\na\nb\n", b"{\"count\":2,\"key\":\"a\"}\n"),
    ] {
        let ended = bash(line, input);
        let texts = [&ended.stdout[..], output].map(|text| String::from_utf8_lossy(text));
        assert_eq!(texts[0], texts[1], "{line} of {input:?}: {}", ended.stderr);
        assert_eq!((ended.stderr.as_str(), ended.status.code()), ("", Some(0)), "{line}");
    }
}

#[test]
fn a_line_may_be_longer_than_a_block() {
    let mut input = vec![b'a'; 3 << 20];
    input.extend(b"\nb\n");
    input.extend(vec![b'a'; 3 << 20]);
    let ended = bash("{fullbore} count -m 1M -T . input | cut -c 1-12 | tr -s a", &input);
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        "      2 a\n      1 b\n",
        "{}",
        ended.stderr
    );
}

#[test]
fn mistakes_are_named() {
    for (line, message) in [
        ("{fullbore} count .", "count: reading: .: Is a directory"),
        ("{fullbore} count input nowhere", "count: reading: nowhere: No such file or directory"),
        ("{fullbore} count <&-", "count: reading standard input: it is closed"),
        ("{fullbore} count input >&-", "count: writing standard output: it is closed"),
        ("{fullbore} count input > /dev/full", "No space left on device"),
        ("{fullbore} count -t , input", "--key"),
        ("{fullbore} count -k 0 input", "the number of a field, from 1"),
        ("{fullbore} count -k 1 -t ab input", "expected one byte"),
        ("{fullbore} count -m 1K input", "at least 1M"),
        ("{fullbore} count --unique --repeated input", "cannot be used with"),
    ] {
        let ended = bash(line, b"a\n");
        assert_eq!(ended.status.code(), Some(2), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout, b"", "{line}");
    }
}

#[test]
fn a_reader_that_leaves_ends_it_without_a_word() {
    let line = "seq 2000000 | {fullbore} count | head -n 1; echo ${PIPESTATUS[*]}";
    let ended = bash(line, b"");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "      1 1\n0 141 0\n", "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
}

#[test]
fn memory_is_for_the_distinct_lines_and_not_for_the_stream() {
    let line = "yes 'a line that repeats' | head -c 300M | {fullbore} count --top 3 > /dev/null";
    let peaks = peaks_of(&Sandbox::new(), &with_fixture(line), &["count"]);
    assert!((1..32 << 10).contains(&peaks[0]), "{peaks:?} KiB");
}

#[test]
fn one_worker_may_use_the_memory_of_all() {
    // Some 60,000 lines take 3 MB: with 8 MB for four workers, nothing has to go to disk, where nothing can be written.
    let input: Vec<u8> = (0..60_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    let line =
        "trap '' XFSZ; cat input | prlimit --fsize=0 {fullbore} count --unique -m 8M -T . | wc -l";
    require_programs!("prlimit");
    let ended = bash(line, &input);
    assert_eq!((ended.stderr.as_str(), &*ended.stdout), ("", &b"60000\n"[..]));
}

/// The most memory that one run of count took, in KiB, and its output.
fn peak_and_output(arguments: &str, input: &[u8]) -> (u64, Vec<u8>) {
    let place = Sandbox::new();
    fs::write(place.path("input"), input).unwrap();
    let line =
        format!("cd {} && {{fullbore}} count {arguments} input > output", place.path("").display());
    let peaks = peaks_of(&place, &with_fixture(&line), &["count"]);
    (peaks[0], fs::read(place.path("output")).unwrap())
}

#[test]
fn memory_stays_near_its_limit_whatever_is_asked() {
    // Without a limit, this takes 60 to 130 MB.
    let mut input = Vec::new();
    for number in 0..1_000_000_u64 {
        writeln!(input, "{}", number * 7_654_321 % 1_000_000).unwrap();
    }
    for arguments in ["", "--sort first", "--top 900000", "--top 900000 --sort key"] {
        let arguments = format!("{arguments} -j 2 -m 16M -T .");
        let (peak, output) = peak_and_output(&arguments, &input);
        let rows = output.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(
            rows,
            if arguments.contains("top") { 900_000 } else { 1_000_000 },
            "{arguments}"
        );
        // The limit is for tables; the program, blocks and the allocator take 6 to 20 MB more, depending on which thread is late.
        assert!((1..40 << 10).contains(&peak), "{arguments}: {peak} KiB");
    }
}

#[test]
fn a_large_top_is_chosen_and_ordered_on_disk() {
    let input = lines().repeat(3);
    let mut input = [&input[..], b"\n"].concat();
    for number in 0..150_000_u32 {
        let times = 1 + number.wrapping_mul(2_654_435_761) % 3;
        (0..times).for_each(|_| writeln!(input, "line {number}").unwrap());
    }
    for jobs in [1, 3] {
        let count = format!("{{fullbore}} count -m 1M -j {jobs} -T . --top 70000");
        let sorted = "sort input | uniq -c | sort -rn | sed 70000q";
        same(&format!("{count} input"), sorted, &input);
        same(
            &format!("{count} --sort key --unique input"),
            &format!("{sorted} | cut -c 9- | sort"),
            &input,
        );
    }
}

#[test]
fn a_failure_is_told_while_another_worker_waits_for_input() {
    require_programs!("prlimit");
    let place = Sandbox::new();
    let line = "trap '' XFSZ; exec prlimit --fsize=65536 {fullbore} count -j 2 -m 1M -T .";
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(line)]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The first block fills the table of one worker, which cannot be written to disk; the other one waits for a second
    // block, and the input stays open.
    let lines: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    input.write_all(lines.as_bytes()).unwrap();
    let status = wait_or_kill(&mut child, "count");
    assert_eq!(status.code(), Some(2));
    drop(input);
}

#[test]
fn memory_that_linux_refuses_goes_to_disk_or_is_named() {
    require_programs!("prlimit");
    let input: Vec<u8> = (0..1_500_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    // The table cannot grow, so count goes on as if -m had been given.
    let line = "prlimit --as=70000000 {fullbore} count -j 1 -m 10G -T . --top 2 input";
    let ended = bash(line, &input);
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "      1 999999\n      1 999998\n");
    let long = vec![b'x'; 100 << 20];
    let ended = bash("prlimit --as=70000000 {fullbore} count -j 1 -T . input", &long);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("does not fit into memory"), "{}", ended.stderr);
    assert_eq!(ended.stdout, b"");
}

#[test]
fn a_file_that_cannot_be_read_is_told_before_the_input_is_read() {
    // Standard input never ends.
    for (file, message) in [("nowhere", "No such file or directory"), (".", "Is a directory")] {
        let line = format!("yes | {{fullbore}} count - {file}");
        let ended = bash(&line, b"a\n");
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        let expected = format!("count: reading: {file}: {message}");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    }
    let ended = bash("yes | {fullbore} count -T nowhere -", b"");
    assert!(ended.stderr.contains("nowhere: No such file or directory"), "{}", ended.stderr);
    // A named pipe is opened once, when it is its turn.
    let ended = bash("mkfifo pipe; (echo a > pipe) & {fullbore} count input pipe; wait", b"a\n");
    assert_eq!((ended.stderr.as_str(), &*ended.stdout), ("", &b"      2 a\n"[..]));
}
