//! The key of a group: one item for each part, in bytes that are equal if the items are.

use super::item::{Item, push_value};
use crate::json::query::Value;

/// Length from which on a part has its length in 8 bytes behind this mark, and not in one.
const LONG: u8 = u8::MAX;

const LONG_BYTES: usize = size_of::<u64>();

/// Writes the key of these values to `key`. The last part ends with the key; in front of each other part is its length.
#[inline]
pub(super) fn write(values: &[Option<Value<'_>>], key: &mut Vec<u8>) {
    key.clear();
    let Some((last, others)) = values.split_last() else { return };
    for value in others {
        push_part(*value, key);
    }
    push_value(*last, key);
}

fn push_part(value: Option<Value<'_>>, key: &mut Vec<u8>) {
    let at = key.len();
    key.push(0);
    push_value(value, key);
    let length = key.len() - at - 1;
    match u8::try_from(length) {
        Ok(short) if short != LONG => key[at] = short,
        _ => {
            key[at] = LONG;
            key.splice(at + 1..at + 1, (length as u64).to_le_bytes());
        }
    }
}

/// Returns the item of a key of `parts` parts that has this number, from 0.
pub(super) fn part(key: &[u8], number: usize, parts: usize) -> Item<'_> {
    let mut rest = key;
    for _ in 0..number {
        rest = split(rest).1;
    }
    Item::from_bytes(if number + 1 == parts { rest } else { split(rest).0 })
}

/// Divides what begins with a length into the part and what follows.
#[expect(clippy::cast_possible_truncation, reason = "the key is in memory")]
fn split(key: &[u8]) -> (&[u8], &[u8]) {
    match key {
        [LONG, rest @ ..] => {
            let length = rest.first_chunk::<LONG_BYTES>().copied().unwrap_or_default();
            rest[LONG_BYTES..].split_at(u64::from_le_bytes(length) as usize)
        }
        [length, rest @ ..] => rest.split_at(usize::from(*length)),
        [] => (&[], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::query::Kind;

    #[test]
    fn parts_are_read_as_they_were_written() {
        let long = format!("\"{}\"", "x".repeat(300));
        let exact = format!("\"{}\"", "y".repeat(254));
        for texts in [
            vec![Some("\"a\"")],
            vec![Some("1.50"), None, Some("null"), Some("\"\"")],
            vec![Some(long.as_str()), Some(exact.as_str()), Some("{\"a\": [1, 2]}")],
            vec![None, None],
        ] {
            let values: Vec<_> =
                texts.iter().map(|t| t.map(|t| Value::new(t.as_bytes()))).collect();
            let mut key = Vec::new();
            write(&values, &mut key);
            for (number, value) in values.iter().enumerate() {
                let item = part(&key, number, values.len());
                assert_eq!(item.kind, value.map(Value::kind));
                if let Some(Kind::String | Kind::Number) = item.kind {
                    assert_eq!(item.text, &*value.map(Value::decoded).unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn different_values_have_different_keys() {
        let lists: [&[Option<&str>]; 6] = [
            &[Some("\"1\""), Some("1")],
            &[Some("1"), Some("\"1\"")],
            &[None, Some("null")],
            &[Some("null"), None],
            &[Some("\"a\""), Some("\"b\"")],
            &[Some("\"ab\""), Some("\"\"")],
        ];
        let keys = lists.map(|texts| {
            let values: Vec<_> =
                texts.iter().map(|t| t.map(|t| Value::new(t.as_bytes()))).collect();
            let mut key = Vec::new();
            write(&values, &mut key);
            key
        });
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}
