//! Numbers as a drawing has them.

/// A coordinate with one digit after the point, and none when that is zero.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
