//! Tests UTF-8 against the standard library.

use fullbore_codec::utf8::{self, Checker, Repairer, Replacement, Validator};
use fullbore_codec::{Place, Tier};
use proptest::prelude::*;

use crate::support::{mixture, run};

const PIECES: &[&[u8]] = &[
    b"ascii",
    "ж".as_bytes(),
    "漢字".as_bytes(),
    "𝄞".as_bytes(),
    b"\n",
    b"\x80",
    b"\xE2\x82",
    b"\xF0\x9F\x92",
    b"\xC0\xAF",
    b"\xED\xA0\x80",
    b"\xF4\x90\x80\x80",
    b"\xF8",
    b"\xF1\x80\x80",
];

/// Returns the position and the bytes of the first ill-formed sequence.
fn first_error(input: &[u8]) -> Option<(Place, Vec<u8>)> {
    let error = std::str::from_utf8(input).err()?;
    let (valid, wrong) = input.split_at(error.valid_up_to());
    let length = error.error_len().unwrap_or(wrong.len());
    Some((Place::default().after(valid), wrong[..length].to_vec()))
}

/// Validates with each tier of the CPU.
fn validate(blocks: &[&[u8]]) -> Option<(Place, Vec<u8>)> {
    let mut all = Tier::all().into_iter().map(|tier| validate_with(tier, blocks));
    let first = all.next().expect("every CPU has a tier");
    assert!(all.all(|other| other == first), "{blocks:02x?}");
    first
}

fn validate_with(tier: Tier, blocks: &[&[u8]]) -> Option<(Place, Vec<u8>)> {
    let mut validator = Validator::of_tier(tier);
    let result = blocks.iter().try_for_each(|block| validator.push(block));
    let error = result.and_then(|()| validator.finish()).err()?;
    Some((error.place, error.malformed.bytes().to_vec()))
}

fn assert_both(input: &[u8], blocks: &[&[u8]]) {
    assert_eq!(validate(blocks), first_error(input), "{input:02x?}");
    let whole = utf8::validate(input).err();
    let whole = whole.map(|error| (error.place, error.malformed.bytes().to_vec()));
    assert_eq!(whole, first_error(input), "{input:02x?}");
    let (passed, error) = run(Checker::new(), blocks);
    let refused = first_error(input);
    let whole = refused.as_ref().map_or(input.len() as u64, |(place, _)| place.offset);
    assert_eq!(passed.len() as u64, whole, "{input:02x?}");
    assert!(input.starts_with(&passed), "{input:02x?}");
    assert_eq!(error.map(|error| error.place), refused.map(|(place, _)| place), "{input:02x?}");
    let repaired = run(Repairer::new(Replacement::Character), blocks);
    assert_eq!(repaired.0, String::from_utf8_lossy(input).as_bytes(), "{input:02x?}");
    let dropped: String = input.utf8_chunks().map(|chunk| chunk.valid()).collect();
    assert_eq!(run(Repairer::new(Replacement::Nothing), blocks).0, dropped.as_bytes());
}

#[test]
fn checking_and_repairing_do_not_depend_on_where_the_stream_is_cut() {
    for seed in 0..20usize {
        // Later seeds use the first pieces, which are well-formed, so that errors come late.
        let pieces = if seed < 10 { PIECES } else { &PIECES[..5] };
        let mut text = mixture(pieces, 150, seed as u64);
        text.extend_from_slice(PIECES[5 + seed % 8]);
        for cut in 0..=text.len() {
            assert_both(&text, &[&text[..cut], &text[cut..]]);
        }
        assert_both(&text, &text.chunks(1).collect::<Vec<_>>());
        for length in 0..text.len() {
            assert_both(&text[..length], &[&text[..length]]);
        }
    }
}

