//! What can be wrong with JSON.

use std::fmt;

use super::MOST_DEPTH;
use crate::place::Place;

/// Where a stream stops being a sequence of JSON documents, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The first byte with which no valid stream can continue; the end of the stream if it only ends too early.
    pub place: Place,
    /// What is wrong there.
    pub cause: Cause,
}

/// Why a byte cannot continue a valid stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The stream ends within a document.
    End,
    /// A value must be here.
    Value,
    /// A value or the end of the array must be here.
    ValueOrEnd,
    /// The name of a member must be here.
    Key,
    /// The name of a member or the end of the object must be here.
    KeyOrEnd,
    /// The colon after the name of a member must be here.
    Colon,
    /// A comma or the end of the array must be here.
    NextInArray,
    /// A comma or the end of the object must be here.
    NextInObject,
    /// A number or literal outside of arrays and objects is not followed by white space or another document.
    Separator,
    /// It begins like `true`, `false` or `null`, but goes on differently.
    Literal,
    /// A number that JSON does not allow.
    Number,
    /// A backslash before a character that has no escape.
    Escape,
    /// `\u` without four hexadecimal digits.
    Hexadecimal,
    /// Half of a surrogate pair (`\uD800` to `\uDFFF`) without the other half.
    Surrogate,
    /// A character below U+0020 within a string.
    Control,
    /// Invalid UTF-8 within a string.
    Utf8,
    /// More than [`MOST_DEPTH`] arrays and objects around a value.
    TooDeep,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::End => "the input ends within a document",
            Self::Value => "expected a value",
            Self::ValueOrEnd => "expected a value or ]",
            Self::Key => "expected a name in double quotes",
            Self::KeyOrEnd => "expected a name in double quotes or }",
            Self::Colon => "expected :",
            Self::NextInArray => "expected , or ]",
            Self::NextInObject => "expected , or }",
            Self::Separator => "expected white space after a number or literal",
            Self::Literal => "expected true, false or null",
            Self::Number => "invalid number",
            Self::Escape => "invalid escape in a string",
            Self::Hexadecimal => "expected four hexadecimal digits after \\u",
            Self::Surrogate => "half of a surrogate pair in a string",
            Self::Control => "control character in a string",
            Self::Utf8 => "invalid UTF-8 in a string",
            Self::TooDeep => return write!(f, "nested more than {MOST_DEPTH} deep"),
        };
        f.write_str(text)
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

impl std::error::Error for JsonError {}
