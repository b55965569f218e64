//! Tables for a terminal.

use crate::text::Style;
use crate::visible;

/// Columns that the name of a rule or host may take at most.
const NAME: usize = 34;

/// Fewer columns make no name.
const LEAST_NAME: usize = 8;

/// Adds a table: the first column to the left and cut to what room there is, the others to the right.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>], style: Style, lines: &mut Vec<String>) {
    if rows.is_empty() {
        return;
    }
    lines.push(String::new());
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            let cells = rows.iter().map(|row| visible::width(&row[column]));
            cells.max().unwrap_or(0).max(visible::width(heads[column]))
        })
        .collect();
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    let room = style.columns().saturating_sub(others + 2).clamp(LEAST_NAME, NAME);
    let name = widths[0].min(room);
    let line = |cells: &[&str]| {
        let first = visible::cut(cells[0], name);
        let mut line =
            format!("  {first}{}", " ".repeat(name.saturating_sub(visible::width(&first))));
        for (cell, width) in cells[1..].iter().zip(&widths[1..]) {
            let space = width.saturating_sub(visible::width(cell));
            line.push_str(&format!("  {}{cell}", " ".repeat(space)));
        }
        line.trim_end().to_owned()
    };
    lines.push(style.dim(&line(heads)));
    for row in rows {
        lines.push(line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}
