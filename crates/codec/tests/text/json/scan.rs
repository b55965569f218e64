//! Tests the scanner against `serde_json` and its own slow way.

use fullbore_codec::Tier;
use fullbore_codec::json::query::{Duplicates, ScanError, Scanner, Table};
use fullbore_codec::json::{Validator, naive};
use serde_json::Value;

use super::{LINES, PIECES};
use crate::support::Numbers;
use crate::tiers::tested;

/// Documents in which the names of [`MEMBERS`] are hard to find.
const TRAPS: &[&str] = &[
    r#"{"id":"\"id\":7","x":{"id":8},"user":{"id":{"id":1},"user":2}}"#,
    r#"{"x":[{"id":1}],"y":"id","id" : [1,{"id":3}] ,"user":[{"id":9}]}"#,
    r#"{"\u0069d":1,"us\u0065r":{"\u0069\u0064":"x"}}"#,
    r#"{"id":1,"id":2,"user":{"id":3,"id":4},"user":{"id":5}}"#,
    r#"{"id":1,"\u0069d":2,"a\/b":3,"a/b":4,"é":5,"\u00e9":6,"":7,"q\"":8}"#,
    r#"{"i":1,"ids":2,"id ":3,"id\n":4,"d":5,"a":6,"ab":7}"#,
    r#"{"text":"\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d","id":"\u4e2d"}"#,
    r#"{"text":"\\\\\\\"id\\\":1","id":true,"a":{}}"#,
    "{\"id\"\n:\t1 , \"user\" :\r\n { \"id\" : null } }",
    r#"[{"id":1}]"#,
    r#""id""#,
    "17",
    "null",
    "{}",
    "[]",
    r#"{"user":null}"#,
    r#"{"user":"id","id":{"user":{"id":[]}}}"#,
    r#"{"a":[[[[{"id":1}]]]],"id":-1.50e+3}"#,
];

const MEMBERS: &[&[&str]] = &[
    &["id"],
    &["user", "id"],
    &[],
    &["a/b"],
    &["é"],
    &[""],
    &["q\""],
    &["a"],
    &["id\n"],
    &["none"],
];

fn scanner(tier: Tier, members: &[&[&str]], duplicates: Duplicates) -> Scanner {
    let members = members.iter().map(|names| names.iter().map(ToString::to_string).collect());
    Scanner::new(tier, members.collect(), duplicates)
}

fn scan(
    tier: Tier,
    members: &[&[&str]],
    duplicates: Duplicates,
    text: &[u8],
    is_end: bool,
) -> (Table, Result<usize, ScanError>) {
    let mut table = Table::default();
    let ended = scanner(tier, members, duplicates).scan(text, is_end, &mut table);
    (table, ended)
}

/// Some kilobytes of documents and traps.
fn documents(seed: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let separators: [&[u8]; 5] = [b"\n", b"\n", b"\r\n", b" ", b"\n\n\t"];
    let mut text = Vec::new();
    while text.len() < length {
        let from = if numbers.below(3) == 0 { LINES } else { TRAPS };
        text.extend_from_slice(from[numbers.below(from.len())].as_bytes());
        text.extend_from_slice(separators[numbers.below(separators.len())]);
    }
    text
}

/// What `serde_json` says: where documents end, and the values.
fn expected(text: &[u8], members: &[&[&str]]) -> (Vec<usize>, Vec<Option<Value>>) {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let (mut ends, mut values) = (Vec::new(), Vec::new());
    while let Some(document) = stream.next() {
        let document = document.expect("the documents are valid");
        ends.push(stream.byte_offset());
        for names in members {
            let found =
                names.iter().try_fold(&document, |value, name| value.as_object()?.get(*name));
            values.push(found.cloned());
        }
    }
    (ends, values)
}

#[test]
fn documents_and_members_are_those_of_serde_json_in_every_tier() {
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let length = 300 + numbers.below(12_000);
        let text = documents(seed, length);
        let first = numbers.below(MEMBERS.len());
        let members = &MEMBERS[first..=first + numbers.below(MEMBERS.len() - first)];
        let (ends, values) = expected(&text, members);
        for tier in tested() {
            let (table, ended) = scan(tier, members, Duplicates::Last, &text, true);
            assert_eq!(ended, Ok(text.len()), "{tier} {seed}");
            let found: Vec<usize> = table.documents.iter().map(|document| document.end).collect();
            assert_eq!(found, ends, "{tier} {seed}");
            let parsed = table.values.iter().map(|value| {
                let value = &text[value.clone()];
                (!value.is_empty()).then(|| serde_json::from_slice(value).unwrap())
            });
            assert!(parsed.eq(values.iter().cloned()), "{tier} {seed} {members:?}");
        }
    }
}

