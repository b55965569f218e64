//! A command that is dealt out with caution: one copy first, several if that is slow, and always the same bytes.
#![expect(clippy::unwrap_used, reason = "in tests a panic is the right answer")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Seek, Write, pipe};
use std::process::Stdio;
use std::thread::{self, JoinHandle};

use fullbore_feed::par::{
    Assumption, BlockSize, Caution, Command, Ended, Event, Jobs, Merge, Options, Records, Source,
    StatusRule, Stop, par,
};
use fullbore_measure::Bytes;
use fullbore_pipe::Limits;

/// Takes about two seconds of CPU time for each 100 MB.
const SLOW: &str = r#"{ gsub(/[13579]/, "<&>"); print }"#;

fn options(caution: Caution) -> Options {
    Options {
        records: Records::EndByte(b'\n'),
        block: BlockSize::Fitting(Bytes(4 << 20)),
        header_lines: 0,
        // As many as said, however busy the machine is.
        jobs: Jobs::Exactly(2),
        window: Bytes(64 << 20),
        is_unordered: false,
        merge: None,
        status: StatusRule::All,
        halt: None,
        retries: 0,
        joblog: None,
        proved: None,
        caution: Some(caution),
        pipe_limits: Limits::from_settings(Some(1 << 20), None, 4096),
    }
}

const ANYTHING: Caution = Caution { assumes: Assumption::Nothing, failed_from: Some(1) };

fn command(words: &[&str]) -> Command {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    Command::find(words, OsStr::new("/usr/bin:/bin")).unwrap().unnumbered()
}

/// Lines of different lengths.
fn lines(count: u32) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..count {
        let hash = number.wrapping_mul(2_654_435_761);
        writeln!(text, "{hash} {}", "word ".repeat(hash as usize % 7)).unwrap();
    }
    text
}

/// What one copy alone writes, and its exit status.
fn serially(words: &[&str], input: &[u8]) -> (Vec<u8>, u8) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
    let mut process = command(words).as_it_is();
    let output = process.stdin(file).stderr(Stdio::null()).output().unwrap();
    (output.stdout, u8::try_from(output.status.code().unwrap()).unwrap())
}

/// What is written, how it ended, and whether it was dealt out.
fn cautiously(words: &[&str], source: Source, options: Options) -> (Vec<u8>, Ended, bool) {
    told(words, source, options, |_| {})
}

/// The same, with what is told.
fn told(
    words: &[&str],
    source: Source,
    options: Options,
    mut tell: impl FnMut(Event),
) -> (Vec<u8>, Ended, bool) {
    let mut output = tempfile::tempfile().unwrap();
    let errors = File::options().write(true).open("/dev/null").unwrap();
    let mut is_dealt = false;
    let note = |event| {
        is_dealt |= matches!(event, Event::Dealing);
        tell(event);
    };
    let stop = Stop::new().unwrap();
    let ended = par(&command(words), source, &output, errors, options, &stop, note).unwrap();
    let mut written = Vec::new();
    output.rewind().unwrap();
    output.read_to_end(&mut written).unwrap();
    (written, ended, is_dealt)
}

/// Begins a job that another thread waits for.
fn begun(words: &[&str], input: PipeReader, output: PipeWriter, stop: Stop) -> JoinHandle<Ended> {
    let command = command(words);
    thread::spawn(move || {
        let errors = File::options().write(true).open("/dev/null").unwrap();
        let source = Source::Stream(input.into());
        par(&command, source, output, errors, options(ANYTHING), &stop, |_| {}).unwrap()
    })
}

/// A pipe that somebody writes this to.
fn stream(bytes: Vec<u8>) -> Source {
    let (reader, mut writer) = pipe().unwrap();
    // Nobody may read it to the end.
    thread::spawn(move || drop(writer.write_all(&bytes)));
    Source::Stream(reader.into())
}

fn file(bytes: &[u8], from: u64) -> Source {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Source::File(file, from)
}

