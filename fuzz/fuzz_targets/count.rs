//! Tables of every tier count lines as the oracle does, wherever the lines are dealt out between two tables.
#![no_main]

use std::collections::BTreeMap;

use fullbore_codec::Tier;
use fullbore_codec::group::{Groups, Order, Part, Rows, naive};
use fullbore_codec::lines::whole_lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [cut, end, seed, text @ ..] = input else { return };
    let mut whole = text.to_vec();
    whole.push(*end);
    let middle = whole_lines(&whole[..text.len() * usize::from(*cut) / 255], *end);
    let expected = naive::count(&whole, *end);
    for tier in Tier::all() {
        let count = |block: &[u8]| {
            let mut groups: Groups<u64> = Groups::new(u64::from(*seed));
            groups.add_lines(block, *end, 0, tier).expect("memory for a small table");
            groups.into_parts()
        };
        let (one, other) = (count(&whole[..middle]), count(&whole[middle..]));
        let merged = one.into_iter().zip(other).map(|(one, other)| Part::merged(one, other));
        let merged: Result<Vec<_>, _> = merged.collect();
        let merged = merged.expect("memory for a small table");
        let rows = Rows::new(merged, Order::Key, |_| true).expect("memory for small rows");
        let found: BTreeMap<Vec<u8>, u64> = (0..rows.len())
            .map(|row| {
                let mut room = [0; 16];
                let (key, count) = rows.get(row, &mut room);
                (key.to_vec(), count)
            })
            .collect();
        assert_eq!(found, expected, "{tier}");
    }
});
