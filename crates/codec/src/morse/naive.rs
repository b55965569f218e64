//! The naive version, simple enough to verify by reading: it defines what encoding and decoding mean, and the tests
//! compare with it. It is slow, and takes the whole input at once.

use std::ops::RangeInclusive;

use unicode_normalization::char::compose;

use super::error::{DecodeCause, DecodeError, Elements, EncodeCause, EncodeError};
use super::{Alphabet, OnError, tables};
use crate::place::Place;
use crate::utf8::Malformed;

/// Returns the signs of a character, separated by spaces; `/` for a space.
#[must_use]
pub fn code(character: char) -> Option<String> {
    code_in(None, character)
}

/// Returns the signs of a character that `alphabet` can give back; without an alphabet, of any character, by its
/// script.
#[must_use]
pub fn code_in(alphabet: Option<Alphabet>, character: char) -> Option<String> {
    if SPACES.contains(&character) {
        return Some("/".to_owned());
    }
    if let Some(spelling) = tables::spelling(character) {
        let codes = spelling.chars().map(|character| code_in(alphabet, character));
        return codes.collect::<Option<Vec<_>>>().map(|codes| codes.join(" "));
    }
    let mut rows = tables::encoded(alphabet).into_iter().flatten();
    let (characters, signs) = rows.find(|row| row.0.contains(character))?;
    let is_given_back = alphabet.is_none_or(|alphabet| {
        let given = |sign| self::character(sign, alphabet);
        signs.contains(' ') || given(signs).is_some_and(|given| is_like(given, characters))
    });
    is_given_back.then(|| (*signs).to_owned())
}

/// Tells whether a sign that decodes to `given` stands for a row of `characters`: the same, or the letter they are
/// forms of.
fn is_like(given: char, characters: &str) -> bool {
    characters.contains(given)
        || given.is_alphabetic() && characters.chars().all(char::is_alphabetic)
}

/// Characters that encode as a gap between words.
pub(super) const SPACES: [char; 5] = [' ', '\u{A0}', '\u{2009}', '\u{202F}', '\u{3000}'];

/// U+FEFF, which describes how a file is written and is no character of the text. The encoder skips it everywhere,
/// because joined files contain it in the middle.
pub(super) const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Tells whether a character changes the one before it, as accents do in decomposed text.
pub(super) fn is_mark(character: char) -> bool {
    MARKS.iter().any(|marks| marks.contains(&character))
}

/// Combining diacritical marks, and the Arabic ones that make letters.
pub(super) const MARKS: [RangeInclusive<char>; 2] = ['\u{300}'..='\u{36F}', '\u{653}'..='\u{655}'];

/// Returns the character that `base` and the `mark` after it make, if both it and the base have a code.
#[must_use]
pub(super) fn whole(alphabet: Option<Alphabet>, base: char, mark: char) -> Option<char> {
    let has_code = |character: char| code_in(alphabet, character).is_some();
    if !is_mark(mark) || !has_code(base) {
        return None;
    }
    compose(base, mark).filter(|whole| has_code(*whole))
}

/// Returns the character of a sign.
#[must_use]
pub fn character(sign: &str, alphabet: Alphabet) -> Option<char> {
    let tables = tables::decoded(alphabet);
    let mut rows = tables.into_iter().flatten();
    rows.find(|row| row.1 == sign).and_then(|row| row.0.chars().next())
}

/// A piece of text: a character or malformed bytes, and its position.
type Piece<'a> = (Place, Result<char, &'a [u8]>);

