//! The documents of a text, and values in them.

use std::ops::Range;

/// The documents of a text, and values in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Where each document is.
    pub documents: Vec<Range<usize>>,
    /// Where the values are: all of the first document, all of the second, …; an empty range for a missing one.
    pub values: Vec<Range<usize>>,
}

impl Table {
    /// Returns each document with its values, of which there are `columns`.
    pub fn records(
        &self,
        columns: usize,
    ) -> impl Iterator<Item = (&Range<usize>, &[Range<usize>])> {
        let documents = self.documents.iter().enumerate();
        documents
            .map(move |(number, document)| (document, &self.values[number * columns..][..columns]))
    }
}
