//! Records of a stream, on one worker and several, compared with a scan of the whole text.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{Seek, Write};

use fullbore_codec::Tier;
use fullbore_codec::json::query::{Duplicates, Scanner, Table};
use fullbore_feed::Input;
use fullbore_feed::json::{BLOCK_BYTES, Control, Options, Outcome, RecordError, Task, run};
use fullbore_measure::Bytes;
use fullbore_pipe::PipeWriter;
use proptest::prelude::*;

/// Writes each record on a line, and refuses `"refused"`.
struct Print;

/// What a worker of it got.
#[derive(Default)]
struct Got {
    records: u64,
    bytes: usize,
}

impl Task for Print {
    type State = Got;

    fn state(&self) -> Got {
        Got::default()
    }

    fn block(
        &self,
        got: &mut Got,
        text: &[u8],
        table: &Table,
        output: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        for document in &table.documents {
            let record = &text[document.clone()];
            if record == b"\"refused\"" {
                return Err(RecordError { at: document.start, what: "refused".to_owned() });
            }
            got.records += 1;
            got.bytes += record.len() + 1;
            output.extend_from_slice(record);
            output.push(b'\n');
        }
        Ok(())
    }
}

fn options(workers: usize, block_bytes: usize) -> Options {
    Options {
        tier: Tier::best(),
        members: vec![vec!["a".to_owned()]],
        duplicates: Duplicates::Last,
        workers: Some(workers),
        max_record: Bytes(1 << 30),
        skips_invalid: false,
        block_bytes,
    }
}

/// What a run writes, and its outcome as text: records, the error, and how many were skipped.
fn ran(inputs: Vec<Input>, options: &Options) -> (Vec<u8>, String) {
    let mut out = tempfile::tempfile().unwrap();
    let mut writer = PipeWriter::new(out.try_clone().unwrap(), fullbore_pipe::Options::default());
    let inputs = inputs.into_iter().map(Ok::<Input, std::io::Error>);
    let outcome: Outcome<Got> = run(inputs, options, &Print, &Control::new(), &mut writer).unwrap();
    writer.flush_all().unwrap();
    out.rewind().unwrap();
    let mut written = Vec::new();
    std::io::Read::read_to_end(&mut out, &mut written).unwrap();
    if !outcome.is_refused() {
        let states = outcome.states.iter();
        assert_eq!(states.clone().map(|got| got.records).sum::<u64>(), outcome.records);
        assert_eq!(states.map(|got| got.bytes).sum::<usize>(), written.len());
    }
    let invalid = outcome.invalid.or(outcome.first_skipped);
    let invalid = invalid.map_or(String::new(), |invalid| invalid.to_string());
    (written, format!("{invalid} {}", outcome.skipped))
}

fn file(text: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text).unwrap();
    file.rewind().unwrap();
    Input::new(file, "in")
}

/// A pipe into which the pieces are written, each when the one before it was read.
fn pipe(pieces: Vec<Vec<u8>>) -> Input {
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::thread::spawn(move || {
        for piece in pieces {
            while fullbore_pipe::fill(&writer).unwrap().0 > 0 {
                std::thread::yield_now();
            }
            if writer.write_all(&piece).is_err() {
                return;
            }
        }
    });
    Input::new(reader, "in")
}

/// What comes out of one scan of everything, with the rules of skipping.
fn expected(text: &[u8], skips: bool) -> (Vec<u8>, String) {
    let mut scanner = Scanner::new(Tier::named("portable").unwrap(), Vec::new(), Duplicates::Last);
    let (mut table, mut written) = (Table::default(), Vec::new());
    let (mut at, mut first, mut skipped) = (0, String::new(), 0);
    if text.starts_with(b"\xEF\xBB\xBF") {
        at = 3;
    }
    loop {
        let scanned = scanner.scan(&text[at..], true, &mut table);
        for document in &table.documents {
            written.extend_from_slice(&text[at..][document.clone()]);
            written.push(b'\n');
        }
        let Err(error) = scanned else { break };
        let fullbore_codec::json::query::ScanError::Json(error) = error else { unreachable!() };
        let wrong = at + usize::try_from(error.place.offset).unwrap();
        if first.is_empty() {
            let place = fullbore_codec::Place::default().after(&text[..wrong]);
            first = format!("in: {place}: {}", error.cause);
        }
        if !skips {
            break;
        }
        skipped += 1;
        let Some(end) = memchr::memchr(b'\n', &text[wrong..]) else { break };
        at = wrong + end + 1;
    }
    (written, format!("{first} {skipped}"))
}

