//! Expressions that are true or false for a record: `.status >= 500 && .path ~ "^/api/"`.
//!
//! Flow: text ─`Parser`─▶ `Node` (a tree of `Test`s; negations are pushed down to the tests) ─[`Predicate::selects`]─▶ bool

mod literal;
mod node;
mod parse;
mod row;
mod test;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use self::node::Node;
use self::row::Record;
use super::path::Path;
use super::rows::Rows;
use super::syntax::SyntaxError;
use super::value::Repeated;

/// An expression that is true or false for a record.
///
/// For a worker of its own, make a clone: clones share nothing that one would have to wait for.
#[derive(Clone, Debug)]
pub struct Predicate {
    paths: Vec<Path>,
    root: Node,
}

impl Predicate {
    /// Reads an expression:
    ///
    /// - comparisons of two paths, or of a path and a literal, with `==`, `!=`, `<`, `<=`, `>`, `>=`; the same of `time PATH`,
    ///   `year PATH`, `month PATH`, …, `second PATH` and dates in quotes;
    /// - `PATH ~ "regular expression"` and `!~`; between its quotes, only `\"` is an escape of the expression;
    /// - `PATH in (1, "a", null)`, `exists PATH`, and a path, which is true if its value is `true`;
    /// - all of them connected by `&&`, `||`, `!`, parentheses, or `and`, `or`, `not`.
    ///
    /// # Errors
    /// Where the first mistake is, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (paths, root) = parse::parse(text)?;
        Ok(Self { paths, root })
    }

    /// Returns the paths of the expression, each once. All that go through an array go through the same one.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Whether the expression is true for a record. A test of a path through an array is true if it is true for any element;
    /// `!`, `!=` and `!~` are the opposite of that.
    ///
    /// `rows` are those of the [`paths`](Self::paths), `values` the values that the scanner found for the record, `cells` any
    /// memory.
    ///
    /// # Errors
    /// As [`Rows::visit`].
    pub fn selects(
        &self,
        rows: &Rows,
        text: &[u8],
        values: &[Range<usize>],
        cells: &mut Vec<Range<usize>>,
    ) -> Result<bool, Repeated> {
        if self.paths.iter().all(|path| path.array().is_none()) {
            let flow = rows.visit(text, values, cells, |cells| {
                let record = Record { text, common: cells, elements: &[] };
                if self.root.holds(record) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            return Ok(flow.is_break());
        }
        let mut elements = Vec::new();
        let _ = rows.visit(text, values, cells, |cells| {
            elements.extend_from_slice(cells);
            ControlFlow::<()>::Continue(())
        })?;
        rows.without_elements(text, values, cells)?;
        Ok(self.root.holds(Record { text, common: cells, elements: &elements }))
    }
}
