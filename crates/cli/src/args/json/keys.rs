//! The arguments of `json keys`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, RecordOptions};

/// List the paths of all records: what they hold, how many records have them, and an example.
///
/// One row for each path, sorted by path. The elements of an array have the path of the array and [], whatever their number.
/// Cells: the path; the kinds of its values and how many there are; how many records have it; its first value, at most 40
/// characters of it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore json keys events.jsonl\n  \
        zcat log.gz | head -10000 | fullbore json keys -o md\n\n\
        Exit status:\n  \
        0 success; 1 the input is not valid; 2 wrong usage, a failure, or more than 100,000 paths;\n  \
        130 interrupted, after the answer for what was read; 141 the reader of the output left")]
pub(crate) struct JsonKeys {
    /// The files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The form of the output [default: table on a terminal, otherwise tsv].
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) output: Option<Format>,

    #[command(flatten)]
    pub(crate) records: RecordOptions,
}