/// A kernel looks at blocks of 64 bytes, and at pairs of neighbouring bytes by half a byte each.
#[test]
fn every_beginning_is_judged_at_each_place_around_the_end_of_a_kernels_block() {
    let edges = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE1, 0xF0];
    for lead in 0x80..=255 {
        for a in edges {
            for (b, c) in [(0x41, 0x41), (0x80, 0x41), (0x80, 0xBF), (0xBF, 0x80), (0xE1, 0x80)] {
                for place in [59, 60, 61, 62, 63, 64] {
                    let mut text = [b'\n'; 150];
                    text[place..place + 4].copy_from_slice(&[lead, a, b, c]);
                    assert_eq!(
                        validate(&[&text]),
                        first_error(&text),
                        "{place} {lead} {a} {b} {c}"
                    );
                }
            }
        }
    }
}

/// A kernel looks at less where a block of 256 bytes has only short characters, and counts lines in 3,584 bytes at a time.
#[test]
fn a_long_text_of_short_or_long_characters_is_judged_at_each_place_around_the_end_of_a_block() {
    let pieces: [&[u8]; 11] = [
        b"a",
        b"\n",
        "ж".as_bytes(),
        "漢".as_bytes(),
        "𝄞".as_bytes(),
        b"\x80",
        b"\xC3",
        b"\xE6\xBC",
        b"\xED\xA0\x80",
        b"\xF0\x9D\x84",
        b"\xFF",
    ];
    for before in ["ab\nd", "жи\n", "漢\n", "𝄞\n", "a\u{301}"] {
        for after in ["abc\n", "ж\n", "漢\n"] {
            let ends = [256, 512, 3_584, 3_840];
            for place in ends.iter().flat_map(|end| end - 5..end + 4) {
                for piece in pieces {
                    let mut text = before.repeat(place / before.len()).into_bytes();
                    text.resize(place, b'.');
                    text.extend_from_slice(piece);
                    text.extend_from_slice(after.repeat(150).as_bytes());
                    assert_eq!(
                        validate(&[&text]),
                        first_error(&text),
                        "{before} {place} {piece:02x?}"
                    );
                    assert_eq!(utf8::validate(&text).is_ok(), first_error(&text).is_none());
                }
            }
        }
    }
}

#[test]
fn lines_are_counted_through_blocks_of_any_kind() {
    for line in
        ["\n", "a\n", "some text of one line, with a few words\n", "ж\n", "строка\n", "漢字\n"]
    {
        for bytes in [300, 5_000, 20_000] {
            let block = line.repeat(bytes / line.len()).into_bytes();
            let blocks = [&block[..], "ж\n".as_bytes(), &block, b"1\n2\n\xFF"];
            assert_eq!(validate(&blocks), first_error(&blocks.concat()), "{line:?} {bytes}");
        }
    }
}

/// Checks the examples of the WHATWG Encoding Standard and of The Unicode Standard, table 3-8 to 3-11 (section 3.9,
/// "U+FFFD Substitution of Maximal Subparts").
#[test]
fn sequences_are_replaced_as_the_unicode_standard_shows() {
    let repaired = |bytes: &[u8]| {
        String::from_utf8(run(Repairer::new(Replacement::Character), &[bytes]).0).unwrap()
    };
    let r = |count| "\u{FFFD}".repeat(count);
    assert_eq!(repaired(b"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r(8) + "A");
    assert_eq!(repaired(b"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r(8) + "A");
    assert_eq!(repaired(b"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r(5) + "A" + &r(2) + "B");
    assert_eq!(repaired(b"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r(4) + "A");
}

#[test]
fn an_error_says_where_and_what() {
    let mut validator = Validator::new();
    validator.push("erste\nzwölf \u{1D11E}".as_bytes()).unwrap();
    let error = validator.push(b"\xE2\x82\n").unwrap_err();
    assert_eq!(error.to_string(), "byte 18, line 2, column 8: invalid UTF-8: E2 82");
}

proptest! {
    #[test]
    fn any_bytes_in_any_blocks_agree_with_the_standard_library(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80..=0xF5u8, 0x20..0x7Fu8], 0..200),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(bytes.len() + 1);
        assert_both(&bytes, &[&bytes[..cut], &bytes[cut..]]);
    }
}
