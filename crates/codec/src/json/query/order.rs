//! The order of values.

use std::cmp::Ordering;

use super::minify::minify;
use super::number::Number;
use super::value::{Kind, Value};

/// Compares two values: null < false < true < numbers < strings < arrays < objects; numbers by value, exactly; strings by their
/// decoded bytes; arrays and objects by their bytes without white space between tokens.
#[must_use]
pub fn order(one: Value<'_>, two: Value<'_>) -> Ordering {
    let kinds = one.kind().cmp(&two.kind());
    kinds.then_with(|| match one.kind() {
        Kind::Null | Kind::False | Kind::True => Ordering::Equal,
        Kind::Number => Number::new(one.text).cmp(&Number::new(two.text)),
        Kind::String => one.decoded().cmp(&two.decoded()),
        Kind::Array | Kind::Object if one.text == two.text => Ordering::Equal,
        Kind::Array | Kind::Object => minified(one).cmp(&minified(two)),
    })
}

fn minified(value: Value<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.text.len());
    minify(value.text, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_by_kind_and_then_by_value() {
        let sorted = [
            &["null"][..],
            &["false"],
            &["true"],
            &["-1e400"],
            &["0", "-0", "0.0"],
            &["1", "1.0", "10e-1"],
            &["\"\""],
            &["\"a\"", "\"\\u0061\""],
            &["\"a\\n\""],
            &["\"b\""],
            &["\"é\""],
            &["[1,2]", "[1, 2]"],
            &["[]"],
            &["{\"a\":1}", "{ \"a\" : 1 }"],
        ];
        for (at, ones) in sorted.iter().enumerate() {
            for (other_at, others) in sorted.iter().enumerate() {
                for (one, other) in
                    ones.iter().flat_map(|one| others.iter().map(move |other| (one, other)))
                {
                    let found = order(Value::new(one.as_bytes()), Value::new(other.as_bytes()));
                    assert_eq!(found, at.cmp(&other_at), "{one} and {other}");
                }
            }
        }
    }
}
