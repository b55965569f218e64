//! Tests encoding: every kernel matches the naive version, whatever the length, alignment and split.

use fullbore_codec::Place;
use fullbore_codec::morse::{Alphabet, EncodeCause, EncodeError, Encoder, OnError, naive};
use proptest::prelude::*;

use crate::support::{Outcome, mixture, run};
use crate::tiers;

const MODES: [OnError; 3] = [OnError::Fail, OnError::Replace, OnError::Skip];

/// Sets of pieces, from tame to hostile; a kernel runs through the tame ones without stopping.
const PIECES: [&[&[u8]]; 8] = [
    &[
        b"The quick ",
        b"brown fox",
        b"\n",
        b"jumps, over; 12 \"lazy\" dogs!\n",
        b"\r\n",
        b"\t",
        b" ",
    ],
    // Characters without a code at the beginning of lines, in a row, and among control characters.
    &[
        b"the longest of these pieces, plain words so far ",
        b"# heading\n",
        b"\n#",
        b"\n##a",
        b"\x01",
        b"\n\x1B[1m",
        b"~^",
        b"\t#\tx",
        b"\r\n",
        b"word",
    ],
    &[
        "Съешь же ещё ".as_bytes(),
        "этих, мягких".as_bytes(),
        b"\n",
        "ЁЖ Ы".as_bytes(),
        b" x ",
        b"\r\n",
    ],
    &[
        "いろはにほへと".as_bytes(),
        "ガギグパピ".as_bytes(),
        "ば".as_bytes(),
        "ぽ".as_bytes(),
        "、".as_bytes(),
        b"\n",
        b"a",
    ],
    &[
        "漢字".as_bytes(),
        "かな".as_bytes(),
        "ぶ".as_bytes(),
        b"\n",
        "𝄞".as_bytes(),
        "ß€é".as_bytes(),
        b"~^",
        b"ok ",
    ],
    &[
        b"100 %",
        "‰".as_bytes(),
        "…".as_bytes(),
        b"&",
        "한국어".as_bytes(),
        "Љ".as_bytes(),
        b"\n",
        b"plain text ",
        "אב ".as_bytes(),
    ],
    &[
        b"\xFF",
        b"\xE2\x82",
        b"\xF0\x9F\x92",
        b"\xC0\xAF",
        b"\xED\xA0\x80",
        b"\x80",
        b"fine text, ",
        "да".as_bytes(),
        b"\n",
        "が".as_bytes(),
    ],
    // Decomposed text, marks that fit nothing, byte order marks, letters of syllables.
    &[
        "e\u{301}".as_bytes(),
        "и\u{306}".as_bytes(),
        "ι\u{308}\u{301}".as_bytes(),
        "a\u{302}\u{303}".as_bytes(),
        "x\u{306}".as_bytes(),
        "\u{301}".as_bytes(),
        "\u{FEFF}".as_bytes(),
        "\u{1112}\u{1161}\u{11AB}".as_bytes(),
        "ا\u{654}".as_bytes(),
        b"plain words ",
        "слова ".as_bytes(),
        b"\n",
        b"\xCC",
        "☃".as_bytes(),
    ],
];

fn expected(input: &[u8], mode: OnError) -> Outcome<EncodeError> {
    naive::encode(input, mode)
}

