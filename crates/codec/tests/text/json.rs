//! Tests the JSON validator against the naive one, serde_json and cases by hand.

mod cases;
mod scan;

use fullbore_codec::json::{Cause, MOST_DEPTH, Validator, naive};
use fullbore_codec::{Place, Tier};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use self::cases::{VALID, WRONG};
use crate::support::{Numbers, mixture};
use crate::tiers::tested;

type Verdict = Result<u64, (Place, Cause)>;

const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\"a\"",
    b"\"k\":",
    b"\"k\":1,",
    b"[]",
    b"{}",
    b"[1,2]",
    b"0",
    b"-",
    b"1",
    b"12",
    b".5",
    b"e",
    b"E+",
    b"e-07",
    b"0.1",
    b"true",
    b"false",
    b"null",
    b"tru",
    b" ",
    b"\n",
    b"\r\n",
    b"\t",
    b"\x1E",
    b"\\",
    b"\\\"",
    b"\\u",
    b"00e9",
    b"\\ud83d",
    b"\\uDE00",
    b"\\uD83D\\uDE00",
    b"\\n",
    b"\x01",
    b"\x7F",
    b"abc",
    b"\"text and text\"",
    "é".as_bytes(),
    "漢".as_bytes(),
    "💩".as_bytes(),
    b"\xC3",
    b"\xED\xA0\x80",
    b"\xEF\xBB\xBF",
    b"\xFF",
    b"\xAC",
];

/// Documents of every kind; every line is valid.
const LINES: &[&str] = &[
    r#"{"id":17,"time":"2024-01-01T00:00:00.021Z","user":{"id":46,"name":"Jürgen"},"tags":["a","b"],"ok":true}"#,
    r#"[[-87.463103,-81.202848],[-87.468431,0],[1e5,-0.5E-07,1.25e+10],[0,-0,10]]"#,
    r#"{"text":"a \"quoted\" word, \\ and \u2603 and \ud83d\uDE00 — 漢字 💩 \/ \b\f\n\r\t","n":null,"f":false}"#,
    r#"  { "pretty" : [ 1 , true , { } , [ ] ] , "" : { "x" : [ [ [ { "y" : { } } ] ] ] } }  "#,
    r#""a document that is a string""#,
    "-12.5e3",
    "null",
    "",
    r#"{"a":{"b":{"c":{"d":[[[[{"e":[{"f":1},{"f":2}]}]]]]}}},"long":"Lorem ipsum dolor sit amet, consectetur adipiscing elit"}"#,
    "[\"\u{7f}\",\"\u{80}\",\"\u{7ff}\",\"\u{800}\",\"\u{ffff}\",\"\u{10000}\",\"\u{10ffff}\"]",
];

fn check(tier: Tier, blocks: &[&[u8]]) -> Verdict {
    let mut validator = Validator::new(tier);
    let result = blocks.iter().try_for_each(|block| validator.push(block));
    match result.and_then(|()| validator.finish()) {
        Ok(()) => Ok(validator.documents()),
        Err(error) => Err((error.place, error.cause)),
    }
}

fn naively(text: &[u8]) -> Verdict {
    naive::check(text).map_err(|(at, cause)| (Place::default().after(&text[..at]), cause))
}

#[track_caller]
fn assert_same(text: &[u8], blocks: &[&[u8]]) {
    let expected = naively(text);
    for tier in tested() {
        assert_eq!(check(tier, blocks), expected, "{tier}: {:?}", String::from_utf8_lossy(text));
    }
}

/// Some kilobytes of valid documents.
fn valid(seed: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut text = Vec::new();
    while text.len() < length {
        text.extend_from_slice(LINES[numbers.below(LINES.len())].as_bytes());
        text.push(b'\n');
    }
    text
}

