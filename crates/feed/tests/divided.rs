//! Tests that several threads produce the same bytes and errors as one, in the same order.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::thread::{self, JoinHandle};

use fullbore_codec::fizzbuzz::{FizzBuzz, naive};
use fullbore_codec::generate::{Lines, Skip, Source, Zero};
use fullbore_codec::morse::{Alphabet, Decoder, EncodeError, Encoder, OnError};
use fullbore_codec::{Divisible, Tier};
use fullbore_feed::{FeedError, Input, Moved, Threads, generate_divided, transform_divided};
use fullbore_pipe::{Options, PipeWriter};

const WAYS: [Threads; 5] = [
    Threads::Never,
    Threads::WherePays,
    Threads::Always(1),
    Threads::Always(2),
    Threads::Always(7),
];

type Done<C> = Result<Moved, FeedError<<C as fullbore_codec::Codec>::Error>>;

/// Starts a stage that reads what the test writes to the first end and writes what the test reads from the second.
fn stage<C: Divisible>(
    codec: C,
    threads: Threads,
) -> (std::io::PipeWriter, PipeReader, JoinHandle<Done<C>>) {
    let (input, into) = std::io::pipe().unwrap();
    let (out, output) = std::io::pipe().unwrap();
    let input = Input::new(input, "the test");
    let done = thread::spawn(move || {
        transform_divided(input, codec, PipeWriter::new(output, Options::default()), threads)
    });
    (into, out, done)
}

/// Sends a whole stream through, written in pieces of this many bytes.
fn through<C: Divisible>(
    codec: C,
    threads: Threads,
    text: &[u8],
    piece: usize,
) -> (Vec<u8>, Done<C>) {
    let (mut into, mut out, done) = stage(codec, threads);
    let text = text.to_owned();
    let writing =
        thread::spawn(move || text.chunks(piece).try_for_each(|piece| into.write_all(piece)));
    let mut bytes = Vec::new();
    out.read_to_end(&mut bytes).unwrap();
    // A stage that fails closes its input.
    let _ = writing.join().unwrap();
    (bytes, done.join().unwrap())
}

fn encoder(on_error: OnError) -> Encoder {
    Encoder::new(Tier::best(), on_error)
}

/// Makes lines of all lengths up to some thousands, in three scripts, with lines between them that are longer than any
/// piece.
fn text(bytes: usize, long_line: usize) -> String {
    let words = ["paris", "Sos 73", "Ёлка", "щи", "かな", "ガ", "%", "-", "e"];
    let mut text = String::new();
    let (mut number, mut line_end) = (0_usize, 0);
    while text.len() < bytes {
        number += 1;
        text.push_str(words[number * 7 % words.len()]);
        text.push(' ');
        if text.len() >= line_end {
            text.push_str(if number.is_multiple_of(3) { "\r\n" } else { "\n" });
            let length = if number.is_multiple_of(11) { long_line } else { number * 37 % 5000 };
            line_end = text.len() + length;
        }
    }
    text
}

#[test]
fn several_threads_write_the_bytes_of_one_wherever_lines_end() {
    for (bytes, long_line) in [
        (0, 0),
        (1, 0),
        (100_000, 100),
        (3_000_000, 2000),
        (3_000_000, 600_000),
        (3_000_000, 9_000_000),
    ] {
        let text = text(bytes, long_line);
        let (expected, _) =
            through(encoder(OnError::Skip), Threads::Never, text.as_bytes(), 1 << 20);
        for threads in WAYS {
            for piece in [999, 70_000, 1 << 20] {
                let (signs, done) =
                    through(encoder(OnError::Skip), threads, text.as_bytes(), piece);
                let what = format!("{bytes} bytes, lines of {long_line}, {threads:?}, {piece}");
                assert!(signs == expected, "{what}");
                let moved = Moved { read: text.len() as u64, written: expected.len() as u64 };
                assert_eq!(done.unwrap(), moved, "{what}");
            }
        }
    }
}

#[test]
fn decoding_gives_the_text_again() {
    let text = "PARIS 73\nTHE QUICK BROWN FOX\n\n".repeat(60_000);
    let (signs, _) = through(encoder(OnError::Fail), Threads::Always(3), text.as_bytes(), 1 << 20);
    for threads in WAYS {
        let decoder = Decoder::new(Tier::best(), Alphabet::Latin, OnError::Fail);
        let (again, done) = through(decoder, threads, &signs, 1 << 20);
        assert!(done.is_ok() && again == text.as_bytes(), "{threads:?}");
    }
}

