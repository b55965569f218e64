//! Checks that every byte arrives as it was written, whatever the reader does with the pages.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test reports by panicking, and makes up bytes"
)]

#[path = "../common/mod.rs"]
mod common;
mod readers;
mod sequence;

use std::thread;

use fullbore_apparatus::DoubleBuffer;
use fullbore_pipe::{Options, PipeWriter, Strategy};

use common::has_ring;
use readers::{ALL, Reader};
use sequence::Checked;

const LEN: u64 = 320 << 20;

/// Returns what arrives when `write` fills the pipe.
fn arrival(reader: Reader, write: impl FnOnce(std::io::PipeWriter)) -> Checked {
    let (out, into) = std::io::pipe().unwrap();
    let checking = thread::spawn(move || reader.run(out));
    write(into);
    checking.join().unwrap()
}

fn by(strategy: Strategy, reader: Reader) -> Checked {
    arrival(reader, |into| {
        let mut writer = PipeWriter::new(into, Options::default().strategy(strategy));
        sequence::write(&mut writer, LEN).unwrap();
        assert_eq!(writer.strategy(), strategy);
        assert_eq!(writer.written(), LEN);
    })
}

#[test]
fn every_safe_way_delivers_every_byte_to_every_reader() {
    if !has_ring() {
        return;
    }
    for strategy in [Strategy::Copy, Strategy::Fresh, Strategy::Ring] {
        for reader in ALL {
            let arrived = by(strategy, reader);
            assert_eq!(
                (arrived.bytes, arrived.wrong),
                (LEN, 0),
                "{strategy}, {reader:?}: {arrived:?}"
            );
        }
    }
}

#[test]
fn the_checks_catch_the_unsafe_way() {
    let arrived = arrival(Reader::Queue, |into| {
        let mut writer = DoubleBuffer::without_promise(into).unwrap();
        sequence::write(&mut writer, LEN).unwrap();
    });
    assert_eq!(arrived.bytes, LEN);
    assert!(arrived.wrong > LEN / 10, "{arrived:?}");
}

#[test]
fn the_default_begins_with_copies_and_goes_on_with_the_ring() {
    if !has_ring() {
        return;
    }
    let (mut out, into) = std::io::pipe().unwrap();
    let reading = thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
    let mut writer = PipeWriter::new(into, Options::default());
    sequence::write(&mut writer, 1 << 19).unwrap();
    assert_eq!(writer.strategy(), Strategy::Copy);
    sequence::write(&mut writer, 4 << 20).unwrap();
    assert_eq!(writer.strategy(), Strategy::Ring);
    drop(writer);
    assert_eq!(reading.join().unwrap(), (1 << 19) + (4 << 20));
}
