//! Tests that sources give the same bytes for requests of any size, and contain what they promise.

use fullbore_codec::generate::{JsonLines, Limited, Lines, Random, Skip, Source, Zero};
use serde_json::Value;

use crate::support::Numbers;

fn take(source: &mut dyn Source, bytes: usize) -> Vec<u8> {
    let mut taken = vec![0xAA; bytes];
    let filled = source.fill(&mut taken);
    taken.truncate(filled);
    taken
}

#[test]
fn the_bytes_do_not_depend_on_the_sizes_asked_for() {
    let sources: [fn() -> Box<dyn Source>; 4] = [
        || Box::new(Random::new(7)),
        || Box::new(Lines::new(80)),
        || Box::new(Lines::new(3)),
        || Box::new(JsonLines::new(7, None)),
    ];
    for (index, source) in sources.iter().enumerate() {
        let whole = take(&mut *source(), 50_000);
        assert_eq!(whole.len(), 50_000);
        let mut pieces = Vec::new();
        let (mut source, mut numbers) = (source(), Numbers(3));
        while pieces.len() < whole.len() {
            let size = numbers.below(if pieces.len() < 1000 { 20 } else { 5_000 });
            pieces.extend(take(&mut *source, size.min(whole.len() - pieces.len())));
        }
        assert!(pieces == whole, "source {index}");
    }
}

#[test]
fn a_skip_continues_where_reading_as_much_would() {
    for length in [1, 3, 80, 5_000, 100_000] {
        let whole = take(&mut Lines::new(length), 700_000);
        let (mut source, mut numbers, mut at) = (Lines::new(length), Numbers(5), 0);
        while at < 600_000 {
            let skipped = numbers.below(9_000);
            assert_eq!(source.skip(skipped as u64), skipped as u64);
            at += skipped;
            let bytes = take(&mut source, numbers.below(3_000));
            assert!(bytes == whole[at..at + bytes.len()], "lines of {length}, at {at}");
            at += bytes.len();
        }
    }
}

#[test]
fn each_seed_has_its_own_stream() {
    assert_eq!(take(&mut Random::new(1), 64), take(&mut Random::new(1), 64));
    assert_ne!(take(&mut Random::new(1), 64), take(&mut Random::new(2), 64));
    assert_ne!(take(&mut JsonLines::new(1, None), 640), take(&mut JsonLines::new(2, None), 640));
    // The first output of xoshiro256++ seeded by splitmix64 of 0, as the authors' program gives it.
    assert_eq!(take(&mut Random::new(0), 8), 0x53175d61490b23dfu64.to_le_bytes());
}

#[test]
fn a_limit_ends_the_stream() {
    let mut source = Limited::new(Zero, 100);
    assert_eq!(take(&mut source, 60), [0; 60]);
    assert_eq!(take(&mut source, 60), [0; 40]);
    assert!(take(&mut source, 60).is_empty());
}

#[test]
fn lines_have_their_length_and_are_all_different() {
    for length in [2, 5, 17, 18, 19, 80, 10_000] {
        let text = take(&mut Lines::new(length), length * 9);
        let lines: Vec<&[u8]> = text.chunks(length).collect();
        for (number, line) in lines.iter().enumerate() {
            assert!(line.ends_with(b"\n") && !line[..length - 1].contains(&b'\n'), "{length}");
            assert!(!lines[..number].contains(line), "{length}: {number}");
        }
    }
    assert_eq!(take(&mut Lines::new(1), 3), b"\n\n\n");
    assert_eq!(take(&mut Lines::new(22), 44), b"0000000000000001 bcde\n0000000000000002 cdef\n");
}

#[test]
fn records_are_json_in_the_order_of_time() {
    let text = String::from_utf8(take(&mut JsonLines::new(42, Some(5_000)), 5_000_000)).unwrap();
    let mut last = String::new();
    let mut users = 0;
    for (row, line) in text.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["id"], row + 1);
        let time = record["time"].as_str().unwrap();
        assert!(*time >= *last && time.len() == 24, "{line}");
        time.clone_into(&mut last);
        assert!(record["status"].is_u64() && record["duration_ms"].is_f64(), "{line}");
        users += usize::from(record["user"]["name"].is_string());
    }
    assert_eq!(text.lines().count(), 5_000);
    assert!(text.ends_with('\n') && (4_000..5_000).contains(&users), "{users}");
}
