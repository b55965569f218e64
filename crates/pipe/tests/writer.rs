//! Tests the writer as a stage uses it: whatever is written arrives, whatever the output is.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test reports by panicking, and makes up bytes"
)]

mod common;

use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use common::has_ring;
use fullbore_measure::Bytes;
use fullbore_pipe::{Options, PipeWriter, Strategy, capacity, set_capacity};
use proptest::prelude::{Strategy as _, *};
use rustix::fs::{OFlags, fcntl_setfl};

const WAYS: [Option<Strategy>; 4] =
    [None, Some(Strategy::Copy), Some(Strategy::Fresh), Some(Strategy::Ring)];

fn options(way: Option<Strategy>) -> Options {
    way.map_or_else(Options::default, |way| Options::default().strategy(way))
}

fn all_of(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[derive(Clone, Debug)]
enum Step {
    /// Ask for this much room and fill part of it.
    Room(usize, usize),
    /// Write this much as any `Write`.
    Write(usize),
    Flush,
}

fn steps() -> impl prop::strategy::Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_usize..65_536, 0_usize..65_536).prop_map(|(wanted, filled)| Step::Room(wanted, filled)),
        3 => (0_usize..300_000).prop_map(Step::Write),
        1 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 0..120)
}

fn model(way: Option<Strategy>, ring: u64, steps: &[Step]) -> (Vec<u8>, Vec<u8>) {
    let (reader, pipe) = std::io::pipe().unwrap();
    let arriving = all_of(reader);
    let mut writer = PipeWriter::new(pipe, options(way).ring(Bytes(ring)).chunk(Bytes(128 << 10)));
    let mut expected = Vec::new();
    for step in steps {
        let from = expected.len();
        match step {
            Step::Room(wanted, filled) => {
                let room = writer.room(*wanted).unwrap();
                assert!(room.len() >= *wanted);
                let filled = (*filled).min(room.len());
                expected.extend((from..from + filled).map(|at| (at % 251) as u8));
                room[..filled].copy_from_slice(&expected[from..]);
                writer.commit(filled).unwrap();
            }
            Step::Write(len) => {
                expected.extend((from..from + len).map(|at| (at % 251) as u8));
                writer.write_all(&expected[from..]).unwrap();
            }
            Step::Flush => writer.flush().unwrap(),
        }
    }
    writer.flush().unwrap();
    assert_eq!(writer.written(), expected.len() as u64);
    drop(writer);
    (arriving.join().unwrap(), expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_in_any_pieces_arrives_in_order(steps in steps()) {
        for way in WAYS {
            let (arrived, expected) = model(way, 2 << 20, &steps);
            prop_assert!(arrived == expected, "{way:?}: {} of {} bytes", arrived.len(), expected.len());
        }
    }
}

/// Writes 3 MiB to `out` by every way; `arrived` returns what came out.
fn writes_everything(out: impl Fn() -> (OwnedFd, Box<dyn FnOnce() -> Vec<u8>>)) {
    let expected = text(3 << 20);
    for way in WAYS {
        let (out, arrived) = out();
        let mut writer = PipeWriter::new(out, options(way));
        writer.write_all(&expected).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert!(arrived() == expected, "{way:?}");
    }
}

#[test]
fn a_file_gets_every_byte_also_in_append_mode() {
    for append in [false, true] {
        writes_everything(|| {
            let place = tempfile::NamedTempFile::new().unwrap();
            let out = File::options().write(true).append(append).open(place.path()).unwrap();
            let mut file = place.into_file();
            let arrived = move || {
                let mut bytes = Vec::new();
                file.rewind().unwrap();
                file.read_to_end(&mut bytes).unwrap();
                bytes
            };
            (out.into(), Box::new(arrived))
        });
    }
}

#[test]
fn a_socket_gets_every_byte() {
    writes_everything(|| {
        let (near, far) = UnixStream::pair().unwrap();
        let arriving = all_of(far);
        (near.into(), Box::new(|| arriving.join().unwrap()))
    });
}

#[test]
fn a_non_blocking_pipe_gets_every_byte() {
    writes_everything(|| {
        let (reader, pipe) = std::io::pipe().unwrap();
        fcntl_setfl(&pipe, OFlags::NONBLOCK).unwrap();
        let arriving = all_of(reader);
        (pipe.into(), Box::new(|| arriving.join().unwrap()))
    });
}

#[test]
fn a_pipe_of_one_page_gets_every_byte() {
    writes_everything(|| {
        let (reader, pipe) = std::io::pipe().unwrap();
        set_capacity(&pipe, Bytes(4096)).unwrap();
        let arriving = all_of(reader);
        (pipe.into(), Box::new(|| arriving.join().unwrap()))
    });
}

#[test]
fn nothing_but_a_pipe_is_lent_pages() {
    let out = File::options().write(true).open("/dev/null").unwrap();
    let mut writer = PipeWriter::new(out, Options::default().strategy(Strategy::Ring));
    assert_eq!(writer.strategy(), Strategy::Copy);
    writer.write_all(&text(5 << 20)).unwrap();
    assert_eq!(writer.strategy(), Strategy::Copy);
}

#[test]
fn a_reader_that_leaves_is_a_broken_pipe_by_every_way() {
    for way in WAYS {
        let (mut reader, pipe) = std::io::pipe().unwrap();
        let mut writer = PipeWriter::new(pipe, options(way));
        let leaving = thread::spawn(move || reader.read_exact(&mut [0; 100_000]).unwrap());
        let bytes = text(1 << 20);
        let error = loop {
            if let Err(error) = writer.write_all(&bytes) {
                break error;
            }
        };
        leaving.join().unwrap();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{way:?}");
    }
}

#[test]
fn a_full_disk_is_named_with_the_bytes_that_were_written() {
    let out = File::options().write(true).open("/dev/full").unwrap();
    let mut writer = PipeWriter::new(out, Options::default());
    writer.room(10).unwrap()[..10].fill(b'x');
    writer.commit(10).unwrap();
    let error = writer.flush_all().unwrap_err();
    assert!(!error.is_broken_pipe());
    let text = error.to_string();
    assert!(
        text.contains("/dev/full")
            && text.contains("No space left")
            && text.contains("after 0 bytes"),
        "{text}"
    );
}

#[test]
fn a_stage_with_little_output_leaves_the_pipe_unchanged() {
    let (reader, pipe) = std::io::pipe().unwrap();
    let before = capacity(&reader).unwrap();
    let mut writer = PipeWriter::new(pipe, Options::default());
    writer.write_all(b"a line\n").unwrap();
    writer.flush().unwrap();
    assert_eq!(capacity(&reader).unwrap(), before);
    drop(writer);
    assert_eq!(all_of(reader).join().unwrap(), b"a line\n");
}

/// A reader that checks a byte only after the writer has gone through its ring twice.
fn late(reader: &PipeReader) -> PipeReader {
    let (kept, into) = std::io::pipe().unwrap();
    set_capacity(&into, Bytes(1 << 20)).unwrap();
    rustix::pipe::splice(
        reader,
        None,
        into.as_fd(),
        None,
        4096,
        rustix::pipe::SpliceFlags::empty(),
    )
    .unwrap();
    kept
}

#[test]
fn a_page_that_was_moved_away_keeps_its_bytes_while_the_ring_goes_round() {
    if !has_ring() {
        return;
    }
    let (mut reader, pipe) = std::io::pipe().unwrap();
    let options =
        Options::default().strategy(Strategy::Ring).ring(Bytes(2 << 20)).chunk(Bytes(64 << 10));
    let mut writer = PipeWriter::new(pipe, options);
    writer.write_all(&[b'a'; 65_536]).unwrap();
    let mut kept = late(&reader);
    let rest = thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()).unwrap());
    writer.write_all(&vec![b'b'; 8 << 20]).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.strategy(), Strategy::Ring, "nothing was lent, so nothing was shown");
    drop(writer);
    rest.join().unwrap();
    let mut page = [0; 4096];
    kept.read_exact(&mut page).unwrap();
    assert!(page.iter().all(|byte| *byte == b'a'));
}
