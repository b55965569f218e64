//! The oracle: what encoding and decoding mean, beyond doubt by reading. Slow; takes the whole input at once.

use super::error::{DecodeCause, DecodeError, Elements, EncodeCause, EncodeError};
use super::{Alphabet, OnError, tables};
use crate::place::Place;
use crate::utf8::Malformed;

/// The signs of a character, parted by spaces; `/` for a space.
#[must_use]
pub fn code(character: char) -> Option<String> {
    if matches!(character, ' ' | '\u{A0}' | '\u{3000}') {
        return Some("/".to_owned());
    }
    if let Some(jamo) = tables::syllable(character) {
        let codes: Vec<String> = jamo.into_iter().flatten().filter_map(code).collect();
        return Some(codes.join(" "));
    }
    let mut rows = tables::ENCODED.iter().copied().flatten();
    rows.find(|row| row.0.contains(character)).map(|row| row.1.to_owned())
}

/// The character of a sign.
#[must_use]
pub fn character(sign: &str, alphabet: Alphabet) -> Option<char> {
    let tables = tables::decoded(alphabet);
    let mut rows = tables.into_iter().flatten();
    rows.find(|row| row.1 == sign).and_then(|row| row.0.chars().next())
}

/// A piece of text: a character, or bytes that are none; and where it begins.
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

/// Encodes the whole of `input`; also returns the error at which it stopped.
#[must_use]
pub fn encode(input: &[u8], on_error: OnError) -> (Vec<u8>, Option<EncodeError>) {
    let mut output = Vec::new();
    let mut is_gap_owed = false;
    for (place, piece) in pieces(input) {
        let found = match piece {
            Ok(control @ ('\t' | '\n' | '\r')) => {
                output.push(control as u8);
                is_gap_owed = false;
                continue;
            }
            Ok(character) => code(character).ok_or(EncodeCause::NoCode(character)),
            Err(bytes) => Err(EncodeCause::Malformed(Malformed::new(bytes))),
        };
        let signs = match (found, on_error) {
            (Ok(signs), _) => signs,
            (Err(cause), OnError::Fail) => return (output, Some(EncodeError { place, cause })),
            (Err(_), OnError::Replace) => "..--..".to_owned(),
            (Err(_), OnError::Skip) => continue,
        };
        if is_gap_owed {
            output.push(b' ');
        }
        output.extend_from_slice(signs.as_bytes());
        is_gap_owed = true;
    }
    (output, None)
}

/// Decodes the whole of `input`; also returns the error at which it stopped.
#[must_use]
pub fn decode(
    input: &[u8],
    alphabet: Alphabet,
    on_error: OnError,
) -> (Vec<u8>, Option<DecodeError>) {
    let mut output = String::new();
    let mut sign = String::new();
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
        for result in letter.into_iter().chain(gap.filter(|_| index < end)) {
            match (result, on_error) {
                (Ok(character), _) => output.push(character),
                (Err(error), OnError::Fail) => return (output.into_bytes(), Some(error)),
                (Err(_), OnError::Replace) => output.push('\u{FFFD}'),
                (Err(_), OnError::Skip) => {}
            }
        }
    }
    (output.into_bytes(), None)
}
