//! Tests a stage as its user sees it: input in, output out, at once and in order.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test reports by panicking, and makes up bytes"
)]

use std::fmt;
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::thread::{self, JoinHandle};

use fullbore_codec::generate::Source;
use fullbore_codec::{Codec, Fault};
use fullbore_feed::{FeedError, Input, Moved, Threads, generate, transform};
use fullbore_pipe::{Options, PipeWriter};

/// Writes every byte three times, keeps the last one back, and refuses `!`.
#[derive(Default)]
struct Triple {
    kept: Option<u8>,
    seen: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Exclamation(usize);

impl fmt::Display for Exclamation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an exclamation mark at byte {}", self.0)
    }
}

impl std::error::Error for Exclamation {}

impl Codec for Triple {
    type Error = Exclamation;

    fn output_bound(&self, input_bytes: usize) -> usize {
        3 * (input_bytes + 1)
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Exclamation>> {
        let mut written = 0;
        for byte in input {
            if *byte == b'!' {
                written += self.finish(&mut output[written..]).unwrap_or(0);
                return Err(Fault { written, error: Exclamation(self.seen) });
            }
            self.seen += 1;
            if let Some(kept) = self.kept.replace(*byte) {
                output[written..written + 3].fill(kept);
                written += 3;
            }
        }
        Ok(written)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<Exclamation>> {
        Ok(self.kept.take().map_or(0, |kept| {
            output[..3].fill(kept);
            3
        }))
    }
}

type Done = Result<Moved, FeedError<Exclamation>>;

/// Starts a stage that reads what the test writes to the first end and writes what the test reads from the second.
fn stage(threads: Threads) -> (std::io::PipeWriter, PipeReader, JoinHandle<Done>) {
    let (input, into) = std::io::pipe().unwrap();
    let (out, output) = std::io::pipe().unwrap();
    let done = thread::spawn(move || {
        let mut writer = PipeWriter::new(output, Options::default());
        transform(Input::new(input, "the test"), &mut Triple::default(), &mut writer, threads)
    });
    (into, out, done)
}

fn through(threads: Threads, input: &[u8]) -> (Vec<u8>, Done) {
    let (mut into, mut out, done) = stage(threads);
    let input = input.to_owned();
    let writing = thread::spawn(move || into.write_all(&input));
    let mut bytes = Vec::new();
    out.read_to_end(&mut bytes).unwrap();
    // A stage that fails closes its input.
    let _ = writing.join().unwrap();
    (bytes, done.join().unwrap())
}

const WAYS: [Threads; 3] = [Threads::WherePays, Threads::Never, Threads::Always(1)];

#[test]
fn every_byte_goes_through_the_codec_with_and_without_a_thread() {
    for len in [0, 1, 4095, 65_536, 65_537, 3_000_000] {
        let input: Vec<u8> = (0..len).map(|at| b'a' + (at % 23) as u8).collect();
        let expected: Vec<u8> = input.iter().flat_map(|byte| [*byte; 3]).collect();
        for threads in WAYS {
            let (bytes, done) = through(threads, &input);
            assert!(bytes == expected, "{len} bytes, {threads:?}");
            assert_eq!(done.unwrap(), Moved { read: len as u64, written: 3 * len as u64 });
        }
    }
}

#[test]
fn malformed_input_ends_the_stage_after_everything_before_it_was_written() {
    for threads in WAYS {
        let mut input = vec![b'a'; 1_000_000];
        input[700_000] = b'!';
        let (bytes, done) = through(threads, &input);
        assert_eq!(bytes.len(), 3 * 700_000);
        let error = done.unwrap_err();
        assert!(matches!(error, FeedError::Codec(Exclamation(700_000))), "{error}");
    }
}

#[test]
fn a_line_comes_out_before_the_next_one_goes_in() {
    for threads in WAYS {
        let (mut into, out, done) = stage(threads);
        let mut out = BufReader::new(out);
        for _ in 0..3 {
            // The codec keeps back the last byte of each until more comes.
            into.write_all(b"ab\nx").unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert!(line.ends_with("aaabbb\n"), "{line}");
            out.read_exact(&mut [0; 2]).unwrap();
        }
        drop(into);
        assert_eq!(done.join().unwrap().unwrap().read, 12);
    }
}

#[test]
fn a_reader_that_left_ends_the_stage_with_a_broken_pipe() {
    let (mut into, out, done) = stage(Threads::WherePays);
    drop(out);
    let mut sent = Ok(());
    while sent.is_ok() {
        sent = into.write_all(&[b'a'; 65_536]);
    }
    assert!(done.join().unwrap().unwrap_err().is_broken_pipe());
}

#[test]
fn a_folder_as_input_is_named() {
    let folder = std::fs::File::open("/").unwrap();
    let (_out, output) = std::io::pipe().unwrap();
    let mut writer = PipeWriter::new(output, Options::default());
    let input = Input::new(folder, "the root");
    let error = transform(input, &mut Triple::default(), &mut writer, Threads::Never).unwrap_err();
    assert!(error.to_string().starts_with("reading: the root: Is a directory"), "{error}");
}

/// Generates this many letters.
struct Letters(usize);

impl Source for Letters {
    fn fill(&mut self, room: &mut [u8]) -> usize {
        let count = room.len().min(self.0);
        self.0 -= count;
        room[..count].fill(b'z');
        count
    }
}

#[test]
fn a_generator_ends_at_its_limit_or_when_it_has_no_more() {
    for (limit, most, expected) in
        [(Some(100_000), usize::MAX, 100_000), (None, 5, 5), (Some(0), 9, 0)]
    {
        let (mut out, output) = std::io::pipe().unwrap();
        let reading = thread::spawn(move || {
            let mut bytes = Vec::new();
            out.read_to_end(&mut bytes).map(|_| bytes)
        });
        let mut source = Letters(most);
        let moved =
            generate(&mut source, limit, &mut PipeWriter::new(output, Options::default())).unwrap();
        assert_eq!(moved.written, expected);
        assert_eq!(reading.join().unwrap().unwrap().len() as u64, expected);
    }
}
