//! The arguments of `json where`.

use std::path::PathBuf;

use clap::Args;

use super::RecordOptions;

/// Print the records for which an expression is true, each as it stands.
///
/// ==, !=, <, <=, > and >= compare paths, numbers, "strings", true, false and null. Numbers compare by their value, exactly:
/// 1 equals 1.0. Values of different kinds are never equal, and neither less nor greater; a missing member equals nothing,
/// not even null. PATH ~ "regex" and !~ search strings (the syntax of Rust's regex crate); PATH in (1, "a"); exists PATH; a
/// path alone is true if its value is true. &&, ||, ! and parentheses connect all of them (also and, or, not).
///
/// time PATH compares instants as RFC 3339 writes them: time .at >= "2026-11-23T07:00:00+01:00". year, month, day, hour,
/// minute and second PATH cut the instant down to that, in UTC: day .at == "2026-11-23".
///
/// With .a[] in a path, the expression must be true for one element at least.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore json where [OPTIONS] EXPRESSION [FILE]...",
    after_help = "Examples:\n  \
        fullbore json where '.status >= 500 && .path ~ \"^/api/\"' log.jsonl\n  \
        zcat log.gz | fullbore json where 'day .time == \"2026-11-23\"' | fullbore json select .user.name\n  \
        fullbore json where 'not exists .deleted and .tags[] in (\"a\", \"b\")' events.jsonl\n\n\
        Exit status:\n  \
        0 success, also without any record; 1 the input is not valid; 2 wrong usage or a failure;\n  \
        141 the reader of the output left\n\n\
        docs/json.md describes paths and expressions."
)]
pub(crate) struct JsonWhere {
    /// The expression. Put it in single quotes.
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: String,

    /// The files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) records: RecordOptions,
}
