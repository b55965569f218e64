//! The second opinion: `ripmors`. Every difference is listed, with its reason.

use fullbore_codec::morse::naive;

/// Characters that we encode otherwise. `!`, `Ð` and `」` are what the change log of ripmors 0.2.0 corrects; `Ż` is in
/// the table of differences in the documentation of `morse`.
const ENCODED_OTHERWISE: &str = "!ÐðŻż」";

#[test]
fn whatever_the_peer_encodes_we_encode_alike() {
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
fn text_is_laid_out_as_the_peer_does() {
    for text in ["one line\nand  another\tline", " a\n\n b \r\n", "\n", "x y", "", "\t\ta"] {
        let theirs = ripmors::encode_string(text);
        let (ours, error) = naive::encode(text.as_bytes(), Default::default());
        assert_eq!((ours, error), (theirs.into_bytes(), None), "{text:?}");
    }
}
