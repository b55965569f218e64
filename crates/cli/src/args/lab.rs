//! The arguments of `lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Measure pipes, zero copy, memory, other transports, tracers and stages, and report honestly.
///
/// A suite asks questions (cases); each is answered by several engines that do the same work in turn, A B A B ...,
/// until the ratio between them is known well enough or the time is over. An answer is checked before a time counts.
/// Results go to standard output after every suite; Ctrl-C keeps what is done.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "fullbore lab [OPTIONS] SUITE...\n       fullbore lab list\n       fullbore lab show [OPTIONS] RECORD\n       fullbore lab compare A.json [B.json]",
    after_help = "Examples:\n  \
        fullbore lab list\n  \
        fullbore lab --quick memory pipe --report lab.html\n  \
        fullbore lab pipe/chunk --runs 20 --pin 0,1 --report chunk.json\n  \
        fullbore lab ./mine.toml\n  \
        fullbore lab compare before.json after.json\n  \
        fullbore lab stages --runs 40 --against ./fullbore-before --report both.json\n\n\
        Exit status:\n  \
        0 done (what the machine lacks is said, and is no failure);\n  \
        1 an engine gave a wrong answer, or compare found a regression;\n  \
        2 wrong usage, a mistake in a suite file, or an engine failed; 130 ended by Ctrl-C"
)]
pub(crate) struct LabOptions {
    /// What else the lab can do.
    #[command(subcommand)]
    pub(crate) task: Option<LabTask>,

    /// A suite (see fullbore lab list), a case of one (pipe/chunk), or a path of your own that ends in .toml.
    #[arg(value_name = "SUITE", required = true)]
    pub(crate) suites: Vec<String>,

    /// Under a minute a suite: fewer points, wider intervals.
    #[arg(long, conflicts_with = "runs")]
    pub(crate) quick: bool,

    /// Measure every point this many times, however long it takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Bind everything to these CPUs, such as 0,1 or 0-3.
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub(crate) pin: Option<Cpus>,

    /// Measure another build of fullbore beside this one, in turn: only what runs fullbore as a program. Then compare
    /// the record with itself.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "ladder")]
    pub(crate) against: Option<PathBuf>,

    /// Only the case 'ladder' of each suite: from write and read to pinned huge pages, step by step.
    #[arg(long)]
    pub(crate) ladder: bool,

    /// Write a report after every case: JSON, a page or tables, when FILE ends in .json, .html or .md. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// No tables and no progress; reports are written all the same.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabTask {
    /// List the suites and their cases.
    #[command(after_help = "Example:\n  fullbore lab list")]
    List {
        /// A path of your own that ends in .toml, or names of suites; all that are built in without it.
        #[arg(value_name = "SUITE")]
        suites: Vec<String>,
    },
    /// Show a record that --report wrote, or make other reports of it.
    #[command(
        after_help = "Examples:\n  fullbore lab show lab.json\n  fullbore lab show -q lab.json --report lab.html\n  \
        fullbore lab show --markdown lab.json > lab.md"
    )]
    Show(ShowOptions),
    /// Say what got faster or slower from one record to another, or between two builds in one.
    ///
    /// Ratios to the baseline are compared, because a change of the machine changes both; the value itself only where
    /// there is no other engine. The intervals hold for all rows at once in 95 of 100 cases. Two runs differ by what the
    /// machine does meanwhile: to find a change of 10 percent in fullbore itself, measure both builds in one run
    /// (--against), and compare that record alone.
    #[command(
        after_help = "Examples:\n  fullbore lab compare before.json after.json --fail-below 0.95\n  fullbore lab compare both.json\n\n\
        Exit status:\n  0 no regression; 1 something is slower, to less than the limit; 2 not compared"
    )]
    Compare {
        /// The record from before, or the only one: of two builds.
        #[arg(value_name = "A.json")]
        before: PathBuf,
        /// The record from after.
        #[arg(value_name = "B.json")]
        after: Option<PathBuf>,
        /// What counts as a regression: surely slower, and to less than this part of the speed.
        #[arg(long, value_name = "RATIO", default_value = "0.95", value_parser = ratio)]
        fail_below: f64,
        /// Show rows that cannot be told apart, too.
        #[arg(long)]
        all: bool,
    },
}

/// What is shown of a record.
#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    /// A record (.json).
    #[arg(value_name = "RECORD")]
    pub(crate) file: PathBuf,

    /// Tables in Markdown, each with the command that repeats it.
    #[arg(long)]
    pub(crate) markdown: bool,

    /// Write a report: JSON, a page or tables, when FILE ends in .json, .html or .md. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// No tables; reports are written all the same.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// One trial of a built-in engine, in a process of its own: what `lab` starts.
#[derive(Args, Debug)]
pub(crate) struct LabEngineOptions {
    /// The job as JSON.
    pub(crate) job: String,
}

/// One side of the experiments on overlap, as a stage of a shell pipeline.
///
/// produce [burst=1M] [producer_work=4] [total=256M]; consume [consumer_work=4] [call_work=0] [read=64K]; consume-json [read=4K]
#[derive(Args, Debug)]
pub(crate) struct LabStageOptions {
    /// produce, consume or consume-json, then what it is told, as NAME=VALUE.
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
}

/// Numbers of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

/// More CPUs than Linux can number by default (CONFIG_NR_CPUS of the distributions).
const MOST_CPUS: u32 = 8192;

fn cpus(text: &str) -> Result<Cpus, String> {
    let wrong = || format!("'{text}' is no list of CPUs: write 0,1 or 0-3");
    let number = |text: &str| -> Result<u32, String> {
        text.trim().parse().ok().filter(|cpu| *cpu < MOST_CPUS).ok_or_else(wrong)
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(Cpus(cpus))
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio > 0.0 && ratio <= 1.0 => Ok(ratio),
        _ => Err("expected a number above 0 and at most 1, such as 0.95".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_as_taskset_reads_them() {
        assert_eq!(cpus("0"), Ok(Cpus(vec![0])));
        assert_eq!(cpus("2,0-1"), Ok(Cpus(vec![0, 1, 2])));
        for wrong in ["", "a", "3-1", "1,", "9999"] {
            assert!(cpus(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_is_a_part_of_the_speed() {
        assert!(ratio("0.95").is_ok() && ratio("1").is_ok());
        for wrong in ["0", "1.5", "-1", "x", "NaN"] {
            assert!(ratio(wrong).is_err(), "{wrong}");
        }
    }
}