fn pieces(input: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut place = Place::default();
    for chunk in input.utf8_chunks() {
        for character in chunk.valid().chars() {
            pieces.push((place, Ok(character)));
            place = place.after(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if !chunk.invalid().is_empty() {
            pieces.push((place, Err(chunk.invalid())));
            place = place.after(chunk.invalid());
        }
    }
    pieces
}

/// Encodes the whole of `input`; also returns the error that stopped it.
#[must_use]
pub fn encode(input: &[u8], on_error: OnError) -> (Vec<u8>, Option<EncodeError>) {
    encode_in(None, input, on_error)
}

/// Does the same for the characters of one alphabet.
#[must_use]
pub fn encode_in(
    alphabet: Option<Alphabet>,
    input: &[u8],
    on_error: OnError,
) -> (Vec<u8>, Option<EncodeError>) {
    let mut output = Vec::new();
    let mut is_gap_owed = false;
    // The previous character, and where its signs begin.
    let mut last: Option<(char, usize)> = None;
    for (place, piece) in pieces(input) {
        let before = last.take();
        let found = match piece {
            Ok(BYTE_ORDER_MARK) => continue,
            Ok(control @ ('\t' | '\n' | '\r')) => {
                output.push(control as u8);
                is_gap_owed = false;
                continue;
            }
            Ok(character) => {
                if let Some((base, begin)) = before
                    && let Some(whole) = whole(alphabet, base, character)
                {
                    output.truncate(begin);
                    output.extend(code_in(alphabet, whole).unwrap_or_default().bytes());
                    last = Some((whole, begin));
                    continue;
                }
                code_in(alphabet, character).ok_or(EncodeCause::NoCode(character))
            }
            Err(bytes) => Err(EncodeCause::Malformed(Malformed::new(bytes))),
        };
        let signs = match (&found, on_error) {
            (Ok(signs), _) => signs,
            (Err(cause), OnError::Fail) => {
                return (output, Some(EncodeError { place, cause: *cause }));
            }
            (Err(_), OnError::Replace) => "..--..",
            (Err(_), OnError::Skip) => continue,
        };
        if is_gap_owed {
            output.push(b' ');
        }
        last = piece.ok().map(|character| (character, output.len()));
        output.extend_from_slice(signs.as_bytes());
        is_gap_owed = true;
    }
    (output, None)
}

/// Decodes the whole of `input`; also returns the error that stopped it.
#[must_use]
pub fn decode(
    input: &[u8],
    alphabet: Alphabet,
    on_error: OnError,
) -> (Vec<u8>, Option<DecodeError>) {
    let (output, error) = letters(input, alphabet, on_error);
    (if alphabet == Alphabet::Japanese { voiced(&output) } else { output }.into_bytes(), error)
}

/// Joins kana with the voicing marks after them into one character.
fn voiced(text: &str) -> String {
    let mut output = String::new();
    for character in text.chars() {
        let mark = match character {
            '゛' => Some('\u{3099}'),
            '゜' => Some('\u{309A}'),
            _ => None,
        };
        let base = output.chars().next_back();
        match mark.and_then(|mark| compose(base?, mark)) {
            Some(voiced) => {
                output.pop();
                output.push(voiced);
            }
            None => output.push(character),
        }
    }
    output
}

/// Tells whether a sign stands for an opening parenthesis and a closing one in turn.
pub(super) fn is_either_parenthesis(sign: &str, alphabet: Alphabet) -> bool {
    alphabet == Alphabet::RussianTelegraph && sign == tables::PARENTHESIS
}

/// Decodes without joining letters.
fn letters(input: &[u8], alphabet: Alphabet, on_error: OnError) -> (String, Option<DecodeError>) {
    let mut output = String::new();
    let mut sign = String::new();
    let mut is_open = false;
    let mut sign_place = Place::default();
    let mut pieces = pieces(input);
    let end = pieces.len();
    pieces.push((Place::default().after(input), Ok(' ')));
    for (index, (place, piece)) in pieces.into_iter().enumerate() {
        if let Ok(element @ ('.' | '·' | '•' | '-' | '_' | '−' | '–')) = piece {
            if sign.is_empty() {
                sign_place = place;
            }
            sign.push(if matches!(element, '.' | '·' | '•') { '.' } else { '-' });
            continue;
        }
        let letter = (!sign.is_empty()).then(|| {
            let mut elements = Elements::default();
            sign.bytes().for_each(|element| elements.push(element == b'-'));
            if is_either_parenthesis(&sign, alphabet) {
                is_open = !is_open;
                return Ok(if is_open { '(' } else { ')' });
            }
            character(&sign, alphabet)
                .ok_or(DecodeError { place: sign_place, cause: DecodeCause::UnknownSign(elements) })
        });
        sign.clear();
        let gap = match piece {
            Ok(' ') => None,
            Ok('/') => Some(Ok(' ')),
            Ok(control @ ('\t' | '\n' | '\r')) => Some(Ok(control)),
            Ok(other) => Some(Err(DecodeError { place, cause: DecodeCause::NotMorse(other) })),
            Err(bytes) => {
                let cause = DecodeCause::Malformed(Malformed::new(bytes));
                Some(Err(DecodeError { place, cause }))
            }
        };
        is_open &= piece != Ok('\n');
        for result in letter.into_iter().chain(gap.filter(|_| index < end)) {
            match (result, on_error) {
                (Ok(character), _) => output.push(character),
                (Err(error), OnError::Fail) => return (output, Some(error)),
                (Err(_), OnError::Replace) => output.push('\u{FFFD}'),
                (Err(_), OnError::Skip) => {}
            }
        }
    }
    (output, None)
}
