//! The filters and sources as a user meets them: what comes out, what is said, how they end.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::processes::peaks_of;
use crate::sandbox::{
    Ended, Sandbox, digest, finish, status_text, tiers, wait_or_kill, with_fixture,
};

/// Runs a line of bash; `{fullbore}` is the program.
fn bash(line: &str) -> Ended {
    let place = Sandbox::new();
    let mut command = place.command("bash");
    command.env("LC_ALL", "C.UTF-8").args(["-c", &with_fixture(line)]);
    finish(command)
}

/// Output, messages and exit status of a line that reads `input`.
fn with_input(line: &str, input: &[u8]) -> (Vec<u8>, String, i32) {
    let place = Sandbox::new();
    std::fs::write(place.path("input"), input).unwrap();
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&line.replace("{input}", "input"))]);
    let ended = finish(command);
    (ended.stdout, ended.stderr, ended.status.code().unwrap())
}

/// The three ways a stage is fed: from a pipe into a pipe, from a file into a pipe, and from a pipe into a file.
const WAYS: [&str; 3] = [
    "set -o pipefail; cat {input} | {} | cat",
    "set -o pipefail; {} {input} | cat",
    "set -o pipefail; cat {input} | {} > out; status=$?; cat out; exit $status",
];

fn every_way(stage: &str, input: &[u8], output: &[u8], status: i32, message: &str) {
    for way in WAYS {
        let (stdout, stderr, code) = with_input(&way.replace("{}", stage), input);
        assert_eq!(
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(output),
            "{stage}: {way}"
        );
        assert_eq!(code, status, "{stage}: {way}: {stderr}");
        assert!(stderr.contains(message), "{stage}: {way}: {stderr}");
        assert_eq!(message.is_empty(), stderr.is_empty(), "{stage}: {way}: {stderr}");
    }
}

#[test]
fn morse_goes_there_and_back() {
    let encode = "{fullbore} morse encode";
    every_way(
        encode,
        "SOS Москва\nπ".as_bytes(),
        b"... --- ... / -- --- ... -.- .-- .-\n.--.",
        0,
        "",
    );
    let decode = "{fullbore} morse decode --alphabet russian";
    every_way(decode, "−− ––– ··· -.- .-- •-\n".as_bytes(), "МОСКВА\n".as_bytes(), 0, "");
}

#[test]
fn what_has_no_code_is_named_after_everything_before_it_was_written() {
    let text = "ok\nab☃cd".as_bytes();
    let encode = "{fullbore} morse encode";
    every_way(
        encode,
        text,
        b"--- -.-\n.- -...",
        1,
        "byte 6, line 2, column 3: no Morse code for '☃' (U+2603)",
    );
    every_way("{fullbore} morse encode --on-error skip", text, b"--- -.-\n.- -... -.-. -..", 0, "");
    every_way(
        "{fullbore} morse decode",
        b"... ........",
        b"S",
        1,
        "byte 5, line 1, column 5: unknown sign ........",
    );
}

#[test]
fn utf8_is_handed_on_up_to_the_first_fault() {
    let good = "naïve 日本 👍\n".repeat(9000);
    every_way("{fullbore} utf8 check", good.as_bytes(), good.as_bytes(), 0, "");
    let bad = [good.as_bytes(), b"ab\xe2\x82", b"cd"].concat();
    let written = [good.as_bytes(), b"ab"].concat();
    let said = format!("byte {}, line 9001, column 3: invalid UTF-8: E2 82", written.len() + 1);
    every_way("{fullbore} utf8 check", &bad, &written, 1, &said);
    let repaired = [good.as_bytes(), "ab\u{FFFD}cd".as_bytes()].concat();
    every_way("{fullbore} utf8 repair", &bad, &repaired, 0, "");
    every_way("{fullbore} utf8 repair --drop", &bad, &[good.as_bytes(), b"abcd"].concat(), 0, "");
}

/// A program that writes the pieces one by one; each waits until the one before it was taken from the pipe.
const PIECE_BY_PIECE: &str = r#"
import array, fcntl, os, sys, termios
for piece in sys.argv[1:]:
    os.write(1, bytes.fromhex(piece))
    left = array.array("i", [1])
    while left[0]:
        fcntl.ioctl(1, termios.FIONREAD, left)
