//! The arguments of `fullbore load` and `fullbore query`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::When;

/// Load a stream of records into a database.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  \
    zcat e.gz | fullbore load reindexer builtin:///tmp/db events --pk id --index price:tree")]
pub(crate) enum LoadTask {
    Reindexer(LoadOptions),
}

/// Query a database, and print the answer as JSON.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  \
    fullbore query reindexer builtin:///tmp/db 'SELECT * FROM events WHERE price > 100 LIMIT 3'")]
pub(crate) enum QueryTask {
    Reindexer(QueryOptions),
}

/// Load JSON records from standard input, one on each line, into a namespace of Reindexer.
///
/// Records go in with transactions, in the order of the input. A record that cannot be stored as it is, is named with its line, and
/// the rest is loaded. After Ctrl-C, whole transactions are in the database. The types of indexes come from the first records, as
/// `fullbore json keys` shows them. Needs the Python package: `pip install 'fullbore[reindexer]'`. docs/reindexer.md has the
/// details.
#[derive(Args, Debug)]
#[command(
    name = "reindexer",
    after_help = "Examples:\n  \
        fullbore gen jsonl --rows 1000000 | fullbore load reindexer builtin:///tmp/db e --pk id\n  \
        fullbore load reindexer builtin:///tmp/db e --pk id --index price:tree,note:text < e.jsonl\n  \
        fullbore load reindexer builtin:///tmp/db e --rejects bad.jsonl < more.jsonl\n  \
        fullbore load reindexer cproto://127.0.0.1:6534/shop users --pk id < u.jsonl\n\n\
        Exit status:\n  \
        0 every record was loaded; 1 some were rejected; 2 wrong usage or a failure; 130 interrupted"
)]
pub(crate) struct LoadOptions {
    /// The database: builtin:///DIR for a directory of this machine, cproto://HOST:PORT/NAME for a server.
    #[arg(value_name = "DATABASE")]
    pub(crate) database: OsString,

    /// The namespace, which is created if necessary.
    #[arg(value_name = "NAMESPACE")]
    pub(crate) namespace: OsString,

    /// The path of the primary key. A later record with the same key takes the place of the earlier one.
    ///
    /// Only a namespace that exists can do without.
    #[arg(long, value_name = "PATH")]
    pub(crate) pk: Option<OsString>,

    /// Indexes, as PATH:KIND or PATH:KIND:TYPE, separated by commas; or all, for one on every path.
    ///
    /// KIND is tree (for ranges and order), hash (for equality), text (for full text) or column (none, but a column of its own).
    /// TYPE is int64, double, string or bool; without it, the first records decide.
    #[arg(long, value_name = "INDEXES")]
    pub(crate) index: Vec<OsString>,

    /// Write the lines that were rejected to FILE, as they came.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// Put so many records into a transaction.
    #[arg(long, value_name = "RECORDS", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) batch: u32,

    /// Parse records on so many threads [default: 2, or 1 where there is one CPU].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: Option<u32>,

    /// When to show how far the load has come; auto: on a terminal.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(crate) progress: When,

    /// At the end, do not say how many records were loaded.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Print what a query of Reindexer finds.
///
/// Each row is a JSON object; aggregations (COUNT, SUM, FACET and so on) follow the rows. Needs the Python package:
/// `pip install 'fullbore[reindexer]'`. docs/reindexer.md has the details.
#[derive(Args, Debug)]
#[command(
    name = "reindexer",
    after_help = "Examples:\n  \
        fullbore query reindexer builtin:///tmp/db 'SELECT * FROM events WHERE id = 7'\n  \
        fullbore query reindexer builtin:///tmp/db 'SELECT FACET(level) FROM events' -o json\n  \
        fullbore query reindexer builtin:///tmp/db 'SELECT * FROM e' | fullbore json select .id\n\n\
        Exit status:\n  \
        0 success; 2 wrong usage, or the query failed; 130 interrupted; 141 the reader of the output left"
)]
pub(crate) struct QueryOptions {
    /// The database: builtin:///DIR for a directory of this machine, cproto://HOST:PORT/NAME for a server.
    #[arg(value_name = "DATABASE")]
    pub(crate) database: OsString,

    /// The query, in the SQL of Reindexer. Put it in quotes.
    #[arg(value_name = "SQL")]
    pub(crate) sql: OsString,

    /// How to print the answer.
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Rows::Jsonl)]
    pub(crate) output: Rows,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// An object on each line.
    Jsonl,
    /// One array.
    Json,
}
