//! What the user typed, and nothing more: no look at the system here.

pub(crate) mod buffer;
pub(crate) mod gost;
pub(crate) mod lab;
pub(crate) mod stages;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fullbore_measure::Bytes;

use self::buffer::BufferOptions;
use self::gost::GostTask;
use self::lab::{LabEngineOptions, LabOptions, LabStageOptions};
use self::stages::{GenOptions, MorseTask, Utf8Task};

/// Unix pipelines at the speed the machine allows, with every second accounted for.
#[derive(Debug, Parser)]
#[command(
    name = "fullbore",
    version,
    max_term_width = 100,
    help_expected = true,
    after_help = "Examples:\n  fullbore run 'zstdcat events.zst | jq -c .price | sort -n | tail -1'\n  fullbore run --help"
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Run(RunOptions),
    Buffer(BufferOptions),
    #[command(subcommand)]
    Morse(MorseTask),
    #[command(subcommand)]
    Utf8(Utf8Task),
    Gen(GenOptions),
    #[command(subcommand)]
    Gost(GostTask),
    Lab(LabOptions),
    #[command(hide = true)]
    LabEngine(LabEngineOptions),
    #[command(hide = true)]
    LabStage(LabStageOptions),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  fullbore completions bash > ~/.local/share/bash-completion/completions/fullbore"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command into a directory.
    #[command(after_help = "Example:\n  fullbore man | man -l -")]
    Man {
        /// Write fullbore.1, fullbore-run.1 and so on here instead of printing fullbore.1.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Run a shell pipeline, widen its pipes where that helps, and say where its time went.
///
/// The line goes to a shell untouched, so that everything that works there works here: its output, the
/// messages of its stages, its exit status and its signals are those of `sh -c PIPELINE`. What runs is
/// found in /proc, without privileges. The summary goes to standard error.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore run [OPTIONS] PIPELINE\n       fullbore run [OPTIONS] -- COMMAND [ARG]...",
    after_help = "Examples:\n  \
        fullbore run 'zstdcat events.zst | jq -c .price | sort -n | tail -1'\n  \
        fullbore run --shell bash --report run.html 'set -o pipefail; seq 9e7 | gzip > seq.gz'\n  \
        fullbore run -- xz -9 big.tar\n\n\
        Exit status:\n  \
        what the shell returned (128 + n and the same signal for signal n); 2 wrong usage;\n  \
        125 fullbore failed; 126 the command cannot be executed; 127 it was not found"
)]
pub(crate) struct RunOptions {
    /// The line, as one word: put it in quotes.
    #[arg(
        value_name = "PIPELINE",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(crate) pipeline: Option<OsString>,

    /// A command to run without a shell, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    /// The shell that gets the line (as SHELL -c PIPELINE).
    #[arg(long, value_name = "SHELL", default_value = "sh")]
    pub(crate) shell: OsString,

    /// Leave all pipes as they are.
    #[arg(long, conflicts_with = "pipe_size")]
    pub(crate) no_tune: bool,

    /// Give every pipe this capacity as soon as it is seen (such as 256K or 1M), instead of tuning.
    #[arg(long, value_name = "SIZE", value_parser = pipe_size)]
    pub(crate) pipe_size: Option<Bytes>,

    /// Write a report: JSON when FILE ends in .json, a page when it ends in .html. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show the pipeline while it runs: auto means when standard error is a terminal and standard output is not.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(crate) live: When,

    /// No summary and no live view; reports are written all the same.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Fail with 125 when something could not be observed or a pipe not be changed.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// When it disturbs nothing.
    Auto,
    /// Whenever standard error is a terminal.
    Always,
    /// Never.
    Never,
}

/// Largest capacity Linux can give a pipe (2 GiB), fcntl(2) and fs/pipe.c `round_pipe_size`.
const PIPE_MAX: Bytes = Bytes(1 << 31);

fn pipe_size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size.0 < 1 || size > PIPE_MAX {
        return Err("a pipe holds from 4K (a page) to 2G".to_owned());
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound_and_every_option_has_help() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_pipe_size_out_of_range_is_refused() {
        assert_eq!(pipe_size("64K"), Ok(Bytes(65536)));
        assert!(pipe_size("0").is_err());
        assert!(pipe_size("3G").is_err());
        assert!(pipe_size("big").is_err());
    }
}