#[test]
fn every_tier_finds_the_same_whatever_is_wrong_and_wherever_the_text_ends() {
    for seed in 0..1500 {
        let mut numbers = Numbers(seed);
        let length = 300 + numbers.below(9000);
        let mut text = documents(seed, length);
        for _ in 0..numbers.below(3) {
            let at = numbers.below(text.len());
            match numbers.below(3) {
                0 => text[at] = u8::try_from(numbers.below(256)).unwrap(),
                1 => text.truncate(at + 1),
                _ => {
                    let piece = PIECES[numbers.below(PIECES.len())];
                    text.splice(at..at, piece.iter().copied());
                }
            }
        }
        let duplicates =
            [Duplicates::Last, Duplicates::First, Duplicates::Refuse][numbers.below(3)];
        let is_end = numbers.below(2) == 0;
        let members = &MEMBERS[..1 + numbers.below(MEMBERS.len())];
        let slow = scan(Tier::Portable, members, duplicates, &text, is_end);
        for tier in tested() {
            let found = scan(tier, members, duplicates, &text, is_end);
            assert!(found == slow, "{tier} {seed}: {:?}, not {:?}", found.1, slow.1);
        }
    }
}

#[test]
fn the_verdict_is_that_of_the_validator() {
    for seed in 0..1500 {
        let mut numbers = Numbers(seed);
        let mut text = documents(seed, 2000);
        let at = numbers.below(text.len());
        text[at] = u8::try_from(numbers.below(256)).unwrap();
        for tier in tested() {
            let (table, ended) = scan(tier, &MEMBERS[..2], Duplicates::Last, &text, true);
            match (naive::check(&text), ended) {
                (Ok(count), Ok(_)) => assert_eq!(count, table.documents.len() as u64),
                (Err((at, cause)), Err(ScanError::Json(error))) => {
                    assert_eq!(
                        (error.place.offset, error.cause),
                        (at as u64, cause),
                        "{tier} {seed}"
                    );
                }
                other => panic!("{tier} {seed}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_cut_off_is_found_when_it_comes_again_with_its_rest() {
    let text = documents(5, 3000);
    let (whole, _) = scan(Tier::Portable, MEMBERS, Duplicates::Last, &text, true);
    for tier in tested() {
        for cut in 0..=text.len() {
            let (mut table, ended) = scan(tier, MEMBERS, Duplicates::Last, &text[..cut], false);
            let rest = ended.unwrap();
            let (more, ended) = scan(tier, MEMBERS, Duplicates::Last, &text[rest..], true);
            assert_eq!(ended, Ok(text.len() - rest));
            let moved = |range: &std::ops::Range<usize>| match range.is_empty() {
                true => 0..0,
                false => range.start + rest..range.end + rest,
            };
            table.documents.extend(more.documents.iter().map(moved));
            table.values.extend(more.values.iter().map(moved));
            assert!(table == whole, "{tier} {cut}");
        }
    }
}

#[test]
fn a_document_that_is_too_long_ends_the_scan_at_once() {
    for seed in 0..300 {
        let text = documents(seed, 6000);
        let (mut whole, _) = scan(Tier::Portable, MEMBERS, Duplicates::Last, &text, true);
        let most = Numbers(seed).below(100);
        let documents = &whole.documents;
        let Some(first) = documents.iter().position(|document| document.len() > most) else {
            continue;
        };
        let (begin, end) = (documents[first].start, documents[first].end);
        whole.documents.truncate(first);
        whole.values.truncate(first * MEMBERS.len());
        for tier in tested() {
            let mut table = Table::default();
            let mut limited = scanner(tier, MEMBERS, Duplicates::Last).with_most_bytes(most);
            let ended = limited.scan(&text, true, &mut table);
            assert_eq!(ended, Err(ScanError::TooLong { begin, end }), "{tier} {seed}");
            assert!(table == whole, "{tier} {seed}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_document_within_a_stream() {
    for text in
        [&b"{}\n\xEF\xBB\xBF\n{}"[..], b"\xEF\xBB\xBF{}", b"1 \xEF\xBB\xBFtrue", b"\xEF\xBB\xBF"]
    {
        for tier in tested() {
            let mut table = Table::default();
            let ended = Scanner::new(tier, vec![], Duplicates::Last).scan(text, true, &mut table);
            let at = text.iter().position(|byte| *byte == 0xEF).unwrap();
            let Err(ScanError::Json(error)) = ended else {
                panic!("{tier} {text:?}: {ended:?} {:?}", table.documents)
            };
            assert_eq!(error.place.offset, at as u64);
        }
    }
}

#[test]
fn too_many_brackets_close_in_many_tokens() {
    for tier in tested() {
        let text = ["{}".repeat(100), "]".repeat(1000)].concat();
        let mut table = Table::default();
        let ended =
            Scanner::new(tier, vec![], Duplicates::Last).scan(text.as_bytes(), true, &mut table);
        assert!(ended.is_err());
        assert_eq!(table.documents.len(), 100);
        let mut validator = Validator::new(tier);
        assert!(validator.push(text.as_bytes()).is_err());
    }
}
