//! Names alphabets, and ways to handle errors.

use std::fmt;
use std::str::FromStr;

/// An alphabet for Morse code: decoding gives its characters, and encoding accepts only these when asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// International Morse code with its Latin extensions.
    #[default]
    Latin,
    /// Greek.
    Greek,
    /// Russian letters, with the figures and marks of International Morse code.
    Russian,
    /// Russian letters, with the marks of the Russian telegraph code: a comma is `.-.-.-`, a full stop `......`.
    RussianTelegraph,
    /// Hebrew.
    Hebrew,
    /// Arabic.
    Arabic,
    /// Wabun code; decodes to Katakana.
    Japanese,
    /// SKATS; decodes to jamo.
    Korean,
}

impl Alphabet {
    /// All alphabets.
    pub const ALL: [Self; 8] = [
        Self::Latin,
        Self::Greek,
        Self::Russian,
        Self::RussianTelegraph,
        Self::Hebrew,
        Self::Arabic,
        Self::Japanese,
        Self::Korean,
    ];

    /// Returns the name that [`FromStr`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latin => "latin",
            Self::Greek => "greek",
            Self::Russian => "russian",
            Self::RussianTelegraph => "russian-telegraph",
            Self::Hebrew => "hebrew",
            Self::Arabic => "arabic",
            Self::Japanese => "japanese",
            Self::Korean => "korean",
        }
    }
}

/// How a stage handles input that has no counterpart in its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// Stop there, after writing everything before it.
    #[default]
    Fail,
    /// Write a stand-in: when encoding, the sign `..--..` (which ITU-R M.1677-1, 1.1.3 gives for "not understood");
    /// when decoding, U+FFFD.
    Replace,
    /// Leave it out.
    Skip,
}

/// The text is not the name of an [`Alphabet`] or of an [`OnError`].
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
            known: "latin, greek, russian, russian-telegraph, hebrew, arabic, japanese, korean",
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
