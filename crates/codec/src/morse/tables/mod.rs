//! The codes, one readable table a script. Everything else (look-up pages, decoding trees) is computed from these.
//!
//! A row is `(characters, code)`: the first character is what decoding gives, all of them encode to the code. A code of
//! several signs is written with spaces.

mod arabic;
mod cyrillic;
mod greek;
mod hebrew;
mod international;
mod skats;
mod wabun;

use super::Alphabet;

/// Characters that share a code, the one that decoding gives first.
pub(super) type Row = (&'static str, &'static str);

/// Tables that decode as well as encode, in the order in which they are asked.
pub(super) fn decoded(alphabet: Alphabet) -> [&'static [Row]; 3] {
    let (letters, own): (&'static [Row], &'static [Row]) = match alphabet {
        Alphabet::Latin => (international::LETTERS, international::EXTENSIONS),
        Alphabet::Greek => (greek::LETTERS, &[]),
        Alphabet::Russian => (cyrillic::LETTERS, cyrillic::PUNCTUATION),
        Alphabet::Hebrew => (hebrew::LETTERS, &[]),
        Alphabet::Arabic => (arabic::LETTERS, &[]),
        Alphabet::Japanese => (wabun::LETTERS, &[]),
        Alphabet::Korean => (skats::LETTERS, &[]),
    };
    [letters, own, international::FIGURES_AND_PUNCTUATION]
}

/// Tables that encode, in the order in which they are asked. No character is in two of them.
pub(super) const ENCODED: &[&[Row]] = &[
    international::LETTERS,
    international::FIGURES_AND_PUNCTUATION,
    international::EXTENSIONS,
    international::ALSO,
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

pub(super) use skats::syllable;
