//! Tests chunks on several CPUs: all of them come out in order, or exactly those before the first that fails.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test reports by panicking, and makes up bytes"
)]

use std::fmt;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use fullbore_feed::{Chunk, Chunked, FeedError, Input, Moved, in_chunks};
use fullbore_pipe::{Options, PipeWriter};

const CHUNK_BYTES: usize = 100_000;

/// Inverts the bits of each chunk and adds its number and whether it is the last; refuses one chunk.
#[derive(Default)]
struct Turned {
    refused: Option<u64>,
    in_work: Arc<AtomicUsize>,
    most_in_work: Arc<AtomicUsize>,
    together: Option<Barrier>,
}

#[derive(Debug, PartialEq, Eq)]
struct Refused(u64);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk {}", self.0)
    }
}

impl std::error::Error for Refused {}

impl Chunked for Turned {
    type Error = Refused;

    fn input_bytes(&self) -> usize {
        CHUNK_BYTES
    }

    fn output_bytes(&self) -> usize {
        CHUNK_BYTES + 2
    }

    fn process(&self, chunk: Chunk, input: &[u8], output: &mut [u8]) -> Result<usize, Refused> {
        let now = self.in_work.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_work.fetch_max(now, Ordering::SeqCst);
        if let Some(barrier) = self.together.as_ref().filter(|_| chunk.index > 0) {
            barrier.wait();
        }
        output.iter_mut().zip(input).for_each(|(to, byte)| *to = !byte);
        output[input.len()..][..2].copy_from_slice(&[chunk.index as u8, chunk.is_last.into()]);
        self.in_work.fetch_sub(1, Ordering::SeqCst);
        if self.refused == Some(chunk.index) {
            return Err(Refused(chunk.index));
        }
        Ok(input.len() + 2)
    }
}

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

fn expected(data: &[u8]) -> Vec<u8> {
    let chunks: Vec<&[u8]> =
        if data.is_empty() { vec![&[]] } else { data.chunks(CHUNK_BYTES).collect() };
    let mut all = Vec::new();
    for (index, chunk) in chunks.iter().enumerate() {
        all.extend(chunk.iter().map(|byte| !byte));
        all.extend([index as u8, u8::from(index + 1 == chunks.len())]);
    }
    all
}

type Done = Result<Moved, FeedError<Refused>>;

fn through(stage: Turned, data: &[u8], workers: usize) -> (Vec<u8>, Done) {
    let (input, mut into) = std::io::pipe().unwrap();
    let (mut out, output) = std::io::pipe().unwrap();
    let data = data.to_owned();
    let writing = thread::spawn(move || into.write_all(&data));
    let working = thread::spawn(move || {
        let writer = PipeWriter::new(output, Options::default());
        in_chunks(Input::new(input, "the test"), stage, writer, workers)
    });
    let mut bytes = Vec::new();
    let _ = out.read_to_end(&mut bytes).unwrap();
    // A stage that fails closes its input.
    let _ = writing.join().unwrap();
    (bytes, working.join().unwrap())
}

#[test]
fn every_chunk_comes_out_once_and_in_order() {
    let lengths = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, CHUNK_BYTES + 5000];
    for len in lengths.into_iter().chain([7 * CHUNK_BYTES, 60 * CHUNK_BYTES + 1]) {
        let data = data(len);
        for workers in [1, 2, 5, 40] {
            let (bytes, done) = through(Turned::default(), &data, workers);
            let wanted = expected(&data);
            assert!(bytes == wanted, "{len} bytes, {workers} workers");
            let moved = Moved { read: len as u64, written: wanted.len() as u64 };
            assert_eq!(done.unwrap(), moved, "{len} bytes, {workers} workers");
        }
    }
}

#[test]
fn exactly_the_chunks_before_the_one_that_fails_come_out() {
    let data = data(30 * CHUNK_BYTES);
    for refused in [0, 1, 2, 17, 29] {
        for workers in [1, 2, 5] {
            let stage = Turned { refused: Some(refused), ..Turned::default() };
            let (bytes, done) = through(stage, &data, workers);
            let before = refused as usize * (CHUNK_BYTES + 2);
            assert!(bytes == expected(&data)[..before], "chunk {refused}, {workers} workers");
            let error = done.unwrap_err();
            assert!(matches!(error, FeedError::Codec(Refused(index)) if index == refused));
        }
    }
}

#[test]
fn as_many_chunks_as_workers_are_in_work_and_no_more() {
    let most_in_work = Arc::new(AtomicUsize::new(0));
    // They wait for each other in threes: with fewer at a time this would never end.
    let stage = Turned {
        together: Some(Barrier::new(3)),
        most_in_work: Arc::clone(&most_in_work),
        ..Turned::default()
    };
    let data = data(13 * CHUNK_BYTES);
    let (bytes, _) = through(stage, &data, 3);
    assert!(bytes == expected(&data));
    assert_eq!(most_in_work.load(Ordering::SeqCst), 3);
}

#[test]
fn a_chunk_comes_out_before_all_of_the_next_goes_in() {
    for workers in [1, 2, 5] {
        let (input, mut into) = std::io::pipe().unwrap();
        let (mut out, output) = std::io::pipe().unwrap();
        let working = thread::spawn(move || {
            let writer = PipeWriter::new(output, Options::default());
            in_chunks(Input::new(input, "the test"), Turned::default(), writer, workers)
        });
        let mut chunk = vec![0; CHUNK_BYTES + 2];
        into.write_all(&[1]).unwrap();
        for index in 0..40 {
            // Send the rest of this chunk, and one byte of the next to show that it is not the last.
            into.write_all(&[1; CHUNK_BYTES]).unwrap();
            out.read_exact(&mut chunk).unwrap();
            assert_eq!(chunk[CHUNK_BYTES..], [index, 0], "{workers} workers");
        }
        drop(into);
        assert!(working.join().unwrap().is_ok());
    }
}

#[test]
fn a_reader_that_left_ends_the_stage_though_the_input_goes_on() {
    for workers in [1, 2, 5] {
        let (input, mut into) = std::io::pipe().unwrap();
        let (out, output) = std::io::pipe().unwrap();
        drop(out);
        let working = thread::spawn(move || {
            let writer = PipeWriter::new(output, Options::default());
            in_chunks(Input::new(input, "the test"), Turned::default(), writer, workers)
        });
        // Send enough for two chunks; then the input stays open and silent.
        let _ = into.write_all(&data(2 * CHUNK_BYTES + 1));
        assert!(working.join().unwrap().unwrap_err().is_broken_pipe(), "{workers} workers");
        drop(into);
    }
}

#[test]
fn an_input_that_fails_is_named_after_the_chunks_before() {
    let folder = std::fs::File::open("/").unwrap();
    let (_out, output) = std::io::pipe().unwrap();
    let writer = PipeWriter::new(output, Options::default());
    let error =
        in_chunks(Input::new(folder, "the root"), Turned::default(), writer, 2).unwrap_err();
    assert!(error.to_string().starts_with("reading: the root: Is a directory"), "{error}");
}
