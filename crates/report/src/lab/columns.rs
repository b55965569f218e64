//! Text in columns of a terminal.

use crate::visible;

/// Where a text stands in its column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

pub(crate) fn padded(text: &str, width: usize, side: Side) -> String {
    let space = " ".repeat(width.saturating_sub(visible::width(text)));
    if side == Side::Left { format!("{text}{space}") } else { format!("{space}{text}") }
}
