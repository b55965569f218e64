//! A mistake in a suite file, and the checks that every part of the file shares.

use std::ops::Range;

use toml::Spanned;

use super::super::expand::expand;
use crate::Parameters;

/// A mistake and where it stands, before the place has a line.
pub(super) type Mistake = (Range<usize>, String);

/// Names are words on the command line and keys of a record.
pub(super) fn check_name(name: &Spanned<String>) -> Result<(), Mistake> {
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b))
    };
    if is_word(name.get_ref()) {
        return Ok(());
    }
    let message =
        format!("'{}' is no name: expected letters, digits, '-', '_', '+' and '.'", name.get_ref());
    Err((name.span(), message))
}

/// Every placeholder in `text` is one of the names.
pub(super) fn check_placeholders(
    text: &str,
    names: &Parameters,
    span: Range<usize>,
) -> Result<(), Mistake> {
    expand(text, names).map(drop).map_err(|unknown| {
        let known = names.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        (span, format!("{unknown}: expected one of {known} (write {{{{ for a brace)"))
    })
}