#[test]
fn several_threads_report_the_same_error_as_one_and_write_everything_before_it() {
    let clean = text(2_500_000, 300_000);
    let places = [0, 1, 77, 131_072, 700_001, 2_400_000, clean.len()];
    for place in places.map(|place| (place..).find(|at| clean.is_char_boundary(*at)).unwrap()) {
        for fault in ["\u{1F600}", "\n\n\u{1F600}\n", "abc \u{1F600} "] {
            let text = [&clean[..place], fault, &clean[place..]].concat();
            let one = through(encoder(OnError::Fail), Threads::Never, text.as_bytes(), 1 << 20);
            let error = |done: Done<Encoder>| -> EncodeError {
                match done.unwrap_err() {
                    FeedError::Codec(error) => error,
                    other => panic!("{other}"),
                }
            };
            let (before, first) = (one.0, error(one.1));
            assert!(first.place.offset >= place as u64);
            for threads in WAYS {
                let (signs, done) =
                    through(encoder(OnError::Fail), threads, text.as_bytes(), 300_000);
                let same = signs.iter().zip(&before).take_while(|(a, b)| a == b).count();
                assert!(
                    signs == before,
                    "{} bytes of {}, {same} right; {threads:?}",
                    signs.len(),
                    before.len()
                );
                assert_eq!(error(done), first, "{threads:?}");
            }
        }
    }
}

#[test]
fn output_appears_before_more_input_arrives() {
    for threads in WAYS {
        let (mut into, out, done) = stage(encoder(OnError::Fail), threads);
        let mut out = BufReader::new(out);
        for round in 0..200 {
            into.write_all(b"sos\n").unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert_eq!(line, "... --- ...\n", "{threads:?}, line {round}");
            // Send a part of a line, too. A digit, because a letter waits for the accent that may follow it.
            into.write_all(b"5").unwrap();
            out.read_exact(&mut [0; 5]).unwrap();
            into.write_all(b"\n").unwrap();
            out.read_exact(&mut [0]).unwrap();
        }
        drop(into);
        assert_eq!(done.join().unwrap().unwrap().read, 200 * 6);
    }
}

#[test]
fn a_reader_that_left_ends_the_stage_though_the_input_goes_on() {
    for threads in WAYS {
        let (mut into, out, done) = stage(encoder(OnError::Skip), threads);
        drop(out);
        let mut sent = Ok(());
        while sent.is_ok() {
            sent = into.write_all(&[b'e'; 65_536]);
        }
        assert!(done.join().unwrap().unwrap_err().is_broken_pipe(), "{threads:?}");
    }
}

/// Returns what a source generates on threads.
fn made<S: Skip>(source: S, limit: Option<u64>, threads: Threads) -> Vec<u8> {
    let (mut out, output) = std::io::pipe().unwrap();
    let making = thread::spawn(move || {
        generate_divided(source, limit, PipeWriter::new(output, Options::default()), threads)
    });
    let mut bytes = Vec::new();
    out.read_to_end(&mut bytes).unwrap();
    let moved = making.join().unwrap().unwrap();
    assert_eq!((moved.read, moved.written), (0, bytes.len() as u64), "{threads:?}");
    bytes
}

#[test]
fn sources_generate_the_same_on_several_threads_as_on_one() {
    let lines = 2_000_000_u64;
    let fizzbuzz = naive::lines(1, lines.into());
    let source = || FizzBuzz::with_lines(Tier::best(), Some(lines));
    for threads in WAYS {
        assert!(made(source(), None, threads) == fizzbuzz, "{threads:?}");
        for limit in [0, 1, 99, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 9_999_999] {
            let bytes = made(source(), Some(limit), threads);
            assert!(bytes == fizzbuzz[..usize::try_from(limit).unwrap()], "{threads:?}, {limit}");
        }
        let mut expected = vec![0; 5_000_000];
        Lines::new(72).fill(&mut expected);
        assert!(made(Lines::new(72), Some(5_000_000), threads) == expected, "{threads:?}");
        assert!(made(Zero, Some(5_000_000), threads) == [0; 5_000_000], "{threads:?}");
    }
}

#[test]
fn a_source_whose_reader_left_ends() {
    for threads in WAYS {
        let (mut out, output) = std::io::pipe().unwrap();
        let making = thread::spawn(move || {
            generate_divided(Zero, None, PipeWriter::new(output, Options::default()), threads)
        });
        out.read_exact(&mut [0; 100_000]).unwrap();
        drop(out);
        assert!(making.join().unwrap().unwrap_err().is_broken_pipe(), "{threads:?}");
    }
}
