//! The arguments of `json`.

mod each;
mod filter;
mod format;
mod group;
mod keys;
mod records;
mod select;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) use self::each::JsonEach;
pub(crate) use self::filter::JsonWhere;
pub(crate) use self::format::Format;
pub(crate) use self::group::JsonGroup;
pub(crate) use self::keys::JsonKeys;
pub(crate) use self::records::RecordOptions;
pub(crate) use self::select::JsonSelect;

/// Check JSON, and take what is wanted from it: one document, or one on each line, or any number of them one after the other.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        fullbore json check events.jsonl\n  \
        fullbore json select .time .user.name events.jsonl\n  \
        fullbore json where '.status >= 500 && .path ~ \"^/api/\"' log.jsonl\n  \
        fullbore json group .host count 'sum .bytes' 'p99 .ms' access.jsonl\n  \
        zcat events.gz | fullbore json check --all --max-errors 3\n  \
        curl -s https://example.org/export | fullbore json check -p | psql -c '\\copy events from stdin'\n\n\
        Exit status:\n  \
        0 everything is valid; 1 something is not; 2 wrong usage or a failure; 141 the reader of the output left\n\n\
        docs/json.md says what is valid.")]
pub(crate) enum JsonTask {
    /// Check that everything is valid JSON, and say where it is not.
    Check(JsonCheck),
    Select(JsonSelect),
    Where(JsonWhere),
    Each(JsonEach),
    Group(JsonGroup),
    Keys(JsonKeys),
}

#[derive(Args, Debug)]
pub(crate) struct JsonCheck {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    /// Pass the stream on unchanged, up to the first error; with --all, all of it.
    #[arg(short, long)]
    pub(crate) pass: bool,

    /// Go on after an error, at the next line.
    #[arg(long)]
    pub(crate) all: bool,

    /// With --all, print at most this many errors; the others are only counted.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, requires = "all")]
    pub(crate) max_errors: u64,
}