"#;

#[test]
fn no_byte_of_a_refused_character_is_handed_on_wherever_the_stream_is_cut() {
    require_programs!("python3");
    for (pieces, passed, refused) in [
        ("61e2 62", "a", "byte 2, line 1, column 2: invalid UTF-8: E2"),
        ("61 e2 82 62", "a", "byte 2, line 1, column 2: invalid UTF-8: E2 82"),
        ("61f0 9f 92", "a", "byte 2, line 1, column 2: invalid UTF-8: F0 9F 92"),
        ("e282 ac0ac3", "€\n", "byte 5, line 2, column 1: invalid UTF-8: C3"),
        ("c3 a961e2 82ac62", "éa€b", ""),
        ("f09f 92 a9 0a", "💩\n", ""),
    ] {
        for end in ["| cat", "> out; status=$?; cat out; exit $status"] {
            let place = Sandbox::new();
            std::fs::write(place.path("pieces.py"), PIECE_BY_PIECE).unwrap();
            let line = format!(
                "set -o pipefail; python3 pieces.py {pieces} | {{fullbore}} utf8 check {end}"
            );
            let mut command = place.command("bash");
            command.args(["-c", &with_fixture(&line)]);
            let ended = finish(command);
            assert_eq!(String::from_utf8_lossy(&ended.stdout), passed, "{line}");
            assert!(ended.stderr.contains(refused), "{line}: {}", ended.stderr);
            assert_eq!(ended.status.success(), refused.is_empty(), "{line}: {}", ended.stderr);
        }
    }
}

#[test]
fn utf8_check_with_quiet_has_only_a_status() {
    for (input, status) in [("é".as_bytes(), 0), (b"\xc3".as_slice(), 1), (b"".as_slice(), 0)] {
        let (stdout, stderr, code) = with_input("{fullbore} utf8 check -q input", input);
        assert_eq!((stdout.len(), stderr.as_str(), code), (0, "", status));
    }
}

#[test]
fn a_character_may_be_cut_anywhere() {
    let ended = bash(
        "set -o pipefail; (printf 'a\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xacb') | \
         {fullbore} utf8 check | {fullbore} morse encode --on-error skip",
    );
    assert_eq!(ended.stdout, b".- -...", "{}", ended.stderr);
    assert!(ended.status.success(), "{}", ended.stderr);
}

#[test]
fn a_line_comes_out_before_the_next_goes_in() {
    for stage in ["utf8 check", "utf8 repair", "morse encode"] {
        let place = Sandbox::new();
        let words: Vec<&str> = stage.split(' ').collect();
        let mut command = place.fullbore(&words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut into, mut out) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        for _ in 0..3 {
            into.write_all(b"E\n").unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert!(["E\n", ".\n"].contains(&line.as_str()), "{stage}: {line}");
        }
        drop(into);
        assert!(wait_or_kill(&mut child, stage).success());
    }
}

#[test]
fn made_up_data_is_the_same_each_time_and_stops_where_it_is_told() {
    for (options, bytes, lines) in [
        ("fizzbuzz --count 100000", None, Some(100_000)),
        ("fizzbuzz --bytes 3M", Some(3 << 20), None),
        ("zero --bytes 2M", Some(2 << 20), None),
        ("random --bytes 2M --seed 9", Some(2 << 20), None),
        ("lines --bytes 2M --length 100", Some(2 << 20), None),
        ("lines --count 30000 --length 7", Some(210_000), Some(30_000)),
        ("jsonl --rows 20000 --seed 4", None, Some(20_000)),
    ] {
        let [one, two] = [0; 2].map(|_| bash(&format!("{{fullbore}} gen {options} | cat")));
        assert_eq!(digest(&one.stdout), digest(&two.stdout), "{options}");
        assert!(
            bytes.is_none_or(|bytes| one.stdout.len() == bytes),
            "{options}: {}",
            one.stdout.len()
        );
        let found = one.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert!(lines.is_none_or(|lines| lines == found), "{options}: {found} lines");
    }
}

