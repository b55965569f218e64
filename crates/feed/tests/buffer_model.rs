//! Tests a buffer between two pipes against the simplest model: what goes in comes out.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::io::{Read, Seek, Write, pipe};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};

use fullbore_feed::buffer::{Buffer, Error, Event, Hash, Options, Watermarks};
use fullbore_measure::Bytes;
use proptest::prelude::*;
use rustix::pipe::{SpliceFlags, splice};

/// What the other two programs of the pipeline do, in turn.
#[derive(Clone, Debug)]
enum Step {
    /// The producer writes this many bytes.
    Write(usize),
    /// The consumer reads this many bytes, or all that was written.
    Read(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![1..20_usize, 1..5000_usize, 1..300_000_usize];
    let step = prop_oneof![
        3 => size.clone().prop_map(Step::Write),
        2 => size.prop_map(Step::Read),
    ];
    prop::collection::vec(step, 0..60)
}

fn options() -> impl Strategy<Value = (u64, bool, Option<Hash>, f64, Option<u64>)> {
    (
        prop_oneof![Just(64_u64 << 10), Just(100_000), Just(1 << 20), Just(16 << 20)],
        any::<bool>(),
        prop_oneof![3 => Just(None), 1 => Just(Some(Hash::Xxh3))],
        prop_oneof![4 => Just(0.0), 1 => 1.0..100.0],
        prop_oneof![4 => Just(None), 1 => Just(Some(200_000_000_u64))],
    )
}

fn byte(place: usize) -> u8 {
    let [low, middle, ..] = place.to_le_bytes();
    low ^ middle.wrapping_mul(31)
}

struct Ends {
    ended: Receiver<Result<(), Error>>,
    buffer: Buffer,
    input: std::io::PipeWriter,
    output: std::io::PipeReader,
}

fn start(options: Options) -> Ends {
    let (theirs_in, input) = pipe().unwrap();
    let (output, theirs_out) = pipe().unwrap();
    let (sender, ended) = channel();
    let buffer =
        Buffer::start(OwnedFd::from(theirs_in), OwnedFd::from(theirs_out), options, move |event| {
            if let Event::Ended(result) = event {
                sender.send(result).unwrap();
            }
        });
    Ends { ended, buffer: buffer.unwrap(), input, output }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_goes_in_comes_out(
        steps in steps(),
        (limit, spills, hash, start_percent, rate) in options(),
        waits_first in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let ends = start(Options {
            limit: Bytes(limit),
            watermarks: Watermarks { start_percent, stop_percent: 0.0 },
            rate: rate.map(Bytes),
            hash,
            spill: spills.then(|| folder.path().to_owned()),
            ..Options::default()
        });
        let total: usize =
            steps.iter().map(|step| if let Step::Write(count) = step { *count } else { 0 }).sum();
        let (mut input, mut output) = (ends.input, ends.output);
        // Producer and consumer run side by side, as in a pipeline: neither may wait for the other for ever.
        std::thread::scope(|scope| {
            let steps = &steps;
            scope.spawn(move || {
                let mut place = 0;
                for step in steps {
                    if let Step::Write(count) = step {
                        let bytes: Vec<u8> = (place..place + count).map(byte).collect();
                        input.write_all(&bytes).unwrap();
                        place += count;
                    }
                }
            });
            // Otherwise the queue would hardly ever hold anything.
            let is_ahead = || {
                let status = ends.buffer.status();
                status.read == Bytes(total as u64) || status.waits.room_ns > 0
            };
            while waits_first && !is_ahead() {
                std::thread::yield_now();
            }
            let mut place = 0;
            let reads = steps.iter().filter_map(|step| match step {
                Step::Read(count) => Some(*count),
                Step::Write(_) => None,
            });
            let reads = reads.chain(std::iter::repeat(65_536));
            for count in reads.take_while(|_| total > 0) {
                let mut room = vec![0; count];
                let got = output.read(&mut room).unwrap();
                for found in &room[..got] {
                    assert_eq!(*found, byte(place), "at {place}");
                    place += 1;
                }
                let status = ends.buffer.status();
                assert!(status.memory <= status.limit, "{status:?}");
                if place == total {
                    break; // the write end stays open in the buffer, so no end of file comes
                }
                assert!(got > 0, "only {place} of {total} bytes came out");
            }
        });
        prop_assert!(ends.ended.recv().unwrap().is_ok());
        let status = ends.buffer.status();
        prop_assert_eq!(status.read, Bytes(total as u64));
        prop_assert_eq!(status.written, Bytes(total as u64));
        prop_assert_eq!((status.queued, status.memory, status.spilled), (Bytes(0), Bytes(0), Bytes(0)));
        prop_assert_eq!(ends.buffer.digest().is_some(), hash.is_some());
    }
}

#[test]
fn a_reader_that_left_is_told_apart_from_a_failure() {
    let ends = start(Options::default());
    drop(ends.output);
    let mut input = ends.input;
    input.write_all(b"for nobody").unwrap();
    let error = ends.ended.recv().unwrap().unwrap_err();
    assert!(error.is_reader_gone(), "{error}");
}

#[test]
fn a_buffer_that_stops_reading_hands_on_what_it_took_though_the_input_stays_open() {
    let sent: Vec<u8> = (0..1_500_000).map(byte).collect();
    for length in (0..50).map(|round| sent.len() - round * 20_000) {
        let sent = &sent[..length];
        let mut ends = start(Options::default());
        ends.input.write_all(sent).unwrap();
        while ends.buffer.status().read < Bytes(length as u64) {
            std::thread::yield_now();
        }
        ends.buffer.stop_reading();
        let mut output = ends.output;
        let reader = std::thread::spawn(move || {
            let mut got = Vec::new();
            output.read_to_end(&mut got).unwrap();
            got
        });
        assert!(ends.ended.recv().unwrap().is_ok());
        assert_eq!(ends.buffer.status().written, Bytes(length as u64));
        drop((ends.input, ends.buffer)); // its threads end now, and the output closes
        assert!(reader.join().unwrap() == sent);
    }
}

#[test]
fn a_buffer_that_stops_lets_go_of_an_input_that_is_silent() {
    let ends = start(Options::default());
    ends.buffer.stop_reading();
    assert!(ends.ended.recv().unwrap().is_ok());
    drop(ends.buffer);
    let mut input = ends.input;
    // Once its last thread has ended, nobody is left to read.
    let error = loop {
        match input.write_all(b"x") {
            Ok(()) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn what_waits_is_a_copy_that_keeps_no_page_of_the_producer() {
    const CHUNK: usize = 256 << 10;
    let options = Options {
        limit: Bytes(64 << 20),
        watermarks: Watermarks { start_percent: 100.0, stop_percent: 0.0 },
        ..Options::default()
    };
    let ends = start(options);
    // The pages of a file stand for any that a producer lends: a write to them changes what all holders see.
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![b'a'; CHUNK]).unwrap();
    let mut lent = 0;
    for _ in 0..32 {
        let mut from = 0;
        while from < CHUNK as u64 {
            let wanted = CHUNK - usize::try_from(from).unwrap();
            let none = SpliceFlags::empty();
            splice(&file, Some(&mut from), &ends.input, None, wanted, none).unwrap();
        }
        lent += CHUNK;
        while ends.buffer.status().read < Bytes(lent as u64) {
            std::thread::yield_now();
        }
    }
    file.rewind().unwrap();
    file.write_all(&vec![b'b'; CHUNK]).unwrap();
    drop(ends.input);
    let mut output = ends.output;
    let mut got = vec![0; lent];
    output.read_exact(&mut got).unwrap();
    assert_eq!(got.iter().filter(|byte| **byte != b'a').count(), 0);
    assert!(ends.ended.recv().unwrap().is_ok());
}