fn assert_same(text: &[u8], cuts: &[usize]) {
    for skips in [false, true] {
        let expected = expected(text, skips);
        for (workers, block) in [(1, 64), (2, 64), (3, 17), (2, 1000), (2, BLOCK_BYTES)] {
            let options = Options { skips_invalid: skips, ..options(workers, block) };
            let seen = ran(vec![file(text)], &options);
            assert_eq!(shown(&seen), shown(&expected), "file, {workers} workers, {block} bytes");
            let mut pieces = Vec::new();
            let mut begin = 0;
            for cut in cuts {
                let cut = (*cut).min(text.len());
                if cut > begin {
                    pieces.push(text[begin..cut].to_vec());
                    begin = cut;
                }
            }
            pieces.push(text[begin..].to_vec());
            let seen = ran(vec![pipe(pieces)], &options);
            assert_eq!(shown(&seen), shown(&expected), "pipe, {workers} workers, {block} bytes");
        }
    }
}

fn shown(seen: &(Vec<u8>, String)) -> (String, &str) {
    (String::from_utf8_lossy(&seen.0).into_owned(), &seen.1)
}

const TEXTS: [&str; 16] = [
    "",
    "\n",
    "{\"a\":1}\n{\"a\":2}\n",
    "{\"a\":1}\r\n\r\n{\"a\":2}",
    "{}{}[1][2]\"a\"\"b\" 1 2 true\nnull",
    "{\n  \"a\": 1\n}\n{\n  \"a\": 2,\n  \"b\": [\n    1,\n    2\n  ]\n}\n",
    "\u{FEFF}{\"a\":1}\n",
    "\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n",
    "1\n22\n333\n4444\n55555\n666666\n7777777\n88888888\n",
    "{\"a\":1}\n{\"a\":1,}\n{\"a\":2}\n[1,2\n[3]\n\"ok\"\n{\"x\":01}\n[",
    "x\ny\nz\n1\n",
    "{\"a\":\"ünïcödé \\u00e9\"}\n{\"b\":\"ж\"} x\n{}\n",
    "[\n1,\n2,\n3\n]\n[\n4\n]\n{}\n{}\n{}\n{}\n{}\n{}\n",
    "{}\n\u{FEFF}{}\n{}\n",
    "tru\ntrue\nfalse nul",
    "{\"a\":1}\n{\"a\":",
];

#[test]
fn records_are_the_same_however_they_are_read() {
    for text in TEXTS {
        let text = text.as_bytes();
        assert_same(text, &[]);
        for cut in 1..text.len() {
            let expected = expected(text, false);
            let pieces = || vec![text[..cut].to_vec(), text[cut..].to_vec()];
            for workers in [1, 2] {
                let seen = ran(vec![pipe(pieces())], &options(workers, BLOCK_BYTES));
                assert_eq!(shown(&seen), shown(&expected), "cut at {cut}");
            }
        }
        let every: Vec<usize> = (0..text.len()).collect();
        assert_same(text, &every);
    }
}

#[test]
fn long_records_and_many_records_are_the_same() {
    let long = format!("[{}1]", "123456, \n".repeat(3000));
    let pretty = "{\n  \"a\": [\n    1\n  ]\n}\n".repeat(2000);
    let short = "{\"a\":1}\n".repeat(3000);
    for text in [
        format!("{short}{long}{short}"),
        format!("{short}{pretty}{short}"),
        format!("{pretty}{long}]\n{pretty}"),
        long.repeat(4),
        format!("{short}{}\n{short}", "x".repeat(5000)),
        format!("{long}\"never ends"),
    ] {
        assert_same(text.as_bytes(), &[3, 70, 5000, 5001, 40_000]);
    }
}