#[test]
fn a_slow_command_is_dealt_out_after_a_while_and_its_output_is_that_of_one() {
    let mut input = lines(200_000);
    for end in ["", "no line end"] {
        input.extend_from_slice(end.as_bytes());
        let words = ["awk", SLOW];
        let (expected, _) = serially(&words, &input);
        for source in [stream(input.clone()), file(&input, 0)] {
            let (written, ended, is_dealt) = cautiously(&words, source, options(ANYTHING));
            assert!(written == expected);
            assert_eq!((ended, is_dealt), (Ended::Done(0), true));
        }
        let (expected, _) = serially(&words, &input[1000..]);
        let (written, ..) = cautiously(&words, file(&input, 1000), options(ANYTHING));
        assert!(written == expected);
    }
}

#[test]
fn a_fast_command_gets_everything_itself() {
    let input = lines(2_000_000);
    for source in [stream(input.clone()), file(&input, 0)] {
        let (written, ended, is_dealt) = cautiously(&["cat"], source, options(ANYTHING));
        assert!(written == input);
        assert_eq!((ended, is_dealt), (Ended::Done(0), false));
    }
}

#[test]
fn an_input_without_a_byte_or_a_line_end_is_one_copy_s() {
    for input in [Vec::new(), b"x".to_vec(), vec![b'y'; 9_000_000]] {
        for source in [stream(input.clone()), file(&input, 0)] {
            let (written, ended, is_dealt) =
                cautiously(&["sed", "s/a/b/"], source, options(ANYTHING));
            assert!(written == input, "{} bytes", input.len());
            assert_eq!((ended, is_dealt), (Ended::Done(0), false));
        }
    }
}

#[test]
fn numbers_of_the_first_copy_are_added_to_those_of_the_blocks() {
    let input = lines(300_000);
    let words = ["awk", "{ gsub(/[13579]/, \"<&>\"); n += length($0) } END { print n }"];
    let (expected, _) = serially(&words, &input);
    for source in [stream(input.clone()), file(&input, 0)] {
        let plan = Options { merge: Some(Merge::Sum), ..options(ANYTHING) };
        let (written, _, is_dealt) = cautiously(&words, source, plan);
        assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8_lossy(&expected));
        assert!(is_dealt);
    }
}

#[test]
fn what_dealing_out_would_change_is_found_out_and_goes_to_one_copy() {
    let input = lines(300_000);
    let counts = format!("{SLOW} NR % 1000 == 0 {{ print NR }}");
    let sums = "{ gsub(/[13579]/, \"<&>\") } END { print NR % 1000 }";
    let fails = format!("{SLOW} END {{ exit NR < 200000 }}");
    // Outputs that cannot be added.
    let words = "{ gsub(/[13579]/, \"<&>\") } END { print \"n\" NR }";
    for (script, merge) in
        [(&*counts, None), (sums, Some(Merge::Sum)), (words, Some(Merge::Sum)), (&fails, None)]
    {
        let words = ["awk", script];
        let (expected, status) = serially(&words, &input);
        for source in [stream(input.clone()), file(&input, 0)] {
            let proved = Some(Bytes(1 << 20));
            let merge = merge.clone();
            let mut differs = false;
            let plan = Options { proved, merge, ..options(ANYTHING) };
            let note = |event| differs |= matches!(event, Event::Differs(_));
            let (written, ended, is_dealt) = told(&words, source, plan, note);
            assert!(written == expected, "{script}");
            assert_eq!((ended, is_dealt, differs), (Ended::Done(status), false, true), "{script}");
        }
    }
}

#[test]
fn what_is_the_same_both_ways_is_dealt_out_after_the_proof() {
    let input = lines(300_000);
    let (expected, _) = serially(&["awk", SLOW], &input);
    for source in [stream(input.clone()), file(&input, 0)] {
        let mut proved = 0;
        let plan = Options { proved: Some(Bytes(1 << 20)), ..options(ANYTHING) };
        let note = |event| {
            if let Event::Proved(bytes) = event {
                proved = bytes
            }
        };
        let (written, ended, is_dealt) = told(&["awk", SLOW], source, plan, note);
        assert!(written == expected);
        assert_eq!((ended, is_dealt), (Ended::Done(0), true));
        // Whole lines.
        assert!((1_000_000..=1 << 20).contains(&proved), "{proved}");
    }
}

#[test]
fn nothing_is_written_after_a_failure_in_the_first_copy_or_a_block() {
    let fails = format!("/fail/ {{ exit 3 }} {SLOW}");
    let words = ["awk", &fails];
    for before in [0, 20, 199_999] {
        let input = [lines(before), b"fail\n".to_vec(), lines(200_000)].concat();
        let (expected, status) = serially(&words, &input);
        let (written, ended, _) = cautiously(&words, stream(input.clone()), options(ANYTHING));
        assert!(written == expected, "after {before} lines");
        assert_eq!(ended, Ended::Done(status));
    }
}