#[test]
fn fizzbuzz_is_what_awk_says() {
    let ended = bash(
        "cmp <({fullbore} gen fizzbuzz --count 3000000) <(seq 3000000 | awk '\
         $1%15==0{print \"FizzBuzz\";next} $1%3==0{print \"Fizz\";next} $1%5==0{print \"Buzz\";next} 1')",
    );
    assert!(ended.status.success(), "{}{}", String::from_utf8_lossy(&ended.stdout), ended.stderr);
}

#[test]
fn every_record_is_json() {
    require_programs!("jq");
    let ended = bash("set -o pipefail; {fullbore} gen jsonl --rows 5000 | jq -r .id | tail -1");
    assert_eq!(ended.stdout, b"5000\n", "{}", ended.stderr);
}

#[test]
fn a_stage_whose_reader_leaves_ends_without_a_word() {
    for stage in [
        "{fullbore} gen fizzbuzz",
        "{fullbore} gen random",
        "{fullbore} gen lines | {fullbore} morse encode",
        "{fullbore} gen jsonl | {fullbore} utf8 check",
        "yes | {fullbore} utf8 repair",
    ] {
        let ended = bash(&format!("{stage} | head -c 3M | wc -c; echo ${{PIPESTATUS[*]}}"));
        let text = String::from_utf8(ended.stdout).unwrap();
        let (count, statuses) = text.split_once('\n').unwrap();
        assert_eq!(count, "3145728", "{stage}");
        assert_eq!(statuses.split(' ').rev().nth(2), Some("141"), "{stage}: {statuses}");
        assert_eq!(ended.stderr, "", "{stage}");
    }
}

#[test]
fn every_tier_says_the_same() {
    let line = "FULLBORE_TIER={} {fullbore} gen jsonl --bytes 4M | FULLBORE_TIER={} {fullbore} morse encode --on-error skip; \
                FULLBORE_TIER={} {fullbore} gen fizzbuzz --bytes 4M";
    if !tiers().contains(&"avx512") {
        // No failure even in CI, which cannot install a CPU.
        eprintln!("skipped: the kernels of avx512, which this CPU lacks");
    }
    let outputs: Vec<u64> =
        tiers().iter().map(|tier| digest(&bash(&line.replace("{}", tier)).stdout)).collect();
    assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:?}");
}

