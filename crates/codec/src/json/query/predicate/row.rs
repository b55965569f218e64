//! The values that an expression is about.

use std::ops::Range;

/// One row of cells; an empty range is a missing value.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) text: &'a [u8],
    pub(super) cells: &'a [Range<usize>],
}

/// The values of a record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) text: &'a [u8],
    /// A row in which values of elements are missing.
    pub(super) common: &'a [Range<usize>],
    /// One such row for each element of the array that paths go through.
    pub(super) elements: &'a [Range<usize>],
}

impl<'a> Record<'a> {
    /// Returns the row without elements.
    pub(super) fn common(self) -> Row<'a> {
        Row { text: self.text, cells: self.common }
    }

    /// Returns the rows of the elements.
    pub(super) fn elements(self) -> impl Iterator<Item = Row<'a>> {
        let rows = self.elements.chunks_exact(self.common.len().max(1));
        rows.map(move |cells| Row { text: self.text, cells })
    }
}
