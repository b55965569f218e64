//! Compares with a second opinion, `ripmors`. Every difference is listed, with its reason.

use fullbore_codec::morse::{Alphabet, OnError, naive};

/// Characters that we encode differently. The change log of ripmors 0.2.0 corrects `!`, `Ð` and `」`; the table of
/// differences in the documentation of `morse` lists `Ż` and `Ъ`.
const ENCODED_OTHERWISE: &str = "!ÐðŻż」Ъъ";

/// Whether the peer works on this CPU; says so if not.
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
fn peer_is_right() -> bool {
    let is_right = cfg!(target_endian = "little");
    if !is_right {
        eprintln!("skipped: ripmors 0.1.0 mistakes characters on big-endian CPUs");
    }
    is_right
}

#[test]
fn we_encode_as_the_peer_does_except_for_listed_characters() {
    let mut compared = 0;
    for character in (' '..='\u{FFFF}').filter(|c| !ENCODED_OTHERWISE.contains(*c)) {
        let theirs = ripmors::encode_string(&character.to_string());
        if !theirs.is_empty() {
            compared += 1;
            assert_eq!(naive::code(character).as_deref(), Some(&*theirs), "{character}");
        }
    }
    assert!(compared > 600, "{compared}");
}

#[test]
fn we_follow_the_corrections_of_the_peer() {
    assert_eq!(naive::code('!').as_deref(), Some("-.-.--"));
    assert_eq!(naive::code('Ð').as_deref(), Some("..--."));
    assert_eq!(naive::code('。').as_deref(), Some(".-.-.."));
    assert_eq!(naive::code('」'), None);
}

#[test]
fn gaps_and_lines_are_written_as_the_peer_writes_them() {
    if !peer_is_right() {
        return;
    }
    for text in ["one line\nand  another\tline", " a\n\n b \r\n", "\n", "x y", "", "\t\ta"] {
        let theirs = ripmors::encode_string(text);
        let (ours, error) = naive::encode(text.as_bytes(), Default::default());
        assert_eq!((ours, error), (theirs.into_bytes(), None), "{text:?}");
    }
}

/// Compares with the peer's decoding tables, except the signs that its release 0.2.0, or we, decode differently.
#[test]
fn we_decode_as_the_peer_does_except_for_listed_signs() {
    type Decode = fn(u8) -> char;
    let alphabets: [(Alphabet, Decode, &str); 7] = [
        (Alphabet::Latin, ripmors::to_standard, "..--. --..-"),
        (Alphabet::Greek, ripmors::to_greek, ""),
        (Alphabet::RussianTelegraph, ripmors::to_russian, "..-.. -..- --.--"),
        (Alphabet::Hebrew, ripmors::to_hebrew, ""),
        (Alphabet::Arabic, ripmors::to_arabic, "-.- .."),
        (Alphabet::Japanese, ripmors::to_japanese, ".-.-.."),
        (Alphabet::Korean, ripmors::to_korean, ""),
    ];
    for (alphabet, decode, otherwise) in alphabets {
        let mut compared = 0;
        for index in 2..=255u8 {
            let elements = 7 - index.leading_zeros();
            let element = |bit: u32| if index >> bit & 1 == 1 { '-' } else { '.' };
            let sign: String = (0..elements).map(element).collect();
            let theirs = decode(index);
            if theirs != '\0' && !otherwise.split(' ').any(|other| other == sign) {
                compared += 1;
                assert_eq!(naive::character(&sign, alphabet), Some(theirs), "{alphabet} {sign}");
            }
        }
        assert!(compared >= 20, "{alphabet}: {compared}");
    }
}

#[test]
fn gaps_and_lines_are_read_as_the_peer_reads_them() {
    if !peer_is_right() {
        return;
    }
    let codes = [".- / -...", "... --- ...\n\n.-", " .", "", ".-  -...", "/ /", "-\t-\r\n"];
    for code in codes {
        let theirs = ripmors::decode_string(code.as_bytes(), ripmors::to_standard);
        let ours = naive::decode(code.as_bytes(), Alphabet::Latin, OnError::Fail);
        assert_eq!(ours, (theirs.into_bytes(), None), "{code:?}");
    }
}
