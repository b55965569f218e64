//! Names of alphabets, and what to do about errors.

use std::fmt;
use std::str::FromStr;

/// An alphabet to decode into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// International Morse code with its Latin extensions.
    #[default]
    Latin,
    /// Greek.
    Greek,
    /// Russian, with Russian punctuation.
    Russian,
    /// Hebrew.
    Hebrew,
    /// Arabic.
    Arabic,
    /// Wabun code; gives Katakana.
    Japanese,
    /// SKATS; gives jamo.
    Korean,
}

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Latin,
        Self::Greek,
        Self::Russian,
        Self::Hebrew,
        Self::Arabic,
        Self::Japanese,
        Self::Korean,
    ];

    /// The name that [`FromStr`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latin => "latin",
            Self::Greek => "greek",
            Self::Russian => "russian",
            Self::Hebrew => "hebrew",
            Self::Arabic => "arabic",
            Self::Japanese => "japanese",
            Self::Korean => "korean",
        }
    }
}

/// What a stage does about input that has no counterpart in its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// Stop there, with everything before it written.
    #[default]
    Fail,
    /// Write a stand-in: the sign `..--..` (which ITU-R M.1677-1, 1.1.3 gives for "not understood") when encoding, U+FFFD
    /// when decoding.
    Replace,
    /// Leave it out.
    Skip,
}

/// Not the name of an [`Alphabet`] or of an [`OnError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
    known: &'static str,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not one of {}", self.name, self.known)
    }
}

impl std::error::Error for UnknownName {}

impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Alphabet {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|alphabet| alphabet.name() == name).ok_or_else(|| UnknownName {
            name: name.to_owned(),
            known: "latin, greek, russian, hebrew, arabic, japanese, korean",
        })
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fail => "fail",
            Self::Replace => "replace",
            Self::Skip => "skip",
        })
    }
}

impl FromStr for OnError {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "fail" => Ok(Self::Fail),
            "replace" => Ok(Self::Replace),
            "skip" => Ok(Self::Skip),
            _ => Err(UnknownName { name: name.to_owned(), known: "fail, replace, skip" }),
        }
    }
}
