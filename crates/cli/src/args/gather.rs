//! The arguments of `fullbore gather`.

use std::path::PathBuf;

use clap::Args;

/// Show what limits a workflow of many jobs, from the run records of all of them.
///
/// fullbore reads every run record in a folder and its subfolders (what run --report FILE.json wrote). It groups jobs that repeat
/// each other into rules and compares them: which rule takes most of the time, which host is slow, which jobs took far longer than
/// others of their rule although they did not read more, and what each waited for. docs/gather.md says how it decides.
#[derive(Args, Debug)]
#[command(
    name = "gather",
    after_help = "Examples:\n  \
        fullbore gather records/\n  \
        fullbore gather records/ --report workflow.html --report workflow.json\n  \
        fullbore gather records/today --against records/yesterday    # which rule became slower, and why\n  \
        fullbore gather -q records/ --report w.json; jq -r '.findings[0].message' w.json\n\n\
        Exit status:\n  \
        0 success; 2 wrong usage, no record of a run in the folder, or a report that cannot be written"
)]
pub(crate) struct GatherOptions {
    /// The folder with the records. Folders in it are searched, too.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Compare with the records of another run of the workflow.
    #[arg(long, value_name = "OLDDIR")]
    pub(crate) against: Option<PathBuf>,

    /// Write a report. FILE ends in .json for all figures, .html for a page. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show at most so many rows of each list.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) top: u32,

    /// Print nothing. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
