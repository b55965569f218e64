//! The cuts beside the slowest rule that can be right.

use super::*;
use std::io::Write;
use std::thread;

use proptest::prelude::*;

/// All blocks of a stream that comes in pieces of `piece` bytes.
fn blocks(input: &[u8], piece: usize, records: &Records, size: BlockSize) -> Vec<Vec<u8>> {
    let (reader, mut writer) = io::pipe().unwrap();
    let pieces: Vec<Vec<u8>> = input.chunks(piece.max(1)).map(<[u8]>::to_vec).collect();
    let feeding = thread::spawn(move || {
        for piece in pieces {
            writer.write_all(&piece).unwrap();
        }
    });
    let source = Source::Stream(reader.into());
    let blocks = all(cutter(source, records, size, u64::MAX));
    feeding.join().unwrap();
    blocks
}

fn cutter(source: Source, records: &Records, size: BlockSize, most_bytes: u64) -> Cutter {
    Cutter::new(
        source,
        (records.clone(), size),
        most_bytes,
        (&Lender::new(8 << 20), Arc::new(Fitting::new(2))),
    )
    .unwrap()
}

/// All blocks, every other one taken as what is at hand where there is one.
fn all(mut cutter: Cutter) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    while let Some(block) = cutter.next().unwrap() {
        let also = cutter.at_hand().unwrap();
        for block in [Some(block), also].into_iter().flatten() {
            assert_eq!(block.number, blocks.len() as u64 + 1);
            let mut bytes = vec![0; usize::try_from(block.part.len()).unwrap()];
            match &block.part.whole {
                Whole::File(file) => file.look(block.part.range.start, &mut bytes).unwrap(),
                Whole::Memory(pieces) => pieces.look(block.part.range.start, &mut bytes).unwrap(),
            }
            blocks.push(bytes);
        }
    }
    blocks
}

/// Where the records of a whole input end, by the slowest rule that can be right.
fn ends(input: &[u8], records: &Records) -> Vec<usize> {
    let is_end = |at: &usize| match records {
        Records::EndByte(byte) => input[at - 1] == *byte,
        Records::End(mark) => input[..*at].ends_with(mark),
        Records::Start(mark) => input[*at..].starts_with(mark),
        Records::Between(end, start) => {
            input[..*at].ends_with(end) && input[*at..].starts_with(start)
        }
    };
    (1..input.len()).filter(is_end).chain([input.len()]).collect()
}

fn any_records() -> impl Strategy<Value = Records> {
    // No mark overlaps itself: of such marks only some of the occurrences count.
    prop_oneof![
        Just(Records::EndByte(b'a')),
        Just(Records::End(b"ab".to_vec())),
        Just(Records::Start(b"ab".to_vec())),
        Just(Records::Between(b"a".to_vec(), b"b".to_vec())),
    ]
}

proptest! {
    #[test]
    fn blocks_are_whole_records_and_nothing_is_lost(
        input in prop::collection::vec(prop::sample::select(b"abc".to_vec()), 0..400),
        piece in 1_usize..50,
        records in any_records(),
        bytes in 1_u64..60,
    ) {
        let found = blocks(&input, piece, &records, BlockSize::Bytes(Bytes(bytes)));
        prop_assert_eq!(found.concat(), input.clone());
        let ends = ends(&input, &records);
        // What begins the next record is looked at, too.
        let beyond = match &records {
            Records::EndByte(_) | Records::End(_) => 0,
            Records::Start(mark) | Records::Between(_, mark) => mark.len(),
        };
        let fits = |end: usize, most: usize| {
            end + if end == input.len() { 0 } else { beyond } <= most
        };
        let mut at = 0;
        for block in &found {
            let most = at + usize::try_from(bytes).unwrap();
            // As much as fits, or one record.
            let later = || ends.iter().copied().filter(|&end| end > at);
            let expected = later().rfind(|&end| fits(end, most)).or(later().next());
            at += block.len();
            prop_assert_eq!(Some(at), expected.or(Some(0)));
        }
    }

    #[test]
    fn blocks_have_as_many_records_as_was_asked_for(
        input in prop::collection::vec(prop::sample::select(b"abc".to_vec()), 1..300),
        piece in 1_usize..50,
        records in any_records(),
        count in 1_usize..5,
    ) {
        let found = blocks(&input, piece, &records, BlockSize::Records(count as u64));
        prop_assert_eq!(found.concat(), input.clone());
        let ends = ends(&input, &records);
        let wanted: Vec<usize> = ends.chunks(count).map(|ends| ends[ends.len() - 1]).collect();
        let got: Vec<usize> = found
            .iter()
            .scan(0, |at, block| {
                *at += block.len();
                Some(*at)
            })
            .collect();
        prop_assert_eq!(got, wanted);
    }
}

#[test]
fn a_stream_of_several_stores_is_cut_as_a_file_is() {
    let mut input = Vec::new();
    for number in 0..400_000 {
        writeln!(input, "{number} {}", "z".repeat(number % 31)).unwrap();
    }
    input.extend_from_slice(&[b'q'; 3 << 20]);
    input.extend_from_slice(b"\nlast");
    let lines = Records::EndByte(b'\n');
    for size in [
        BlockSize::Bytes(Bytes(10_000)),
        // Larger ones would be smaller at the end of the file, whose length is known.
        BlockSize::Fitting(Bytes(1 << 20)),
        BlockSize::Records(70_000),
    ] {
        let stream = blocks(&input, 99_991, &lines, size);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&input).unwrap();
        let source = Source::File(file, 0);
        let file = all(cutter(source, &lines, size, u64::MAX));
        assert!(stream.concat() == input, "{size:?}");
        assert!(stream == file, "{size:?}");
    }
}

#[test]
fn a_record_without_an_end_fails_at_the_limit() {
    let (reader, mut writer) = io::pipe().unwrap();
    let feeding = thread::spawn(move || while writer.write_all(&[0; 9999]).is_ok() {});
    let source = Source::Stream(reader.into());
    let size = BlockSize::Bytes(Bytes(1000));
    let mut cutter = cutter(source, &Records::EndByte(b'\n'), size, 3 << 20);
    let Err(CutError::NoEnd(bytes)) = cutter.next() else { panic!("no error") };
    assert!((3 << 20..8 << 20).contains(&bytes), "{bytes}");
    drop(cutter);
    feeding.join().unwrap();
}

#[test]
fn an_empty_input_is_one_empty_block_and_a_header_is_taken_first() {
    let lines = Records::EndByte(b'\n');
    assert_eq!(blocks(b"", 1, &lines, BlockSize::Records(3)), [b"".to_vec()]);
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"h\ni\na\nb\n").unwrap();
    drop(writer);
    let source = Source::Stream(reader.into());
    let mut cutter = cutter(source, &lines, BlockSize::Records(1), u64::MAX);
    let header = cutter.header(2).unwrap();
    assert!(header.len() == 4 && matches!(header.whole, Whole::Memory(_)));
    assert_eq!(all(cutter), [b"a\n", b"b\n"]);
}