#[test]
fn encoding_one_alphabet_agrees_with_the_oracle_wherever_the_stream_is_cut() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 120, 400 + seed as u64);
        for alphabet in Alphabet::ALL {
            for mode in MODES {
                let expected = naive::encode_in(Some(alphabet), &text, mode);
                for tier in tiers::tested() {
                    let encoder = || Encoder::of_alphabet(tier, alphabet, mode);
                    for cut in 0..=text.len() {
                        let outcome = run(encoder(), &[&text[..cut], &text[cut..]]);
                        assert_eq!(outcome, expected, "{tier} {alphabet} {mode} {seed} {cut}");
                    }
                    let bytes: Vec<&[u8]> = text.chunks(1).collect();
                    assert_eq!(run(encoder(), &bytes), expected, "{tier} {alphabet} {mode} {seed}");
                }
            }
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle_on_every_length() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 400, seed as u64);
        for mode in MODES {
            for length in 0..=text.len() {
                let input = &text[..length];
                let expected = expected(input, mode);
                for tier in tiers::tested() {
                    assert_eq!(
                        run(Encoder::new(tier, mode), &[input]),
                        expected,
                        "{tier} {mode} {length}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle_at_every_alignment() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        for start in 0..64 {
            let text = mixture(pieces, 1500 + start, 100 + seed as u64);
            let input = &text[start..];
            for mode in MODES {
                let expected = expected(input, mode);
                for tier in tiers::tested() {
                    assert_eq!(
                        run(Encoder::new(tier, mode), &[input]),
                        expected,
                        "{tier} {mode} {start}"
                    );
                }
            }
        }
    }
}

/// Every text of up to four of these bytes: a letter, one that takes a mark, a mark, and beginnings of characters.
#[test]
fn no_short_text_depends_on_where_it_is_cut() {
    const BYTES: [u8; 7] = [b'J', b'e', 0xCC, 0x81, 0xCD, 0xE8, b'\n'];
    let mut texts = vec![vec![]];
    for length in 0..4 {
        let longer = texts.iter().filter(|text: &&Vec<u8>| text.len() == length);
        let longer = longer.flat_map(|text| BYTES.map(|byte| [&text[..], &[byte]].concat()));
        texts.extend(longer.collect::<Vec<_>>());
    }
    for text in &texts {
        for mode in MODES {
            let expected = expected(text, mode);
            for tier in tiers::tested() {
                for cut in 0..=text.len() {
                    let outcome = run(Encoder::new(tier, mode), &[&text[..cut], &text[cut..]]);
                    assert_eq!(outcome, expected, "{tier} {mode} {text:x?} {cut}");
                }
            }
        }
    }
}

#[test]
fn the_output_does_not_depend_on_where_the_stream_is_cut() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 300, 200 + seed as u64);
        for mode in MODES {
            let expected = expected(&text, mode);
            for tier in tiers::tested() {
                for cut in 0..=text.len() {
                    let blocks = [&text[..cut], &text[cut..]];
                    assert_eq!(
                        run(Encoder::new(tier, mode), &blocks),
                        expected,
                        "{tier} {mode} {cut}"
                    );
                }
                let bytes: Vec<&[u8]> = text.chunks(1).collect();
                assert_eq!(
                    run(Encoder::new(tier, mode), &bytes),
                    expected,
                    "{tier} {mode} byte by byte"
                );
            }
        }
    }
}

#[test]
fn long_texts_pass_the_stages_of_a_kernel() {
    for (seed, pieces) in PIECES.iter().enumerate() {
        let text = mixture(pieces, 20_000, 300 + seed as u64);
        for mode in MODES {
            let expected = expected(&text, mode);
            for tier in tiers::tested() {
                assert_eq!(
                    run(Encoder::new(tier, mode), &[&text]),
                    expected,
                    "{tier} {mode} {seed}"
                );
            }
        }
    }
}

#[test]
fn an_error_says_where_and_what() {
    for tier in tiers::tested() {
        let text = "ab\nзнак ~ тут".as_bytes();
        let (output, error) = run(Encoder::new(tier, OnError::Fail), &[text]);
        assert_eq!(output, b".- -...\n--.. -. .- -.- /");
        let place = Place { offset: 12, line: 2, column: 6 };
        assert_eq!(error, Some(EncodeError { place, cause: EncodeCause::NoCode('~') }));
        assert_eq!(
            error.unwrap().to_string(),
            "byte 13, line 2, column 6: no Morse code for '~' (U+007E)"
        );
        let (output, error) = run(Encoder::new(tier, OnError::Fail), &[b"e\xE2\x82", b"!"]);
        assert_eq!(output, b".");
        assert_eq!(error.unwrap().to_string(), "byte 2, line 1, column 2: invalid UTF-8: E2 82");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_in_any_blocks_encodes_as_the_oracle_says(
        text in prop_oneof![".*", "[ -~\n]{0,400}", "[а-яЁ \n,.]{0,200}", "[ぁ-ヾ。、\n]{0,150}", "[aeийιυ\u{300}-\u{308}\u{342}\u{FEFF} \n]{0,200}"],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        mode in prop::sample::select(MODES.to_vec()),
    ) {
        let text = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let blocks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        for tier in tiers::tested() {
            prop_assert_eq!(run(Encoder::new(tier, mode), &blocks), expected(text, mode));
        }
    }
}
