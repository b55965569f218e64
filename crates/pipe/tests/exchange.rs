//! Checks that exchanged blocks stay unchanged for readers that hold their pages.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::io::Read;

use fullbore_measure::Bytes;
use fullbore_pipe::{Block, Options, PipeWriter, Strategy, set_capacity};
use rustix::pipe::{SpliceFlags, splice};

const BLOCK_BYTES: usize = 256 << 10;
/// How many blocks the test holds in a second pipe, by splice.
const HELD: u8 = 4;

#[test]
fn a_block_that_a_reader_holds_is_not_changed_by_the_next() {
    for strategy in [Strategy::Ring, Strategy::Fresh, Strategy::Copy] {
        let (source, output) = std::io::pipe().unwrap();
        let (mut held, holder) = std::io::pipe().unwrap();
        for end in [&source, &held] {
            set_capacity(end, Bytes(1 << 20)).unwrap();
        }
        // The ring takes one block of memory, which comes back for use at once.
        let options = Options::default().strategy(strategy).ring(Bytes(1));
        let mut writer = PipeWriter::new(output, options);
        let mut block = Block::new(BLOCK_BYTES).unwrap();
        let mut found = vec![0; BLOCK_BYTES];
        for number in 0..60 {
            block.bytes().fill(number);
            block = writer.exchange(block, BLOCK_BYTES).unwrap();
            let mut left = BLOCK_BYTES;
            while left > 0 {
                left -= splice(&source, None, &holder, None, left, SpliceFlags::MOVE).unwrap();
            }
            if number >= HELD - 1 {
                held.read_exact(&mut found).unwrap();
                let expected = number + 1 - HELD;
                assert!(found.iter().all(|byte| *byte == expected), "{strategy}: block {expected}");
            }
        }
    }
}

#[test]
fn what_waits_goes_before_a_block_and_a_short_block_is_not_padded() {
    let (mut out, output) = std::io::pipe().unwrap();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut writer = PipeWriter::new(output, Options::default());
    let mut expected = Vec::new();
    let mut block = Block::new(BLOCK_BYTES + 3).unwrap();
    for number in 0..20 {
        let count = if number % 3 == 0 { 5 } else { BLOCK_BYTES + 1 };
        block.bytes().fill(number);
        writer.put(&[100, number]).unwrap();
        block = writer.exchange(block, count).unwrap();
        expected.extend([100, number]);
        expected.extend(vec![number; count]);
    }
    writer.flush_all().unwrap();
    assert_eq!(writer.written(), expected.len() as u64);
    drop(writer);
    assert!(reading.join().unwrap().unwrap() == expected);
}
