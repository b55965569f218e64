//! The arguments of `json group`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use fullbore_measure::Bytes;

use super::super::count::memory;
use super::{Format, RecordOptions};

/// Group records by the values of members, and count, add up or compare others.
///
/// KEYS are paths with commas between them, such as .host,.method. A time can be cut down in UTC: 'hour .time' (or year, month,
/// day, minute, second). Without KEYS, there is one row for all records.
///
/// Aggregates: count (records), count PATH (values that are not null), sum PATH, avg PATH, min PATH, max PATH, p99 PATH (or
/// p50,p99.9 PATH), distinct PATH (different values), top N PATH (the most frequent values), hist PATH (numbers by powers
/// of two). Without any, records are counted.
///
/// Sums are exact. A quantile is the smallest value such that so many percent are not greater. The answer does not depend on
/// the number of threads. Rows are sorted by their keys: null, false, true, numbers, strings, arrays, objects; a missing
/// key is an empty cell and comes first. Values that an aggregate cannot use are left out; a warning tells how many.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore json group [OPTIONS] [KEYS] [AGGREGATE]... [FILE]...",
    after_help = "Examples:\n  \
        fullbore json group .status events.jsonl\n  \
        fullbore json group .host,.method count 'sum .bytes' 'p50,p99 .ms' access.jsonl\n  \
        zcat log.gz | fullbore json group 'hour .time' count --where '.status >= 500'\n  \
        fullbore json group .user count 'distinct .ip' --top 20 -o json < events.jsonl\n\n\
        Exit status:\n  \
        0 success; 1 the input is not valid; 2 wrong usage, a failure or too little memory;\n  \
        130 interrupted, after the answer for what was read; 141 the reader of the output left\n\n\
        docs/json.md describes paths, values and expressions."
)]
pub(crate) struct JsonGroup {
    /// KEYS, the aggregates, and the files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "KEYS AGGREGATE FILE", required_unless_present = "by")]
    pub(crate) words: Vec<OsString>,

    /// Group by these keys; all other words are aggregates or files.
    #[arg(long, value_name = "KEYS")]
    pub(crate) by: Option<String>,

    /// Read this file; can be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// Take only records for which this is true, as fullbore json where does.
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub(crate) condition: Option<String>,

    /// Sort by this column: its number from 1, or its name. Aggregates with the greatest first.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,

    /// Print only the first N rows, by default those with the greatest first aggregate.
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// The form of the output [default: table on a terminal, otherwise tsv].
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) output: Option<Format>,

    /// Let groups take at most this much memory [default: half of the available memory].
    #[arg(short, long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Bytes>,

    #[command(flatten)]
    pub(crate) records: RecordOptions,
}
