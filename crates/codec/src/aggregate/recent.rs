//! The groups of recent keys, found without decoding the keys.

use crate::json::query::Value;

/// How many keys are remembered, as bits of the index.
const BITS: u32 = 8;

/// The text of one value, or of two, in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    words: [u64; 4],
    lengths: [u8; 2],
}

/// Length that stands for a missing value.
const MISSING: u8 = u8::MAX;

impl Text {
    /// Takes one value of at most 32 bytes, or two of at most 16. The words and the lengths tell the texts.
    #[inline]
    pub(super) fn of(values: &[Option<Value<'_>>]) -> Option<Self> {
        match values {
            [Some(value)] if value.text.len() > 16 => {
                let (first, last) = (value.text.first_chunk()?, value.text.last_chunk::<16>()?);
                let length = u8::try_from(value.text.len()).ok().filter(|length| *length <= 32)?;
                let ([one, two], [three, four]) = (halves(first), halves(last));
                Some(Self { words: [one, two, three, four], lengths: [length, 0] })
            }
            [value] => {
                let ([one, two], length) = short(*value)?;
                Some(Self { words: [one, two, 0, 0], lengths: [length, 0] })
            }
            [value, other] => {
                let (([one, two], length), ([three, four], other)) =
                    (short(*value)?, short(*other)?);
                Some(Self { words: [one, two, three, four], lengths: [length, other] })
            }
            _ => None,
        }
    }

    #[inline]
    fn index(&self) -> usize {
        /// A number without a pattern (the digits of the golden ratio).
        const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
        let [one, two, three, four] = self.words;
        let both = one ^ two.rotate_left(29) ^ three.rotate_left(7) ^ four.rotate_left(43);
        (both.wrapping_mul(MIX) >> (u64::BITS - BITS)) as usize
    }
}

#[inline]
fn halves(bytes: &[u8; 16]) -> [u64; 2] {
    let (halves, _) = bytes.as_chunks::<8>();
    [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])]
}

/// Returns the first and the last bytes of a value of at most 16 bytes, and its length.
#[inline]
fn short(value: Option<Value<'_>>) -> Option<([u64; 2], u8)> {
    let Some(Value { text }) = value else { return Some(([0, 0], MISSING)) };
    let length = u8::try_from(text.len()).ok().filter(|length| *length <= 16)?;
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        return Some(([u64::from_le_bytes(*first), u64::from_le_bytes(*last)], length));
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        return Some((
            [u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()],
            length,
        ));
    }
    let word = text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Some(([word, 0], length))
}

/// The groups of recent keys.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    entries: Box<[(Text, Option<u32>)]>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { entries: vec![(Text::default(), None); 1 << BITS].into_boxed_slice() }
    }
}

impl Recent {
    /// Returns the group of a key if it is remembered.
    #[inline]
    pub(super) fn get(&self, text: &Text) -> Option<u32> {
        let (kept, group) = &self.entries[text.index()];
        if kept == text { *group } else { None }
    }

    /// Remembers the group of a key instead of another one.
    #[inline]
    pub(super) fn set(&mut self, text: Text, group: u32) {
        self.entries[text.index()] = (text, Some(group));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_are_told_apart_at_every_length_and_place() {
        let value = |text: &'static str| Some(Value::new(text.as_bytes()));
        let long = "\"abcdefghijklmnopqrstuvwxyz012345\"";
        let mut texts = HashSet::new();
        let mut count = 0;
        let mut see = |values: &[Option<Value<'_>>]| {
            if let Some(Text { words, lengths }) = Text::of(values) {
                assert!(texts.insert((words, lengths, values.len())), "{values:?}");
                count += 1;
            }
        };
        for length in 1..=33 {
            for changed in 0..length {
                let mut text = long.as_bytes()[..length].to_vec();
                text[changed] = b'#';
                see(&[Some(Value::new(&text))]);
                see(&[Some(Value::new(&text)), value("1")]);
                see(&[value("12"), Some(Value::new(&text))]);
            }
        }
        see(&[None]);
        see(&[None, value("1")]);
        see(&[value("1"), None]);
        see(&[None, None]);
        assert_eq!(count, 32 * 33 / 2 + 2 * (16 * 17 / 2) + 4);
    }
}
