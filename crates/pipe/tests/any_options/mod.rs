//! Uses a writer with any options in any way; every byte must arrive in order.

use std::io::{PipeReader, Read, Write};
use std::thread;

use fullbore_measure::Bytes;
use fullbore_pipe::{Block, Options, PipeWriter, Strategy, set_capacity};
use proptest::prelude::{Strategy as _, *};

/// One use of a writer.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Ask for part of the most room (in 256ths), and fill part of what is given.
    Room(u8, u8),
    /// Write this much as any `Write`.
    Write(usize),
    /// Write this much by `put`.
    Put(usize),
    /// Exchange part of a block (in 256ths).
    Exchange(u8),
    Flush,
}

/// Sizes that someone may ask for: none, odd, usual or absurd.
fn sizes() -> impl prop::strategy::Strategy<Value = Bytes> {
    prop_oneof![
        Just(0),
        1_u64..100,
        Just(4096),
        4000_u64..70_000,
        Just(64 << 10),
        (1_u64 << 20)..(5 << 20),
        Just(1 << 40),
        Just(u64::MAX),
    ]
    .prop_map(Bytes)
}

pub(crate) fn options() -> impl prop::strategy::Strategy<Value = Options> {
    let ways = prop_oneof![
        Just(None),
        Just(Some(Strategy::Copy)),
        Just(Some(Strategy::Fresh)),
        Just(Some(Strategy::Ring)),
    ];
    (ways, sizes(), sizes(), sizes()).prop_map(|(strategy, ring, chunk, block)| {
        let mut options = Options::default();
        (options.strategy, options.ring) = (strategy, ring);
        (options.chunk, options.block) = (chunk, block);
        options
    })
}

/// Steps that go on well after the first mebibyte, when the writer changes its way.
pub(crate) fn steps() -> impl prop::strategy::Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (any::<u8>(), any::<u8>()).prop_map(|(wanted, filled)| Step::Room(wanted, filled)),
        3 => (0_usize..400_000).prop_map(Step::Write),
        2 => (0_usize..400_000).prop_map(Step::Put),
        1 => any::<u8>().prop_map(Step::Exchange),
        1 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 0..90)
}

/// Returns byte `at` of the stream.
fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(167).to_le_bytes()[0]
}

fn fill(bytes: &mut [u8], at: usize) {
    for (at, to) in (at..).zip(bytes) {
        *to = byte(at);
    }
}

/// Returns how many bytes arrive, and whether all are right.
fn check(mut pipe: PipeReader) -> (usize, bool) {
    let mut block = vec![0; 1 << 18];
    let (mut at, mut is_right) = (0, true);
    loop {
        let count = pipe.read(&mut block).unwrap();
        if count == 0 {
            return (at, is_right);
        }
        is_right &= (at..).zip(&block[..count]).all(|(at, found)| *found == byte(at));
        at += count;
    }
}

/// Takes the steps with a writer to a pipe of this `capacity`; panics when a byte is lost or wrong.
pub(crate) fn every_byte_arrives(options: Options, capacity: Bytes, steps: &[Step]) {
    const BLOCK_BYTES: usize = 300_000;
    let (reader, pipe) = std::io::pipe().unwrap();
    set_capacity(&pipe, capacity).unwrap();
    let checking = thread::spawn(move || check(reader));
    let mut writer = PipeWriter::new(pipe, options);
    let mut block = Block::new(BLOCK_BYTES).unwrap();
    let mut scratch = vec![0; 400_000];
    let (mut at, mut most_room) = (0, 0);
    for step in steps {
        assert!(writer.most_room() >= most_room, "the room shrank");
        most_room = writer.most_room();
        match step {
            Step::Room(wanted, filled) => {
                let wanted = most_room * usize::from(*wanted) / 255;
                let room = writer.room(wanted).unwrap();
                assert!(room.len() >= wanted);
                let filled = room.len() * usize::from(*filled) / 255;
                fill(&mut room[..filled], at);
                writer.commit(filled).unwrap();
                at += filled;
            }
            Step::Write(len) | Step::Put(len) => {
                let bytes = &mut scratch[..*len];
                fill(bytes, at);
                match step {
                    Step::Put(_) => writer.put(bytes).unwrap(),
                    _ => writer.write_all(bytes).unwrap(),
                }
                at += len;
            }
            Step::Exchange(part) => {
                let count = BLOCK_BYTES * usize::from(*part) / 255;
                fill(&mut block.bytes()[..count], at);
                block = writer.exchange(block, count).unwrap();
                at += count;
            }
            Step::Flush => writer.flush_all().unwrap(),
        }
    }
    writer.flush_all().unwrap();
    assert_eq!(writer.written(), at as u64);
    drop(writer);
    assert_eq!(checking.join().unwrap(), (at, true), "{options:?}");
}
