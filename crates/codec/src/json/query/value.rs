//! Values, in text that is known to be JSON.

use std::borrow::Cow;
use std::ops::Range;

use super::skip::{skip_space, skip_value};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number, kept as its text.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Which member counts if a name occurs more than once in an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The last one.
    #[default]
    Last,
    /// The first one.
    First,
    /// None: it is an error.
    Refuse,
}

/// A name occurs a second time, at this offset of the value, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Bytes before the second.
    pub at: usize,
}

/// The text of one value, which is valid JSON and has no white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The text.
    pub text: &'a [u8],
}

impl<'a> Value<'a> {
    /// Takes a text that is one whole value. Of another text, the methods return something, but nothing of use.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    /// Returns what the value is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.text.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Returns the decoded text of a string; of any other value its text as it stands.
    #[must_use]
    pub fn decoded(self) -> Cow<'a, [u8]> {
        let [b'"', inside @ .., b'"'] = self.text else { return Cow::Borrowed(self.text) };
        if memchr::memchr(b'\\', inside).is_none() {
            return Cow::Borrowed(inside);
        }
        Cow::Owned(unescaped(inside))
    }

    /// Returns the members of an object, as ranges of its text: each name with its quotes, and each value.
    pub fn members(self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + use<'a> {
        let text = if self.kind() == Kind::Object { self.text } else { &[] };
        let mut at = 1;
        std::iter::from_fn(move || {
            let name = next_value(text, at)?;
            let value = next_value(text, name.end)?;
            at = value.end;
            Some((name, value))
        })
    }

    /// Returns the elements of an array, as ranges of its text.
    pub fn elements(self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let text = if self.kind() == Kind::Array { self.text } else { &[] };
        let mut at = 1;
        std::iter::from_fn(move || {
            let element = next_value(text, at)?;
            at = element.end;
            Some(element)
        })
    }

    /// Returns where in the text the value of the member with this name is; the name is compared decoded.
    ///
    /// # Errors
    /// [`Repeated`], if that is to be an error.
    pub fn member(
        self,
        name: &str,
        duplicates: Duplicates,
    ) -> Result<Option<Range<usize>>, Repeated> {
        let mut found = None;
        for (range, value) in self.members() {
            if !is_name(&self.text[range.clone()], name.as_bytes()) {
                continue;
            }
            if found.is_some() && duplicates == Duplicates::Refuse {
                return Err(Repeated { at: range.start });
            }
            found = Some(value);
            if duplicates == Duplicates::First {
                break;
            }
        }
        Ok(found)
    }
}

/// Returns whether a string with its quotes is this name.
#[inline]
pub(super) fn is_name(text: &[u8], name: &[u8]) -> bool {
    let inside = &text[1..text.len() - 1];
    if inside == name {
        // A backslash in the text is not one in the name.
        return !name.contains(&b'\\');
    }
    // An escape is longer than what it stands for.
    inside.len() > name.len() && *Value::new(text).decoded() == *name
}

/// Returns the next value or name after a separator.
fn next_value(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mut begin = skip_space(text, at);
    if let Some(b',' | b':') = text.get(begin) {
        begin = skip_space(text, begin + 1);
    }
    if let None | Some(b']' | b'}') = text.get(begin) {
        return None;
    }
    Some(begin..skip_value(text, begin)?)
}

/// Decodes the text between the quotes of a string.
fn unescaped(inside: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(inside.len());
    append_unescaped(inside, &mut decoded);
    decoded
}

/// Appends the decoded text between the quotes of a string.
pub(super) fn append_unescaped(inside: &[u8], decoded: &mut Vec<u8>) {
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        decoded.extend_from_slice(&rest[..at]);
        let letter = rest.get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or_default();
        match letter {
            b'b' => decoded.push(8),
            b'f' => decoded.push(12),
            b'n' => decoded.push(b'\n'),
            b'r' => decoded.push(b'\r'),
            b't' => decoded.push(b'\t'),
            b'u' => {
                let first = hexadecimal(rest);
                rest = rest.get(4..).unwrap_or_default();
                let mut code = first;
                if first & 0xFC00 == 0xD800 {
                    let second = hexadecimal(rest.get(2..).unwrap_or_default());
                    rest = rest.get(6..).unwrap_or_default();
                    code = 0x1_0000 + ((first & 0x3FF) << 10 | second & 0x3FF);
                }
                let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => decoded.push(other),
        }
    }
    decoded.extend_from_slice(rest);
}

fn hexadecimal(digits: &[u8]) -> u32 {
    let digits = digits.iter().take(4);
    digits.fold(0, |code, digit| code << 4 | char::from(*digit).to_digit(16).unwrap_or(0))
}
