//! Tests the writer where Linux has no huge pages, so that it copies everything. Every test here switches them off for
//! the whole process, so they need a program of their own.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod any_options;

use std::io::Write;
use std::thread;

use any_options::{every_byte_arrives, options, steps};
use fullbore_measure::Bytes;
use fullbore_pipe::{Options, PipeWriter, Probe, Strategy, probe};
use proptest::prelude::*;

/// Whether huge pages could be forbidden; says so if not. An emulator of programs does not pass the request on.
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
fn without_huge_pages() -> bool {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: huge pages: {error}");
        eprintln!("skipped: huge pages cannot be forbidden here: {error}");
        return false;
    }
    assert!(matches!(probe(), Probe::Copy { .. }), "{}", probe());
    true
}

#[test]
fn room_that_was_promised_is_there_after_the_first_mebibyte_too() {
    if !without_huge_pages() {
        return;
    }
    for chunk in [0, 1, 100, 4096, 65_536] {
        let (mut reader, pipe) = std::io::pipe().unwrap();
        let reading = thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        let mut writer = PipeWriter::new(pipe, Options::default().chunk(Bytes(chunk)));
        let promised = writer.most_room();
        for _ in 0..64 {
            let room = writer.room(promised).unwrap();
            room[..promised].fill(b'x');
            writer.commit(promised).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(writer.strategy(), Strategy::Copy);
        drop(writer);
        assert_eq!(reading.join().unwrap().unwrap(), 64 * promised as u64, "chunks of {chunk}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_any_options_every_byte_arrives_whatever_is_written(options in options(), steps in steps()) {
        if !without_huge_pages() {
            return Ok(());
        }
        every_byte_arrives(options, Bytes(1 << 16), &steps);
    }
}
