//! The arguments of `json select`.

use std::ffi::OsString;

use clap::Args;

use super::RecordOptions;

/// Print members of each record: one line for each record, with tabs between the cells.
///
/// A record is one JSON document: one on each line, or any number of them one after the other. Everything is checked, also what is
/// not printed. Numbers stay as they stand, digit by digit. Strings are decoded; tab, line feed, carriage return and
/// backslash are printed as \t \n \r \\. null is printed as null, a missing member as an empty cell, an array or object as
/// JSON on one line.
///
/// Paths: .a  .a.b  .a[0]  .a[-1]  ."any name"  .["any name"]  . (the record)  and .a[] (each element: one line for each of
/// them). Everything that begins with . or $ is a path; write a file as ./.name.
#[allow(rustdoc::broken_intra_doc_links, reason = "the help shows this text, and [0] is no link")]
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore json select [OPTIONS] PATH... [FILE]...",
    after_help = "Examples:\n  \
        fullbore json select .time .user.name .price events.jsonl\n  \
        zcat log.gz | fullbore json select --csv --header .host .status > log.csv\n  \
        fullbore json select .id '.items[].name' '.items[].price' orders.jsonl\n\n\
        Exit status:\n  \
        0 success; 1 the input is not valid, or a member is missing with --strict; 2 wrong usage or a failure;\n  \
        141 the reader of the output left\n\n\
        docs/json.md describes paths and values."
)]
#[allow(clippy::struct_excessive_bools, reason = "each flag stands for itself")]
pub(crate) struct JsonSelect {
    /// The paths to print, and the files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) words: Vec<OsString>,

    /// Print comma-separated values: cells with a comma, quote or line end in double quotes (RFC 4180).
    #[arg(long, conflicts_with_all = ["json", "raw"])]
    pub(crate) csv: bool,

    /// Print a JSON object for each line, with the values as they stand. Missing members are left out.
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,

    /// Print decoded strings as they are, without any escape.
    #[arg(long)]
    pub(crate) raw: bool,

    /// Print the paths first.
    #[arg(long, conflicts_with = "json")]
    pub(crate) header: bool,

    /// A missing member is an error.
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) records: RecordOptions,
}
