//! The arguments of `lab`.

pub(crate) mod disk;

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, Subcommand};
use fullbore_lab::suite::BUILT_IN;

use self::disk::{DiskOptions, ImportOptions};

/// Measure pipes, zero copy, memory, other transports, tracers and stages, with error bounds.
///
/// A suite consists of cases. Each case asks one question and measures several engines that do the same work. The engines
/// run in turn, A B A B ..., until the ratio between them is known well enough or the time is over. A time counts only if
/// the engine's output is correct. The lab prints results on standard output after every suite; Ctrl-C keeps the results
/// so far.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "fullbore lab [OPTIONS] SUITE...\n       fullbore lab list\n       fullbore lab show [OPTIONS] RECORD\n       fullbore lab compare A.json [B.json]\n       fullbore lab disk --dir DIR [OPTIONS]\n       fullbore lab import fio FILE... --label NAME",
    after_help = "Examples:\n  \
        fullbore lab list\n  \
        fullbore lab --quick memory pipe --report lab.html\n  \
        fullbore lab pipe/chunk --runs 20 --pin 0,1 --report chunk.json\n  \
        fullbore lab ./mine.toml\n  \
        fullbore lab compare before.json after.json\n  \
        fullbore lab disk --quick --dir /mnt/data --report new.json\n  \
        fullbore lab stages --runs 40 --against ./fullbore-before --report both.json\n\n\
        Exit status:\n  \
        0 success (the lab names what the machine lacks; that is no failure);\n  \
        1 the output of an engine was wrong, or compare found a regression;\n  \
        2 wrong usage, a mistake in a suite file, or an engine failed; 130 ended by Ctrl-C"
)]
pub(crate) struct LabOptions {
    /// Other tasks of the lab.
    #[command(subcommand)]
    pub(crate) task: Option<LabTask>,

    /// A suite (see fullbore lab list), one of its cases (pipe/chunk), or your own suite file, whose name ends in .toml.
    #[arg(value_name = "SUITE", required = true, value_parser = SuiteName, hide_possible_values = true)]
    pub(crate) suites: Vec<String>,

    /// Take less than a minute per suite: fewer points, wider intervals.
    #[arg(long, conflicts_with = "runs")]
    pub(crate) quick: bool,

    /// Measure every point N times, however long it takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Run everything on these CPUs only, such as 0,1 or 0-3.
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub(crate) pin: Option<Cpus>,

    /// Measure another build of fullbore in turn with this one, in all cases that run fullbore as a program. Give the
    /// one lab record to lab compare.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "ladder")]
    pub(crate) against: Option<PathBuf>,

    /// Measure only the case 'ladder' of each suite: from write and read to pinned huge pages, step by step.
    #[arg(long)]
    pub(crate) ladder: bool,

    /// Write a report after every case. FILE ends in .json for a lab record, .html for a page, .md for tables. May be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show no tables and no progress. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabTask {
    /// List the suites and their cases.
    #[command(after_help = "Example:\n  fullbore lab list")]
    List {
        /// Suites, or suite files whose names end in .toml [default: all built-in suites].
        #[arg(value_name = "SUITE", value_parser = SuiteName, hide_possible_values = true)]
        suites: Vec<String>,
    },
    /// Show a lab record that --report wrote, or make other reports from it.
    #[command(
        after_help = "Examples:\n  fullbore lab show lab.json\n  fullbore lab show -q lab.json --report lab.html\n  \
        fullbore lab show --markdown lab.json > lab.md"
    )]
    Show(ShowOptions),
    /// Measure a disk: six workloads by fio, random and sequential, read and write.
    Disk(DiskOptions),
    /// Make a record of the results of other programs, to compare.
    Import(ImportOptions),
    /// Show what became faster or slower between two lab records, or between two builds in one, or between two records of a disk.
    ///
    /// compare uses each engine's ratio to the baseline, because a change of the machine affects both. It uses the value
    /// itself only if a case has no other engine. In 95 of 100 comparisons, the intervals of all rows hold at once. Two
    /// runs also differ by what else the machine did. So to find a change of 10 percent in fullbore itself, measure both
    /// builds in one run (--against), and compare that lab record alone.
    #[command(
        after_help = "Examples:\n  fullbore lab compare before.json after.json --fail-below 0.95\n  fullbore lab compare both.json\n  \
        fullbore lab compare old.json new.json --report diff.html\n\n\
        Exit status:\n  0 no regression; 1 an engine surely became slower than --fail-below allows; 2 nothing was compared"
    )]
    Compare {
        /// The earlier lab record, or the only one if it contains two builds.
        #[arg(value_name = "A.json")]
        before: PathBuf,
        /// The later lab record.
        #[arg(value_name = "B.json")]
        after: Option<PathBuf>,
        /// Report a regression if an engine surely runs at less than this fraction of its earlier speed.
        #[arg(long, value_name = "RATIO", default_value = "0.95", value_parser = ratio)]
        fail_below: f64,
        /// Also show rows without a certain difference; those of disks are always shown.
        #[arg(long)]
        all: bool,
        /// Write a report about two records of a disk. FILE ends in .html for a page, .md for a table, .json for the comparison.
        /// May be repeated.
        #[arg(long, value_name = "FILE")]
        report: Vec<PathBuf>,
    },
}

/// What is shown of a record.
#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    /// A lab record (.json).
    #[arg(value_name = "RECORD")]
    pub(crate) file: PathBuf,

    /// Print tables in Markdown, each with the command that repeats it.
    #[arg(long)]
    pub(crate) markdown: bool,

    /// Write a report. FILE ends in .json for a lab record, .html for a page, .md for tables. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show no tables. Reports are still written.
    #[arg(short, long, conflicts_with = "markdown")]
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
/// produce [burst=1M] [producer_work=4] [total=256M]; consume [consumer_work=4] [call_work=0] [read=64K]; consume-json
/// [read=4K]
#[derive(Args, Debug)]
pub(crate) struct LabStageOptions {
    /// produce, consume or consume-json, then what it is told, as NAME=VALUE.
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
}

/// Takes any text; completions offer the suites of the program.
#[derive(Clone, Debug)]
struct SuiteName;

impl TypedValueParser for SuiteName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BUILT_IN.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

/// Numbers of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

/// More CPUs than Linux can number by default (CONFIG_NR_CPUS of the distributions).
const MOST_CPUS: u32 = 8192;

fn cpus(text: &str) -> Result<Cpus, String> {
    let wrong = || format!("'{text}' is not a list of CPUs such as 0,1 or 0-3");
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
