//! The arguments of all commands that read records.

use clap::{Args, ValueEnum};
use fullbore_codec::json::query::Duplicates;
use fullbore_measure::Bytes;

use super::super::count::jobs;

#[derive(Args, Debug)]
pub(crate) struct RecordOptions {
    /// Go on after invalid JSON, at the next line. The exit status is 1 then.
    #[arg(long)]
    pub(crate) skip_invalid: bool,

    /// Which member counts if a name occurs more than once in an object on a path.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Which::Last)]
    pub(crate) duplicates: Which,

    /// A larger record is an error (such as 64M or 2G).
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1G")]
    pub(crate) max_record: Bytes,

    /// Use so many threads [default: one, and one more for each idle CPU].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// At the end, say on standard error how many records there were, how fast, and on how many threads.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Which member counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// The last one.
    Last,
    /// The first one.
    First,
    /// None: the record is an error.
    Error,
}

impl From<Which> for Duplicates {
    fn from(which: Which) -> Self {
        match which {
            Which::Last => Self::Last,
            Which::First => Self::First,
            Which::Error => Self::Refuse,
        }
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size.0 == 0 { Err("a record has at least 1 byte".to_owned()) } else { Ok(size) }
}
