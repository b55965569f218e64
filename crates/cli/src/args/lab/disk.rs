//! The arguments of `lab disk` and `lab import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fullbore_measure::Bytes;

/// Measure a disk: six workloads by fio, random and sequential, read and write, 8 jobs with 32 requests each.
///
/// fullbore lays out a file of new bytes, runs the workloads in turn, several passes, and removes the file. All numbers are those of
/// fio; percentiles are those of all requests together. Without fio, fullbore uses threads that read and write, and says so. Nothing
/// is written to a device unless its name is given twice.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore lab disk --quick --dir /mnt/data --report new.json --report new.html\n  \
        fullbore lab disk --device /dev/sdX --erase-everything-on sdX\n  \
        fullbore lab disk --hosts a,b --dir /mnt/data\n  \
        fullbore lab disk --show-jobs > six.fio\n  \
        fullbore lab compare old.json new.json --report diff.html\n\n\
        Exit status:\n  0 all workloads were measured; 2 not all were; 130 ended by Ctrl-C")]
pub(crate) struct DiskOptions {
    #[command(flatten)]
    pub(crate) place: DiskPlace,

    /// Bytes that the workloads use together, such as 512M or 16G [default: 1G with --quick, else 4G; a device: all of it].
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,

    /// Take less than three minutes: shorter passes, wider intervals, no steady state.
    #[arg(long, conflicts_with = "profile")]
    pub(crate) quick: bool,

    /// Make N passes over all workloads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "profile")]
    pub(crate) runs: Option<u32>,

    /// Measure only this workload, such as random-read. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,

    /// Use the parameters of the campaigns that these workloads come from: seed or seed-second. fullbore says what is wrong with them.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Print the job file that fio would get, and measure nothing.
    #[arg(long)]
    pub(crate) show_jobs: bool,

    /// A name for the record in comparisons.
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,

    /// Write a report after every workload of every pass. FILE ends in .json for a record, .html for a page, .md for a table. May be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show no table and no progress. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Where to measure.
#[derive(Args, Debug)]
pub(crate) struct DiskPlace {
    /// Measure the disk that this directory is on, in a file.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["device", "show_jobs"])]
    pub(crate) dir: Option<PathBuf>,

    /// Measure a whole device. Everything on it is lost.
    #[arg(long, value_name = "DEVICE", requires = "erase_everything_on", conflicts_with_all = ["dir", "hosts"])]
    pub(crate) device: Option<PathBuf>,

    /// The name of the device again, as lsblk shows it, to say that everything on it may be lost.
    #[arg(long, value_name = "NAME", requires = "device")]
    pub(crate) erase_everything_on: Option<String>,

    /// Run fio on these hosts, on each of which `fio --server` runs (at its usual port); the directory is one of theirs.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', requires = "dir")]
    pub(crate) hosts: Vec<String>,

    /// Measure even what is no disk: a file system in memory, or an overlay.
    #[arg(long)]
    pub(crate) anyway: bool,
}

/// Make a record of results of fio 3.0 or later, to show and to compare.
///
/// FILE is output of fio with --output-format=json or json+. Files that measured the same become passes of one workload. Logs are
/// used if they lie beside the files. Only json+ has all latencies; without it, percentiles of several jobs are unknown.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fullbore lab import fio old/*.json --label old\n  fullbore lab import fio a.json --report a.html\n\n\
    Exit status:\n  0 all files were read; 2 one could not be read, the others are in the record"
)]
pub(crate) struct ImportOptions {
    /// The program whose results these are.
    #[arg(value_enum)]
    pub(crate) program: ImportFrom,

    /// Its output.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// A name for the record in comparisons. Without --report, the record is written to NAME.json.
    #[arg(long, value_name = "NAME", required_unless_present = "report")]
    pub(crate) label: Option<String>,

    /// Write a report. FILE ends in .json for a record, .html for a page, .md for a table. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Show no table. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Programs whose results can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFrom {
    /// Output of fio 3.0 or later.
    Fio,
}
