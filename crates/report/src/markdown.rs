//! Cells and lines of Markdown, in which no text of a user becomes markup.

use crate::visible;

/// A row of a table, of cells that are Markdown already.
pub(crate) fn table_row(cells: &[String], text: &mut String) {
    text.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Nothing in a text may end a cell or become markup.
pub(crate) fn escaped(text: &str) -> String {
    visible::line(text)
        .replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('`', "\\`")
        .replace('*', "\\*")
        .replace('_', "\\_")
}
