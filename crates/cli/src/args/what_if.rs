//! The arguments of `fullbore what-if`.

use std::path::PathBuf;
use std::str::FromStr;

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
        fullbore what-if --faster sort=3 run.json              # with sort three times as fast\n  \
        fullbore what-if --json run.json | jq -r '.predictions[0].text'\n\n\
        Exit status:\n  \
        0 success; 2 wrong usage, or a record that cannot be replayed"
)]
pub(crate) struct WhatIfOptions {
    /// The run record: what run --report FILE.json wrote. For `-`, read standard input.
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,

    /// Predict only this: STAGE works FACTOR times as fast (below 1: slower). STAGE is a number or the name of its program.
    ///
    /// It needs its CPU time divided by FACTOR. Given several times, all these stages change at once. To know the factor of
    /// a replacement, time it and the program alone on the same file.
    #[arg(long, value_name = "STAGE=FACTOR")]
    pub(crate) faster: Vec<Faster>,

    /// Print all predictions as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A stage that works faster or slower.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Faster {
    /// Its number, or the name of its program.
    pub(crate) stage: String,
    /// So many times as fast: above 0.
    pub(crate) times: f64,
}

impl FromStr for Faster {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((stage, factor)) = text.rsplit_once('=') else {
            return Err("a stage and a factor are needed, as in sort=2".to_owned());
        };
        if stage.is_empty() {
            return Err("the stage is missing: its number or its program, as in sort=2".to_owned());
        }
        let times = factor.parse().ok().filter(|times: &f64| *times > 0.0 && times.is_finite());
        let times = times.ok_or_else(|| {
            format!("'{factor}' is not a factor above 0; twice as fast is {stage}=2, half as fast {stage}=0.5")
        })?;
        Ok(Self { stage: stage.to_owned(), times })
    }
}