#[test]
fn what_is_no_text_from_some_place_on_goes_to_one_copy() {
    let mut input = lines(300_000);
    input.extend_from_slice(b"zero \0 byte\n");
    input.extend(lines(300_000));
    // What it does with later lines depends on this one.
    let remembers = format!("/zero/ {{ seen = 1 }} seen {{ print \"after\" }} {SLOW}");
    let words = ["awk", &remembers];
    let (expected, _) = serially(&words, &input);
    let caution = Caution { assumes: Assumption::NoZeros, ..ANYTHING };
    for source in [stream(input.clone()), file(&input, 0)] {
        let (written, ended, is_dealt) = cautiously(&words, source, options(caution));
        assert_eq!((ended, is_dealt), (Ended::Done(0), true));
        assert!(written == expected);
    }
}

#[test]
fn a_command_that_complains_says_so_once() {
    let input = lines(200_000);
    let script = format!("BEGIN {{ print \"a warning\" >\"/dev/stderr\" }} {SLOW}");
    let (mut said, errors) = pipe().unwrap();
    let output = tempfile::tempfile().unwrap();
    let mut is_dealt = false;
    let note = |event| is_dealt |= matches!(event, Event::Dealing);
    let (source, stop) = (stream(input), Stop::new().unwrap());
    let awk = command(&["awk", &script]);
    par(&awk, source, output, errors, options(ANYTHING), &stop, note).unwrap();
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert_eq!(text, "a warning\n");
    assert!(!is_dealt);
}

#[test]
fn a_signal_ends_the_first_copy_while_it_waits_for_input() {
    let (reader, writer): (_, PipeWriter) = pipe().unwrap();
    let (mut seen, output) = pipe().unwrap();
    let stop = Stop::new().unwrap();
    let stopper = stop.clone();
    let work = begun(&["cat"], reader, output, stop);
    (&writer).write_all(b"a line\n").unwrap();
    // Passed on at once.
    let mut first = [0; 7];
    seen.read_exact(&mut first).unwrap();
    stopper.stop(15);
    assert_eq!(work.join().unwrap(), Ended::Stopped(15));
    let mut rest = Vec::new();
    // The copy is gone, or this would have no end.
    seen.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn the_end_of_one_job_leaves_the_processes_of_others_alone() {
    if let Err(error) = rustix::process::child_subreaper() {
        // An emulator of programs does not pass the request on: what a copy started outlives it.
        assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: orphans: {error}");
        eprintln!("skipped: orphans cannot be adopted here: {error}");
        return;
    }
    let (reader, writer) = pipe().unwrap();
    let (mut seen, output) = pipe().unwrap();
    let stop = Stop::new().unwrap();
    let stopper = stop.clone();
    // What it starts takes part, and it says when it is told to end; it is killed two seconds later.
    let script = "trap 'echo told' TERM; sleep 1000 & echo begun; while :; do wait; done";
    let ending = begun(&["sh", "-c", script], reader, output, stop);
    let mut line = [0; 6];
    // The writer of the input must not end before.
    (&writer).write_all(b"a line\n").unwrap();
    seen.read_exact(&mut line).unwrap();
    stopper.stop(15);
    seen.read_exact(&mut line[..5]).unwrap();
    // Begins while the other one is being ended, and outlives it.
    let (other_reader, other_writer) = pipe().unwrap();
    let (mut other_seen, other_output) = pipe().unwrap();
    let other = begun(&["cat"], other_reader, other_output, Stop::new().unwrap());
    (&other_writer).write_all(b"first\n").unwrap();
    other_seen.read_exact(&mut line).unwrap();
    assert_eq!(ending.join().unwrap(), Ended::Stopped(15));
    let mut rest = Vec::new();
    // What it started is gone as well, or this would have no end.
    seen.read_to_end(&mut rest).unwrap();
    (&other_writer).write_all(b"second\n").unwrap();
    drop(other_writer);
    other_seen.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"second\n");
    assert_eq!(other.join().unwrap(), Ended::Done(0));
}
