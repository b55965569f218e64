//! The forms in which answers are printed.

use clap::ValueEnum;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns under their names, for people.
    Table,
    /// Cells separated by tabs, without the names.
    Tsv,
    /// Cells separated by commas (RFC 4180), the names first.
    Csv,
    /// A JSON object for each row.
    Json,
    /// A table of Markdown.
    Md,
}
