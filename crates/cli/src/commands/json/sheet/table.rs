//! Aligned columns.

use fullbore_measure::visible;
use unicode_width::UnicodeWidthStr;

use super::escape::tsv;

/// Spaces between two columns.
const GAP: &[u8] = b"  ";

/// Returns how many columns of the terminal a cell needs.
pub(super) fn width(cell: &[u8]) -> usize {
    shown(cell).width()
}

/// Appends a cell with the spaces that it needs.
pub(super) fn aligned(
    cell: &[u8],
    width: usize,
    at_right: bool,
    has_gap: bool,
    text: &mut Vec<u8>,
) {
    let cell = shown(cell);
    let spaces = b" ".repeat(width.saturating_sub(cell.width()));
    text.extend_from_slice(if has_gap { GAP } else { b"" });
    let (before, after) = if at_right { (&*spaces, &b""[..]) } else { (&b""[..], &*spaces) };
    text.extend_from_slice(before);
    text.extend_from_slice(cell.as_bytes());
    text.extend_from_slice(after);
}

/// Ends a line without spaces at its end.
pub(super) fn end(text: &mut Vec<u8>) {
    let kept = text.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
    text.truncate(kept);
    text.push(b'\n');
}

/// Returns a cell without control characters.
fn shown(cell: &[u8]) -> String {
    let mut escaped = Vec::new();
    tsv(cell, &mut escaped);
    visible(&String::from_utf8_lossy(&escaped)).into_owned()
}
