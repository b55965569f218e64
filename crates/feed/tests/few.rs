//! The first lines of a sorted stream are those that sort(1) and head(1) print.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use fullbore_feed::Input;
use fullbore_feed::few::{Found, LineOrder, Wanted, first_lines};
use proptest::collection::vec;
use proptest::prelude::*;

fn input(bytes: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    Input::new(file, "test")
}

fn first(bytes: &[u8], wanted: Wanted, memory: usize) -> Found {
    first_lines(&mut input(bytes), wanted, memory).unwrap()
}

fn by_sort(bytes: &[u8], wanted: Wanted) -> Vec<u8> {
    let mut options = "-".to_owned();
    for (is_set, letter) in
        [(wanted.order.is_numeric, 'n'), (wanted.order.is_reversed, 'r'), (wanted.is_distinct, 'u')]
    {
        options.extend(is_set.then_some(letter));
    }
    let options = if options == "-" { "" } else { &options };
    let line = format!("sort {options} | head -n {}", wanted.most);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &line]).env("LC_ALL", "C").stdin(file).stdout(Stdio::piped());
    shell.output().unwrap().stdout
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect()
}

fn any_wanted() -> impl Strategy<Value = Wanted> {
    (any::<bool>(), any::<bool>(), any::<bool>(), 1..40_usize).prop_map(
        |(is_numeric, is_reversed, is_distinct, most)| Wanted {
            order: LineOrder { is_numeric, is_reversed },
            // `sort -nu` calls lines with equal numbers equal: that is no order of lines.
            is_distinct: is_distinct && !is_numeric,
            most,
        },
    )
}

/// Lines that look like numbers, and lines that do not.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(prop::sample::select(b" \t-+.0019,ex".to_vec()), 0..8),
        vec(prop::sample::select(b"ab\0\xff\r".to_vec()), 0..4),
        any::<i16>().prop_map(|number| number.to_string().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn they_are_those_of_sort_and_head(lines in vec(any_line(), 0..60), wanted in any_wanted(), is_ended in any::<bool>()) {
        let mut bytes = joined(&lines);
        if !is_ended {
            bytes.pop();
        }
        let Found::Lines(found) = first(&bytes, wanted, 1 << 20) else { panic!("too large") };
        prop_assert_eq!(joined(&found), by_sort(&bytes, wanted), "{:?} of {:?}", wanted, bytes);
    }

    #[test]
    fn what_is_too_large_stands_for_all_that_was_read(lines in vec(any_line(), 0..60), wanted in any_wanted(), memory in 0..400_usize) {
        let bytes = joined(&lines);
        let mut whole = input(&bytes);
        let found = match first_lines(&mut whole, wanted, memory).unwrap() {
            Found::Lines(found) => joined(&found),
            Found::TooLarge(mut held) => {
                let mut block = [0; 99];
                while let count @ 1.. = whole.read(&mut block).unwrap() {
                    held.extend_from_slice(&block[..count]);
                }
                by_sort(&held, wanted)
            }
        };
        prop_assert_eq!(found, by_sort(&bytes, wanted));
    }
}

#[test]
fn a_stream_longer_than_what_is_read_at_a_time_is_cut_nowhere() {
    let mut bytes = Vec::new();
    for number in 0..400_000_u32 {
        writeln!(bytes, "{}", number.wrapping_mul(2_654_435_761)).unwrap();
    }
    // A line longer than a block.
    bytes.extend(std::iter::repeat_n(b'0', 3 << 20));
    for is_numeric in [false, true] {
        for is_reversed in [false, true] {
            let order = LineOrder { is_numeric, is_reversed };
            let wanted = Wanted { order, is_distinct: false, most: 3000 };
            let Found::Lines(found) = first(&bytes, wanted, 64 << 20) else { panic!("too large") };
            assert!(joined(&found) == by_sort(&bytes, wanted), "{order:?}");
        }
    }
}

#[test]
fn memory_is_bounded_and_nothing_is_lost() {
    let bytes: Vec<u8> = (0..100_000).flat_map(|n| format!("{n:0>50}\n").into_bytes()).collect();
    let order = LineOrder { is_numeric: false, is_reversed: true };
    let wanted = Wanted { order, is_distinct: false, most: 50_000 };
    let mut source = input(&bytes);
    let Found::TooLarge(held) = first_lines(&mut source, wanted, 1 << 20).unwrap() else {
        panic!("a megabyte holds 50,000 lines of 51 bytes")
    };
    assert!(held.len() < 4 << 20);
    let mut rest = Vec::new();
    let mut block = [0; 1 << 16];
    while let count @ 1.. = source.read(&mut block).unwrap() {
        rest.extend_from_slice(&block[..count]);
    }
    let all = [held, rest].concat();
    assert!(by_sort(&all, wanted) == by_sort(&bytes, wanted));
}
