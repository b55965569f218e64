//! The arguments of `json each`.

use std::path::PathBuf;

use clap::Args;

use super::records::RecordOptions;

/// Print the elements of an array, one on each line, so that each becomes a record. A document may be larger than memory.
///
/// Of an object at PATH, the values of its members are printed. Elements stay as they stand; one that spans lines is printed
/// without the white space between its tokens. If a name occurs more than once in an object on the path, all of them count,
/// unless --duplicates says first or error. --max-record limits one element. PATH cannot have an index from the end.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore json each [OPTIONS] PATH [FILE]...",
    after_help = "Examples:\n  \
        fullbore json each . export.json | fullbore json select .id .name\n  \
        curl -s https://example.org/search | fullbore json each .response.items\n  \
        fullbore json each '.pages[].rows' export.json | wc -l\n\n\
        Exit status:\n  \
        0 success; 1 the input is not valid; 2 wrong usage or a failure; 141 the reader of the output left"
)]
pub(crate) struct JsonEach {
    /// The array. A lone dot is the whole document.
    #[arg(value_name = "PATH")]
    pub(crate) path: String,

    /// The files to read. Without FILE, or for `-`, read standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) records: RecordOptions,
}
