//! Tests decoding: every kernel matches the naive version, whatever the length, alignment and split.

use fullbore_codec::Place;
use fullbore_codec::morse::{Alphabet, DecodeCause, DecodeError, Decoder, OnError, naive};
use proptest::prelude::*;

use crate::support::{Outcome, mixture, run};
use crate::tiers;

const MODES: [OnError; 3] = [OnError::Fail, OnError::Replace, OnError::Skip];

/// Sets of pieces, from tame to hostile; a kernel runs through the tame ones without stopping.
const PIECES: [&[&[u8]]; 6] = [
    &[b". ", b"- ", b"-.- ", b".-.. ", b"..- ", b"... / ", b"-.\n", b".--. ", b"/ ", b"--. -\r\n"],
    &[
        b"-.- ", b".-..-. ", b".-.-.- ", b"--..-- ", b".-- / ", b"-..-\n", b" ", b"_.._ ",
        b"....\t", b"---..",
    ],
    &[b".-.- ", b"---. ", b"..-.. ", b". ", b"--.- ", b"..--\n", b"/", b".---- ", b"/.-/"],
    &[
        b". ",
        b"\n\n",
        b"/",
        b" ",
        b"-",
        b".-",
        b"...-..- ",
        b"-.-.-.-. ",
        b"--------.-------- ",
        b"......... ",
    ],
    &[
        b".- ",
        "·− ".as_bytes(),
        "•–".as_bytes(),
        b"x",
        b"\xFF",
        b"\xE2\x80",
        b"....--- ",
        b"-. ",
        "я".as_bytes(),
        b"\n",
    ],
    // Voicing marks after kana and after others, and parentheses that are open at the end of a line.
    &[
        b".-.. ",
        b".. ",
        b"..--. ",
        b"-... ",
        b"-.--.- ",
        b". .. ",
        b"-.--. ",
        b"\n",
        b"/ ",
        b".- -.- --.-. .. ... ---- ",
        b"..-\n",
    ],
];

/// Compares every kernel with the naive version, for all alphabets and all ways to handle errors.
fn assert_agreement(input: &[u8], blocks: &[&[u8]], what: &str) {
    for alphabet in Alphabet::ALL {
        for mode in MODES {
            let expected: Outcome<DecodeError> = naive::decode(input, alphabet, mode);
            for tier in tiers::tested() {
                let outcome = run(Decoder::new(tier, alphabet, mode), blocks);
                assert_eq!(outcome, expected, "{tier} {alphabet} {mode} {what}");
            }
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle_on_every_length() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 300, seed as u64);
        for length in 0..=text.len() {
            assert_agreement(&text[..length], &[&text[..length]], &format!("{seed} {length}"));
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle_at_every_alignment() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        for start in 0..64 {
            let text = mixture(pieces, 700 + start, 100 + seed as u64);
            assert_agreement(&text[start..], &[&text[start..]], &format!("{seed} {start}"));
        }
    }
}

#[test]
fn the_output_does_not_depend_on_where_the_stream_is_cut() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 280, 200 + seed as u64);
        for cut in 0..=text.len() {
            assert_agreement(&text, &[&text[..cut], &text[cut..]], &format!("{seed} {cut}"));
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_agreement(&text, &bytes, &format!("{seed} byte by byte"));
    }
}

#[test]
fn long_texts_agree_with_the_oracle() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 10_000, 300 + seed as u64);
        assert_agreement(&text, &[&text], &format!("{seed}"));
    }
}

#[test]
fn a_gap_ends_a_letter_with_and_without_spaces_around_it() {
    for tier in tiers::tested() {
        let decode = |code: &[u8]| run(Decoder::new(tier, Alphabet::Latin, OnError::Fail), &[code]);
        assert_eq!(decode(b".-/-..."), (b"A B".into(), None));
        assert_eq!(decode(b".- / -..."), (b"A B".into(), None));
        assert_eq!(decode(b" .-\n\n-...  "), (b"A\n\nB".into(), None));
        assert_eq!(decode("·– ._ •−".as_bytes()), (b"AAA".into(), None));
    }
}

#[test]
fn an_error_says_where_and_what() {
    for tier in tiers::tested() {
        let decode =
            |blocks: &[&[u8]]| run(Decoder::new(tier, Alphabet::Latin, OnError::Fail), blocks);
        let (output, error) = decode(&[b".-\n-... .-.-", b".-.", b".- ..."]);
        assert_eq!(output, b"A\nB");
        let error = error.unwrap();
        assert_eq!(error.place, Place { offset: 8, line: 2, column: 6 });
        assert_eq!(error.to_string(), "byte 9, line 2, column 6: unknown sign .-.-.-..-");
        let (output, error) = decode(&[".- ·•я".as_bytes()]);
        assert_eq!(output, b"AI");
        assert_eq!(error.unwrap().cause, DecodeCause::NotMorse('я'));
        assert_eq!(
            error.unwrap().to_string(),
            "byte 9, line 1, column 6: 'я' (U+044F) is not Morse code"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn anything_in_any_blocks_decodes_as_the_oracle_says(
        code in "[-._ /\n·x]{0,300}",
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(code.len() + 1);
        assert_agreement(code.as_bytes(), &[&code.as_bytes()[..cut], &code.as_bytes()[cut..]], "");
    }
}
