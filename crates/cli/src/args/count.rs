//! The arguments of `fullbore count`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fullbore_measure::Bytes;

/// Count equal lines, as sort | uniq -c | sort -rn | head does, without sorting them.
///
/// Without options, the output is that of LC_ALL=C sort | LC_ALL=C uniq -c, byte for byte. Lines are bytes: the locale does
/// not matter. The last line needs no line end.
///
/// Only distinct lines take memory. Those that do not fit go to temporary files, which disappear with the process.
/// Nothing is printed before the input has ended.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        tr -cs A-Za-z '\\n' < text | fullbore count --top 10\n  \
        fullbore count < words > counts\n  \
        fullbore count -k 2 -t , --top 20 access.csv\n  \
        zcat log.gz | awk '{ print $1 }' | fullbore count --json\n\n\
        Exit status:\n  \
        0 success; 2 wrong usage or a failure; 141 the reader of the output left")]
#[allow(clippy::struct_excessive_bools, reason = "each flag stands for itself")]
pub(crate) struct CountOptions {
    /// The files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Print only the N most frequent lines, the most frequent first.
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// The order of the output [default: key, with --top count].
    #[arg(long, value_name = "ORDER", value_enum)]
    pub(crate) sort: Option<Sort>,

    /// Count field FIELD of each line (from 1) instead of the whole line. Blanks separate fields, as in awk; a line that
    /// has fewer fields counts as an empty one.
    #[arg(short = 'k', long = "key", value_name = "FIELD", value_parser = field)]
    pub(crate) key: Option<usize>,

    /// The character between two fields, instead of blanks. \t, \0 and \xHH are understood.
    #[arg(short = 't', long = "field-separator", value_name = "CHAR", value_parser = separator, requires = "key")]
    pub(crate) field_separator: Option<u8>,

    /// Lines end in a zero byte instead of a line end, also in the output.
    #[arg(short = 'z', short_alias = '0', long)]
    pub(crate) zero_terminated: bool,

    /// Print each distinct line without its count, as sort -u.
    #[arg(long, conflicts_with_all = ["repeated", "json"])]
    pub(crate) unique: bool,

    /// Print only lines that occur more than once, without their counts, as uniq -d.
    #[arg(long)]
    pub(crate) repeated: bool,

    /// Print a JSON object for each distinct line: {"count":3,"key":"…"}. A key that is not UTF-8 also has its bytes as
    /// hexadecimal digits, "bytes":"…".
    #[arg(long)]
    pub(crate) json: bool,

    /// Let distinct lines take at most this much memory; the rest goes to disk [default: half of the available memory].
    #[arg(short, long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Bytes>,

    /// Count on so many threads [default: one, and one more for each idle CPU].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// The folder for temporary files [default: $TMPDIR, or /tmp].
    #[arg(short = 'T', long, value_name = "DIR")]
    pub(crate) temporary_directory: Option<PathBuf>,
}

/// The order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// The most frequent first; of equally frequent lines the greatest first, as LC_ALL=C sort -rn.
    Count,
    /// By their bytes, as LC_ALL=C sort.
    Key,
    /// In the order in which they first occurred.
    First,
}

/// Least memory: below it, temporary files would be written in tiny pieces.
const LEAST_MEMORY: Bytes = Bytes(1 << 20);

/// Most threads.
const MOST_JOBS: usize = 256;

fn field(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 1 => Ok(number),
        _ => Err("expected the number of a field, from 1".to_owned()),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    super::par::delimiter(text).map_err(|_| "expected one byte".to_owned())
}

pub(super) fn memory(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size < LEAST_MEMORY { Err("at least 1M is needed".to_owned()) } else { Ok(size) }
}

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=MOST_JOBS).contains(&count) => Ok(count),
        _ => Err(format!("expected a number of threads from 1 to {MOST_JOBS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!((field("1"), jobs("2"), memory("1M")), (Ok(1), Ok(2), Ok(Bytes(1 << 20))));
        for wrong in ["0", "-1", "x", "1,2", ""] {
            assert!(field(wrong).is_err() && jobs(wrong).is_err(), "{wrong}");
        }
        assert!(jobs("257").is_err() && memory("1023K").is_err() && memory("x").is_err());
    }
}