#[test]
fn a_refused_record_ends_the_run_after_those_before_it() {
    let text = format!("{}\n\"refused\"\n{}", "1\n".repeat(500), "2\n".repeat(500));
    for workers in [1, 2, 4] {
        let (written, said) = ran(vec![file(text.as_bytes())], &options(workers, 64));
        assert_eq!(written, "1\n".repeat(500).as_bytes());
        assert_eq!(said, "in: byte 1002, line 502, column 1: refused 0");
        // What is wrong behind it does not count.
        let text = format!("x\n{text}{}", "y\n".repeat(500));
        let options = Options { skips_invalid: true, ..options(workers, 64) };
        let (written, said) = ran(vec![file(text.as_bytes())], &options);
        assert_eq!(written, "1\n".repeat(500).as_bytes());
        assert_eq!(said, "in: byte 1004, line 503, column 1: refused 1");
    }
}

#[test]
fn records_do_not_go_on_in_the_next_input() {
    for workers in [1, 3] {
        let inputs = vec![file(b"{}"), file(b""), pipe(vec![b"1".to_vec()]), file(b"2\n[")];
        let (written, said) = ran(inputs, &options(workers, 64));
        assert_eq!(written, b"{}\n1\n2\n");
        assert_eq!(said, "in: byte 4, line 2, column 2: the input ends within a document 0");
    }
}

#[test]
fn an_input_that_ends_because_everything_is_stopped_makes_a_partial_answer() {
    for workers in [1, 3] {
        let control = Control::new();
        let mut texts = [&b"1\n2\n"[..], b"3\n"].into_iter();
        let inputs = std::iter::from_fn(|| {
            if texts.len() == 1 {
                control.stop();
                return None;
            }
            texts.next().map(|text| Ok::<Input, std::io::Error>(file(text)))
        });
        let mut writer =
            PipeWriter::new(tempfile::tempfile().unwrap(), fullbore_pipe::Options::default());
        let outcome = run(inputs, &options(workers, 64), &Print, &control, &mut writer).unwrap();
        assert!(outcome.is_partial);
        assert_eq!(outcome.records, 2);
    }
}

#[test]
fn a_record_that_is_too_long_is_an_error_at_its_beginning() {
    let text =
        format!("1\n {}\n2\n{{\"a\":\n[{}]}}\n3\n", "5".repeat(900), "7, ".repeat(300) + "7");
    for (workers, block) in [(1, 64), (2, 64), (2, 100_000)] {
        let options = Options { max_record: Bytes(100), ..options(workers, block) };
        let said = "in: byte 4, line 2, column 2: a record is larger than 100 B (--max-record)";
        for input in [file(text.as_bytes()), pipe(vec![text.as_bytes().to_vec()])] {
            let (written, seen) = ran(vec![input], &options);
            assert_eq!((&*written, seen), (&b"1\n"[..], format!("{said} 0")));
        }
        let options = Options { skips_invalid: true, ..options };
        let (written, seen) = ran(vec![file(text.as_bytes())], &options);
        assert_eq!((&*written, seen), (&b"1\n2\n3\n"[..], format!("{said} 2")));
    }
}

proptest! {
    #[test]
    fn any_mix_of_records_and_mistakes_is_the_same(
        parts in proptest::collection::vec(prop_oneof![
            5 => Just("{\"a\":1}\n".to_owned()),
            2 => Just("{\n \"a\": \"\\\"\\n\"\n}\n".to_owned()),
            1 => "[\\[\\]{}\",:1\\\\ \n]{1,12}",
            1 => Just("[\n1,\n[2]\n]".to_owned()),
            1 => "\"[a-zß\\\\ ]{0,200}\"",
        ], 0..60),
        cuts in proptest::collection::vec(1..300_usize, 0..10),
    ) {
        let mut at = 0;
        let cuts: Vec<usize> = cuts.iter().map(|length| { at += length; at }).collect();
        assert_same(parts.concat().as_bytes(), &cuts);
    }
}