#[test]
fn valid_documents_are_valid_wherever_they_begin_and_end() {
    let mut numbers = Numbers(1);
    for seed in 0..40 {
        let text = valid(seed, 20_000);
        assert!(naive::check(&text).is_ok(), "{:?}", naive::check(&text));
        for begin in (0..130).filter(|begin| *begin == 0 || text[begin - 1] == b'\n') {
            assert_same(&text[begin..], &[&text[begin..]]);
        }
        let spaces = [&vec![b' '; numbers.below(130)][..], &text].concat();
        assert_same(&spaces, &[&spaces]);
    }
}

#[test]
fn the_cause_and_place_of_an_error_are_the_naive_ones_in_every_tier() {
    let mut numbers = Numbers(7);
    for seed in 0..3000 {
        let mut text = valid(seed, 300 + numbers.below(9000));
        for _ in 0..=numbers.below(2) {
            let at = numbers.below(text.len());
            match numbers.below(3) {
                0 => text[at] = u8::try_from(numbers.below(256)).unwrap(),
                1 => drop(text.remove(at)),
                _ => {
                    let piece = PIECES[numbers.below(PIECES.len())];
                    text.splice(at..at, piece.iter().copied());
                }
            }
        }
        text.truncate(text.len() - numbers.below(3));
        let cut = numbers.below(text.len() + 1);
        assert_same(&text, &[&text[..cut], &text[cut..]]);
    }
}

#[test]
fn every_cut_gives_the_same_verdict() {
    let text = valid(3, 1500);
    let mut wrong = text.clone();
    wrong[1400] = b'\x02';
    for text in [text, wrong] {
        for cut in 0..=text.len() {
            assert_same(&text, &[&text[..cut], &text[cut..]]);
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_same(&text, &bytes);
    }
}

proptest! {
    #[test]
    fn pieces_of_json_have_the_naive_verdict(
        seed: u64, length in 1..700_usize, before in 0..2_usize, cut in 0..700_usize,
    ) {
        let mut text = if before == 1 { valid(seed, 4200) } else { Vec::new() };
        text.extend(mixture(PIECES, length, seed));
        let cut = cut.min(text.len());
        assert_same(&text, &[&text[..cut], &text[cut..]]);
        with_serde_json(&text);
    }

    #[test]
    fn serde_json_finds_the_same_errors(seed: u64, at in 0..1000_usize, byte: u8) {
        let mut text = valid(seed, 1000);
        text[at] = byte;
        with_serde_json(&text);
        text.truncate(at);
        with_serde_json(&text);
    }
}

/// Compares with serde_json, which has no opinion about halves of surrogate pairs and invalid UTF-8 in what it ignores, and
/// does not know U+001E and a byte order mark, whole or cut off by the end.
fn with_serde_json(text: &[u8]) {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let ours = naive::check(text);
    if text.contains(&0x1E) || text.starts_with(MARK) || MARK.starts_with(text) {
        return;
    }
    let mut theirs = Ok(());
    for document in serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>() {
        if let Err(error) = document {
            theirs = Err(error);
            break;
        }
    }
    match (ours, theirs) {
        (Ok(_), Ok(())) | (Err((_, Cause::Surrogate | Cause::Utf8)), _) => {}
        (Err((at, cause)), Err(error)) => {
            let lines = text.split_inclusive(|byte| *byte == b'\n');
            let line_begin: usize = lines.take(error.line() - 1).map(<[u8]>::len).sum();
            let theirs = line_begin + error.column();
            // Its position is after the byte; before it at the end of the text and for control characters; somewhere in
            // the four digits for a wrong one; after a line end, at the beginning of a line.
            let is_same = match cause {
                Cause::Hexadecimal => (at..at + 5).contains(&theirs),
                Cause::Control => theirs == at,
                _ => theirs == at + 1 || (at == text.len() && theirs == at),
            };
            let is_line_end = text[at..].first() == Some(&b'\n');
            assert!(
                is_same || is_line_end,
                "{at} {cause:?} {error}: {:?}",
                String::from_utf8_lossy(text)
            );
        }
        (ours, theirs) => panic!("{ours:?} {theirs:?}: {:?}", String::from_utf8_lossy(text)),
    }
}

#[test]
fn depth_is_limited() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    for depth in [1, 61, 62, 63, 64, 65, 66, 200, 1000, MOST_DEPTH] {
        let text = [nested(depth), valid(1, 5000), nested(depth)].concat();
        assert_same(&text, &[&text]);
        assert!(naive::check(&text).is_ok());
    }
    let deep = nested(MOST_DEPTH + 1);
    assert_same(&deep, &[&deep]);
    assert_eq!(naive::check(&deep), Err((MOST_DEPTH, Cause::TooDeep)));
}