#[test]
fn the_sound_of_morse_has_the_length_of_paris() {
    let place = Sandbox::new();
    let path = place.path("paris.wav");
    let line =
        format!("echo PARIS | {{fullbore}} morse encode --wpm 12 --audio {}", path.display());
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&line)]);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert!(ended.stdout.is_empty());
    let bytes = std::fs::read(path).unwrap();
    assert_eq!((&bytes[..4], &bytes[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    let said = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((said(4), said(40)), (bytes.len() - 8, bytes.len() - 44));
    // 12 words a minute: five seconds for PARIS and the gap after it, 8,000 samples of two bytes each second.
    assert_eq!(bytes.len() - 44, 5 * 8000 * 2);
}

#[test]
fn the_sound_of_morse_goes_into_a_pipe() {
    // A dot, a dash, a dot and the space after each: 8 dots of 100 ms, 800 samples of two bytes each.
    let samples = 8 * 800 * 2;
    let encode = "printf R | {fullbore} morse encode --wpm 12 --audio";
    for line in [
        format!("{encode} - | cat"),
        format!("{encode} /dev/stdout | cat"),
        format!("{encode} - > sound.wav; cat sound.wav"),
        format!("mkfifo fifo; {encode} fifo & cat fifo; wait $!"),
    ] {
        let place = Sandbox::new();
        let line = with_fixture(&line);
        let mut command = place.command("bash");
        command.args(["-c", &line]);
        let ended = finish(command);
        assert_eq!(status_text(ended.status), "exit 0", "{line}: {}", ended.stderr);
        assert_eq!(ended.stderr, "", "{line}");
        let sound = ended.stdout;
        assert_eq!((&sound[..4], &sound[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]), "{line}");
        assert_eq!((&sound[4..8], &sound[40..44]), (&[0xFF; 4][..], &[0xFF; 4][..]), "{line}");
        assert_eq!(sound.len() - 44, samples, "{line}");
    }
}

#[test]
fn a_player_that_stops_ends_the_sound_without_a_word() {
    let ended = bash(
        "yes | {fullbore} morse encode --audio - | head -c 1000 | wc -c; echo ${PIPESTATUS[*]}",
    );
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "1000\n141 141 0 0\n", "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
}

#[test]
fn punctuation_comes_back_in_the_alphabet_it_was_written_in() {
    let russian = "Привет, мир. (раз)".as_bytes();
    for line in [
        "{fullbore} morse encode | {fullbore} morse decode --alphabet russian",
        "{fullbore} morse encode --alphabet russian | {fullbore} morse decode --alphabet russian",
        "{fullbore} morse encode --alphabet russian-telegraph | \
         {fullbore} morse decode --alphabet russian-telegraph",
    ] {
        let (stdout, stderr, code) =
            with_input(&format!("set -o pipefail; cat {{input}} | {line}"), russian);
        assert_eq!(String::from_utf8_lossy(&stdout), "ПРИВЕТ, МИР. (РАЗ)", "{line}");
        assert_eq!((stderr.as_str(), code), ("", 0), "{line}");
    }
    every_way(
        "{fullbore} morse encode --alphabet japanese",
        "テ.".as_bytes(),
        b".-.--",
        1,
        "byte 4, line 1, column 2: no Morse code for '.' (U+002E)",
    );
}

#[test]
fn wrong_arguments_are_explained() {
    for (line, message) in [
        (
            "{fullbore} morse decode --alphabet klingon",
            "'klingon' for '--alphabet <NAME>' [possible values: latin, greek",
        ),
        ("{fullbore} morse encode nowhere", "reading: nowhere: No such file or directory"),
        ("{fullbore} gen zero --count 3", "give a size with --bytes"),
        ("{fullbore} gen lines --count 3 --bytes 4", "cannot be used with"),
        (
            "FULLBORE_TIER=sse9 {fullbore} morse encode",
            "FULLBORE_TIER: sse9: not one of portable, avx2, avx2-gfni, avx512, neon",
        ),
        ("{fullbore} utf8 check .", "Is a directory"),
        ("{fullbore} gen zero --bytes 1M > /dev/full", "No space left on device"),
        ("{fullbore} morse encode < input --audio /nowhere/x.wav", "/nowhere/x.wav"),
    ] {
        let (_, stderr, code) = with_input(line, b"SOS");
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains(message), "{line}: {stderr}");
    }
}

#[test]
fn ends_that_are_closed_are_said_instead_of_losing_the_stream() {
    for (line, about) in [
        ("{fullbore} morse encode <&-", "morse encode: reading standard input"),
        ("echo a | {fullbore} morse encode >&-", "morse encode: writing standard output"),
        ("echo a | {fullbore} morse decode - >&-", "morse decode: writing standard output"),
        ("{fullbore} utf8 check <&-", "utf8 check: reading standard input"),
        ("echo a | {fullbore} utf8 check >&-", "utf8 check: writing standard output"),
        ("echo a | {fullbore} utf8 repair >&-", "utf8 repair: writing standard output"),
        ("echo a | {fullbore} morse encode --audio - >&-", "morse encode: writing standard output"),
        ("{fullbore} gen zero --bytes 1 >&-", "gen: writing standard output"),
    ] {
        let ended = bash(line);
        assert_eq!(ended.status.code(), Some(2), "{line}: {}", ended.stderr);
        let hint = if about.ends_with("input") {
            "for an empty input, read /dev/null: add < /dev/null"
        } else {
            "to discard the stream, write it to /dev/null"
        };
        let said = format!("fullbore: {about}: it is closed\nhint: {hint}\n");
        assert_eq!(ended.stderr, said, "{line}");
    }
}

#[test]
fn text_that_becomes_much_longer_takes_no_more_memory_than_other_text() {
    // 18 bytes for each, on all CPUs that are idle.
    let size = if cfg!(debug_assertions) { "60M" } else { "200M" };
    let many = "%".repeat(60);
    let line = with_fixture(&format!(
        "yes {many} | head -c {size} | {{fullbore}} morse encode | cat > /dev/null"
    ));
    let peaks = peaks_of(&Sandbox::new(), &line, &["morse encode"]);
    assert!((1..48 << 10).contains(&peaks[0]), "{peaks:?} KiB");
}
