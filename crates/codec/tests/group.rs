//! Groups agree with the oracle: every tier, any number of tables, every order.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test reports by panicking"
)]
#[path = "common/tiers.rs"]
mod tiers;

use std::collections::BTreeMap;

use fullbore_codec::Tier;
use fullbore_codec::group::{Groups, Order, Part, Placed, Rows, SEGMENTS, Tally, naive};
use proptest::prelude::*;

/// Counts `text` in pieces with tables of their own, and merges them.
fn parts<V: Tally>(text: &[u8], end: u8, tier: Tier, tables: usize, seed: u64) -> Vec<Part<V>> {
    let lines = text.split_inclusive(|byte| *byte == end).collect::<Vec<_>>();
    let mut groups: Vec<Groups<V>> = (0..tables).map(|_| Groups::new(seed)).collect();
    let mut position = 0;
    for (number, piece) in lines.chunks(lines.len().div_ceil(2 * tables).max(1)).enumerate() {
        let piece = piece.concat();
        groups[number % tables].add_lines(&piece, end, position, tier).unwrap();
        position += piece.len() as u64;
    }
    let merged = |parts: Vec<Part<V>>| {
        parts.into_iter().reduce(|one, other| Part::merged(one, other).unwrap()).unwrap()
    };
    let mut columns: Vec<Vec<Part<V>>> = (0..SEGMENTS).map(|_| Vec::new()).collect();
    for table in groups {
        table
            .into_parts()
            .into_iter()
            .zip(&mut columns)
            .for_each(|(part, column)| column.push(part));
    }
    columns.into_iter().map(merged).collect()
}

fn listed<V: Tally>(rows: &Rows<V>) -> Vec<(Vec<u8>, V)> {
    let each = |row| {
        let mut room = [0; 16];
        let (key, value) = rows.get(row, &mut room);
        (key.to_vec(), value)
    };
    (0..rows.len()).map(each).collect()
}

fn agrees(text: &[u8], end: u8, tables: usize, seed: u64) {
    let mut whole = text.to_vec();
    if !text.is_empty() && text.last() != Some(&end) {
        whole.push(end);
    }
    let expected = naive::count(text, end);
    for tier in tiers::tested() {
        let rows =
            Rows::<u64>::new(parts(&whole, end, tier, tables, seed), Order::Key, |_| true).unwrap();
        let found = listed(&rows);
        assert!(found.is_sorted_by(|one, other| one.0 < other.0), "{tier}: the order");
        assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), expected, "{tier}");
    }
}

/// Lines of pieces that share beginnings, hold zero bytes, and are as long as slots, windows and more.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\0".to_vec()),
        Just(b"a".to_vec()),
        Just(b"\xff".to_vec()),
        Just(b"fifteen_bytes_1".to_vec()),
        Just(b"sixteen_bytes_12".to_vec()),
        Just(vec![b'x'; 64]),
        Just(b"\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_kernel_and_any_number_of_tables_agree_with_the_oracle(
        text in text(), end in prop_oneof![Just(b'\n'), Just(0)], tables in 1..5_usize, seed: u64
    ) {
        agrees(&text, end, tables, seed);
    }

    #[test]
    fn rows_are_in_the_order_that_their_comparison_says(text in text(), tables in 1..4_usize) {
        let mut whole = text;
        whole.push(b'\n');
        for order in [Order::Key, Order::Count, Order::First] {
            let parts = parts::<Placed>(&whole, b'\n', Tier::best(), tables, 7);
            let rows = listed(&Rows::new(parts, order, |_| true).unwrap());
            for pair in rows.windows(2) {
                let [one, other] = pair else { unreachable!() };
                let compared = order.compare((&one.0, one.1), (&other.0, other.1));
                prop_assert_eq!(compared, std::cmp::Ordering::Less, "{:?}", order);
            }
            for (key, value) in rows {
                let line = [&key[..], b"\n"].concat();
                let first = value.first() as usize;
                prop_assert!(whole[first..].starts_with(&line));
                prop_assert!(first == 0 || whole[first - 1] == b'\n');
            }
        }
    }
}

#[test]
fn every_kernel_agrees_at_every_alignment_and_length() {
    for lead in 0..66 {
        for length in 0..34 {
            let mut text = vec![b'y'; lead];
            text.push(b'\n');
            text.extend(std::iter::repeat_n(b'z', length));
            text.extend(b"\n\n");
            text.extend(std::iter::repeat_n(b'z', length));
            agrees(&text, b'\n', 1, 1);
        }
    }
}

#[test]
fn a_table_that_grows_beyond_the_caches_loses_nothing() {
    // More than 8 MiB of table, where the kernels prefetch.
    let mut text = Vec::new();
    for round in 0..3 {
        for number in 0..120_000_u32 {
            let line = number.wrapping_mul(2_654_435_761) >> (round % 2);
            text.extend(format!("{line}{}\n", "-".repeat((number % 23) as usize)).bytes());
        }
    }
    agrees(&text, b'\n', 2, 3);
}

#[test]
fn keys_that_differ_only_in_trailing_zeros_are_different() {
    agrees(b"a\na\0\na\0\0\n\0\n\n\0\0\na\n", b'\n', 1, 0);
}

#[test]
fn entries_number_groups_of_any_kind() {
    let mut groups: Groups<u64> = Groups::new(5);
    for key in ["one", "two", "a key of more than fifteen bytes", "one"] {
        *groups.entry(key.as_bytes()) += 10;
    }
    assert_eq!(groups.len(), 3);
    assert_eq!(*groups.entry(b"one"), 20);
    groups.clear();
    assert!(groups.is_empty());
    assert_eq!(*groups.entry(b"one"), 0);
}

#[test]
fn a_table_grows_to_its_limit_and_is_full_then() {
    let limit = 1 << 20;
    let mut groups: Groups<u64> = Groups::new(9);
    groups.set_limit(limit);
    let mut number = 0_u64;
    while !groups.is_full() {
        *groups.try_entry(format!("{number}").as_bytes()).unwrap() += 1;
        number += 1;
    }
    // 24 bytes a slot, of which at least seven of ten were taken before the last time that it grew by a quarter.
    assert!(groups.bytes() <= limit && number > 20_000, "{} bytes, {number} keys", groups.bytes());
    // What comes nevertheless is not lost.
    for more in number..2 * number {
        groups.add(format!("{more}").as_bytes(), 1);
    }
    assert_eq!(groups.len() as u64, 2 * number);
    groups.clear();
    groups.set_limit(usize::MAX);
    assert!(!groups.is_full() && groups.is_empty());
    *groups.entry(&vec![b'x'; 2 << 20]) += 1;
    groups.set_limit(limit);
    assert!(groups.is_full());
}
