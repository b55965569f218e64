//! The codes, one readable table a script. Everything else (look-up pages, decoding trees) is computed from these.
//!
//! A row is `(characters, code)`: decoding gives the first character, and all of them encode to the code. Spaces
//! separate the signs of a longer code.

mod arabic;
mod cyrillic;
mod greek;
mod hebrew;
mod international;
mod row;
mod skats;
mod wabun;

use super::Alphabet;
use row::Row;

/// Returns the tables that decode as well as encode, in the order of look-up.
pub(super) fn decoded(alphabet: Alphabet) -> [&'static [Row]; 3] {
    let (letters, own): (&'static [Row], &'static [Row]) = match alphabet {
        Alphabet::Latin => (international::LETTERS, international::EXTENSIONS),
        Alphabet::Greek => (greek::LETTERS, &[]),
        Alphabet::Russian => (cyrillic::LETTERS, &[]),
        Alphabet::RussianTelegraph => (cyrillic::LETTERS, cyrillic::TELEGRAPH),
        Alphabet::Hebrew => (hebrew::LETTERS, &[]),
        Alphabet::Arabic => (arabic::LETTERS, &[]),
        Alphabet::Japanese => (wabun::LETTERS, &[]),
        Alphabet::Korean => (skats::LETTERS, &[]),
    };
    [letters, own, international::FIGURES_AND_PUNCTUATION]
}

/// Returns the tables of an alphabet that only encode.
fn also(alphabet: Alphabet) -> [&'static [Row]; 2] {
    match alphabet {
        Alphabet::Latin => [international::ALSO, international::WORDS],
        Alphabet::Greek => [greek::ALSO, &[]],
        Alphabet::Russian | Alphabet::RussianTelegraph => [cyrillic::ALSO, &[]],
        Alphabet::Hebrew => [&[], &[]],
        Alphabet::Arabic => [arabic::ALSO, &[]],
        Alphabet::Japanese => [wabun::VOICED, &[]],
        Alphabet::Korean => [skats::ALSO, &[]],
    }
}

/// Returns the tables that encode: those of an alphabet in the order of look-up, or those of all scripts, which contain
/// no character twice.
pub(super) fn encoded(alphabet: Option<Alphabet>) -> Vec<&'static [Row]> {
    match alphabet {
        Some(alphabet) => decoded(alphabet).into_iter().chain(also(alphabet)).collect(),
        None => EVERY_SCRIPT.to_vec(),
    }
}

const EVERY_SCRIPT: &[&[Row]] = &[
    international::LETTERS,
    international::FIGURES_AND_PUNCTUATION,
    international::EXTENSIONS,
    international::ALSO,
    international::WORDS,
    greek::LETTERS,
    greek::ALSO,
    cyrillic::LETTERS,
    cyrillic::ALSO,
    hebrew::LETTERS,
    arabic::LETTERS,
    arabic::ALSO,
    wabun::LETTERS,
    wabun::VOICED,
    skats::LETTERS,
    skats::ALSO,
];

/// Returns the characters that spell a character: `0/0` for `%`, the letters of a Hangul syllable.
pub(super) fn spelling(character: char) -> Option<String> {
    let mut spelled = international::SPELLED.iter();
    let spelling = spelled.find(|(spelled, _)| *spelled == character);
    spelling.map(|(_, by)| (*by).to_owned()).or_else(|| {
        let jamo = syllable(character).or_else(|| Some([skats::joined(character), None, None]))?;
        Some(jamo.into_iter().flatten().collect()).filter(|jamo: &String| !jamo.is_empty())
    })
}

/// Lists every character that [`spelling`] may know, without the syllables.
pub(super) fn spelled() -> impl Iterator<Item = char> {
    international::SPELLED.iter().map(|(spelled, _)| *spelled).chain('\u{1100}'..='\u{11FF}')
}

/// The sign of the Russian telegraph code for either parenthesis.
pub(super) use cyrillic::PARENTHESIS;
pub(super) use skats::syllable;
