//! The arguments of `fullbore what-if`.

use std::path::PathBuf;

use clap::Args;

/// Predict from a run record how long the run would take with one thing changed.
///
/// fullbore replays the recorded run, first as it was, then with each change: a stage twice as fast, infinitely fast or on two
/// CPUs; a pipe of 1 MiB; a buffer of 256 MiB between two stages; 4 or 16 CPUs. Nothing is run. The table shows the changes
/// that would gain at least 1 %, the best one first, and what would limit the run then.
#[derive(Args, Debug)]
#[command(
    name = "what-if",
    after_help = "Examples:\n  \
        fullbore run --report run.json 'zcat log.gz | sort | uniq -c'; fullbore what-if run.json\n  \
        fullbore what-if --json run.json | jq -r '.predictions[0].text'\n\n\
        Exit status:\n  \
        0 success; 2 wrong usage, or a record that cannot be replayed"
)]
pub(crate) struct WhatIfOptions {
    /// The run record: what run --report FILE.json wrote. For `-`, read standard input.
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,

    /// Print all predictions as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
