//! Values as they are kept: a kind and bytes.

use std::cmp::Ordering;

use crate::few;
use crate::json::query::{Kind, Number, Value, minify};

/// A value of a group's key, or one that an aggregate found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// What it is; nothing if it is missing.
    pub kind: Option<Kind>,
    /// The decoded text of a string, the text of a number, the text of an array or object without white space; otherwise
    /// nothing.
    pub text: &'a [u8],
}

impl Item<'_> {
    /// A value that is not there.
    pub const MISSING: Self = Self { kind: None, text: &[] };

    /// Appends the item as a tag for its kind and its text.
    pub(super) fn push_to(self, bytes: &mut Vec<u8>) {
        bytes.push(tag(self.kind));
        few::append(bytes, self.text);
    }
}

impl<'a> Item<'a> {
    /// Reads what [`push_to`](Self::push_to) wrote.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Self {
        match bytes {
            [tag, text @ ..] => Self { kind: kind(*tag), text },
            [] => Item::MISSING,
        }
    }
}

impl Ord for Item<'_> {
    /// Missing values come first, then null, false, true, numbers by value, strings, arrays and objects by their bytes. Equal
    /// numbers are sorted by their text, so that only the same item is equal.
    fn cmp(&self, other: &Self) -> Ordering {
        let kinds = self.kind.cmp(&other.kind);
        let texts = || self.text.cmp(other.text);
        if kinds.is_eq() && self.kind == Some(Kind::Number) {
            return Number::new(self.text).cmp(&Number::new(other.text)).then_with(texts);
        }
        kinds.then_with(texts)
    }
}

impl PartialOrd for Item<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Appends the kind of a value as a tag, and its bytes as an [`Item`] has them.
#[inline]
pub(super) fn push_value(value: Option<Value<'_>>, bytes: &mut Vec<u8>) {
    let Some(value) = value else { return bytes.push(tag(None)) };
    let kind = value.kind();
    bytes.push(tag(Some(kind)));
    match kind {
        Kind::Null | Kind::False | Kind::True => {}
        Kind::Number => few::append(bytes, value.text),
        Kind::String => few::append(bytes, &value.decoded()),
        Kind::Array | Kind::Object => minify(value.text, bytes),
    }
}

fn tag(kind: Option<Kind>) -> u8 {
    match kind {
        None => 0,
        Some(Kind::Null) => 1,
        Some(Kind::False) => 2,
        Some(Kind::True) => 3,
        Some(Kind::Number) => 4,
        Some(Kind::String) => 5,
        Some(Kind::Array) => 6,
        Some(Kind::Object) => 7,
    }
}

fn kind(tag: u8) -> Option<Kind> {
    use Kind::{Array, False, Null, Number, Object, String, True};
    [Null, False, True, Number, String, Array, Object]
        .get(usize::from(tag).checked_sub(1)?)
        .copied()
}