#[test]
fn after_an_error_the_next_line_is_read() {
    for tier in tested() {
        let bad = "{\"a\":1\n{\"b\":tru}\n";
        let text = format!("{}{bad}{}", "[1,2]\n".repeat(1000), "{\"c\":[]}\n".repeat(1000));
        let mut validator = Validator::new(tier);
        let (mut begin, mut lines) = (0, Vec::new());
        while let Err(error) = validator.push(&text.as_bytes()[begin..]) {
            lines.push((error.place.line, error.cause));
            begin = usize::try_from(error.place.offset).unwrap();
            validator.skip_line();
        }
        assert_eq!(validator.finish(), Ok(()));
        // The first bad line is found at the name that begins the second; so both are skipped.
        assert_eq!(lines, [(1002, Cause::NextInObject)]);
        assert_eq!(validator.documents(), 2000);
    }
}

#[test]
fn after_a_backslash_no_byte_beyond_ascii_is_right() {
    let characters = ('\u{80}'..='\u{10FFFF}').step_by(97).map(|char| char.to_string());
    let bytes = (0x80..=0xFF).map(|byte: u8| vec![byte]);
    for escaped in characters.map(String::into_bytes).chain(bytes) {
        let text = [b"[\"\\", &escaped[..], b"\",", &b"1,".repeat(200), b"1]"].concat();
        assert_same(&text, &[&text]);
        assert!(naive::check(&text).is_err());
    }
}

#[test]
fn control_characters_before_a_number_at_the_end_of_a_batch_are_wrong() {
    for control in (0..0x20).filter(|byte| !b"\t\n\r\x1E".contains(byte)) {
        for (digits, before) in [(1, 200), (50, 300), (130, 100), (700, 60)] {
            let number = vec![b'1'; digits];
            let text = [b"[1, ", &vec![control; before][..], &number, b"'2", &number].concat();
            for begin in 0..70 {
                let text = [&vec![b' '; begin][..], &text].concat();
                assert_same(&text, &[&text]);
            }
        }
    }
}

#[test]
fn half_of_a_pair_is_found_wherever_its_string_ends() {
    for end in ["\",\"abc\"]", "\",1]", "\"]", "\\n\",\"\\u00e9\"]", "\\\"\",\"a\"]"] {
        for escape in ["\\uD800", "\\u00e", "\\uDC00"] {
            for before in (150..420).chain(4000..4200) {
                let text = format!("[\"{}{escape}{end}{}", "x".repeat(before), "\n1".repeat(99));
                assert_same(text.as_bytes(), &[text.as_bytes()]);
                assert!(naive::check(text.as_bytes()).is_err());
            }
        }
    }
}

#[test]
fn cases_by_hand() {
    for (text, documents) in VALID {
        assert_same(text.as_bytes(), &[text.as_bytes()]);
        assert_eq!(naive::check(text.as_bytes()), Ok(*documents), "{text:?}");
    }
    for (text, at, cause) in WRONG {
        // From 256 bytes on there are kernels; their last block ends everywhere around the error.
        for before in [0, 1, 63, 5000].into_iter().chain(256..400) {
            let (before, after) = (vec![b' '; before], vec![b' '; before.min(63)]);
            let padded = [&before[..], text, &after].concat();
            if before.is_empty() || (*cause != Cause::End && text[0] != 0xEF) {
                assert_same(&padded, &[&padded]);
                let expected = Err((before.len() + at, *cause));
                assert_eq!(naive::check(&padded), expected, "{:?}", String::from_utf8_lossy(text));
            }
        }
    }
}
