//! The arguments of `fullbore flame`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Compare where the time of two runs went.
///
/// `fullbore run --flame FILE.folded` and `fullbore attach --flame FILE.folded` write what is compared.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
    fullbore run --flame a.folded 'zcat log.gz | sort'\n  \
    fullbore flame diff a.folded b.folded -o diff.html")]
pub(crate) enum FlameTask {
    Diff(FlameDiffOptions),
}

/// Say which functions take longer in the second of two profiles, and which less.
///
/// Both are files of folded stacks, as run --flame FILE.folded and many other profilers write them. Stages are compared by
/// their numbers. Times of other profilers' files are numbers of samples, and shown as microseconds.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    fullbore run --flame a.folded 'zcat log.gz | sort'\n  \
    fullbore run --flame b.folded 'zcat log.gz | LC_ALL=C sort'\n  \
    fullbore flame diff a.folded b.folded                   # the functions that changed most\n  \
    fullbore flame diff a.folded b.folded -o diff.html      # the same as a page, with the graph")]
pub(crate) struct FlameDiffOptions {
    /// The profile before, folded.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,

    /// The profile after, folded.
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,

    /// Write a page that draws the difference. FILE ends in .html.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
