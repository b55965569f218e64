//! The arguments as the user typed them. Nothing here reads the system.

pub(crate) mod attach;
pub(crate) mod buffer;
mod choices;
pub(crate) mod count;
pub(crate) mod doctor;
pub(crate) mod flame;
pub(crate) mod gather;
pub(crate) mod gost;
pub(crate) mod json;
pub(crate) mod lab;
pub(crate) mod par;
pub(crate) mod prove;
pub(crate) mod reindexer;
pub(crate) mod sh;
pub(crate) mod stages;
pub(crate) mod top;
pub(crate) mod what_if;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Command, Parser, Subcommand, ValueEnum};
use fullbore_measure::Bytes;

use self::attach::AttachOptions;
use self::buffer::BufferOptions;
pub(crate) use self::choices::When;
use self::count::CountOptions;
use self::doctor::DoctorOptions;
use self::flame::FlameTask;
use self::gather::GatherOptions;
use self::gost::GostTask;
use self::json::JsonTask;
use self::lab::{LabEngineOptions, LabOptions, LabStageOptions};
use self::par::ParOptions;
use self::prove::{Prove, prove};
use self::reindexer::{LoadTask, QueryTask};
use self::sh::ShOptions;
use self::stages::{GenOptions, MorseTask, Utf8Task};
use self::top::{AdjustOptions, TopOptions};
use self::what_if::WhatIfOptions;

/// Run Unix pipelines, enlarge their pipes where that helps, and name the bottleneck.
#[derive(Debug, Parser)]
#[command(
    name = "fullbore",
    version,
    max_term_width = 100,
    help_expected = true,
    after_help = "Examples:\n  fullbore run 'zstdcat events.zst | jq -c .price | sort -n | tail -1'\n  \
        fullbore run --help\n  \
        fullbore --version -v    # also names the kernels and the output method that this machine supports"
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) task: Task,
}

impl Arguments {
    /// Reads the arguments of this process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let task = ParOptions::of_run_auto(&words).map(Task::Par);
        task.or_else(|| Task::alone(&words)).map_or_else(Self::try_parse, |task| Ok(Self { task }))
    }
}

impl Task {
    /// Reads the words of a command that is often started for a short time, by its own definition: those of all commands take
    /// a tenth of such a start to build. `None` for other commands, for help, and for whatever is wrong, because only the
    /// definitions of all commands have the right messages.
    fn alone(words: &[OsString]) -> Option<Self> {
        match words.first()?.to_str()? {
            "run" => options_alone(words).map(Self::Run),
            "par" => options_alone(words).map(Self::Par),
            "buffer" => options_alone(words).map(Self::Buffer),
            "count" => options_alone(words).map(Self::Count),
            _ => None,
        }
    }
}

fn options_alone<T: Args>(words: &[OsString]) -> Option<T> {
    let definition = T::augment_args(Command::new("fullbore"));
    T::from_arg_matches(&definition.try_get_matches_from(words).ok()?).ok()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Run(RunOptions),
    Attach(AttachOptions),
    Top(TopOptions),
    Tune(AdjustOptions),
    Sh(ShOptions),
    WhatIf(WhatIfOptions),
    Gather(GatherOptions),
    #[command(subcommand)]
    Flame(FlameTask),
    Buffer(BufferOptions),
    Par(ParOptions),
    Count(CountOptions),
    #[command(subcommand)]
    Morse(MorseTask),
    #[command(subcommand)]
    Utf8(Utf8Task),
    #[command(subcommand)]
    Json(JsonTask),
    Gen(GenOptions),
    #[command(subcommand)]
    Load(LoadTask),
    #[command(subcommand)]
    Query(QueryTask),
    #[command(subcommand)]
    Gost(GostTask),
    Lab(LabOptions),
    Doctor(DoctorOptions),
    /// Print the run record that follows from recorded samples (run --samples).
    #[command(hide = true)]
    Replay {
        /// The file that run --samples wrote.
        file: PathBuf,
    },
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
    /// Print the manual page of a command, or write those of all commands into a directory.
    #[command(
        after_help = "Examples:\n  fullbore man | man -l -\n  fullbore man gost seal | man -l -\n  fullbore man --directory ~/.local/share/man/man1"
    )]
    Man {
        /// The command, as one word or two [default: fullbore itself].
        #[arg(value_name = "COMMAND", conflicts_with = "directory")]
        command: Vec<String>,
        /// Write fullbore.1, fullbore-run.1, fullbore-gost-seal.1 and so on to DIR, which is created if necessary.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Run a shell pipeline, enlarge its pipes where that helps, and show what held it back.
///
/// A shell gets the line unchanged, so everything that works there works here: the output, messages, exit status and
/// signals are those of `sh -c PIPELINE`. fullbore observes the processes through /proc, without privileges, and prints a
/// summary on standard error.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore run [OPTIONS] PIPELINE\n       fullbore run [OPTIONS] -- COMMAND [ARG]...",
    after_help = "Examples:\n  \
        fullbore run 'zstdcat events.zst | jq -c .price | sort -n | tail -1'\n  \
        fullbore run --shell bash --report run.html 'set -o pipefail; seq 9e7 | gzip > seq.gz'\n  \
        fullbore run --what-if 'zcat log.gz | sort | uniq -c > counts'\n  \
        fullbore run -- xz -9 big.tar\n\n\
        Exit status:\n  \
        the shell's own (if signal n kills the shell, it also kills fullbore: 128 + n); 2 wrong usage;\n  \
        125 fullbore failed; 126 the command cannot be executed; 127 the command was not found"
)]
pub(crate) struct RunOptions {
    /// The line for the shell. Put it in quotes.
    #[arg(
        value_name = "PIPELINE",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(crate) pipeline: Option<OsString>,

    /// A command and its arguments, to run without a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    /// The shell that runs the line (as SHELL -c PIPELINE).
    #[arg(long, value_name = "SHELL", default_value = "sh", conflicts_with = "command")]
    pub(crate) shell: OsString,

    #[command(flatten)]
    pub(crate) faster: FasterOptions,

    #[command(flatten)]
    pub(crate) tune: TuneOptions,

    /// Whether to count every switch of a thread onto a CPU and off it, instead of sampling.
    ///
    /// Counted shares of time on a CPU are exact, however short the processes are. Linux allows it without privileges
    /// where kernel.perf_event_paranoid is at most 2. It costs about a microsecond a switch.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Exact::Never)]
    pub(crate) exact: Exact,

    #[command(flatten)]
    pub(crate) more: MoreOptions,

    /// When to show a live view of the pipeline while it runs; auto: on a terminal to which the pipeline prints no output.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, conflicts_with = "quiet")]
    pub(crate) live: When,

    /// Record every sample, so that the run can be replayed (fullbore replay FILE).
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,

    /// Show no summary and no live view. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Exit with status 125 if something could not be observed or a pipe could not be changed.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What is shown besides the summary.
#[derive(Args, Debug)]
pub(crate) struct MoreOptions {
    /// Show what the CPU and Linux count for each stage: instructions per cycle, GHz, cycles, instructions, misses of the last
    /// cache, of branches and of the data TLB, page faults, context switches, moves to another CPU. What this machine does not
    /// count is left out.
    #[arg(long)]
    pub(crate) counters: bool,

    /// Write a report. FILE ends in .json for a run record, .html for a page. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Write where the time of each stage went, down to functions, on a CPU and while it waits. FILE ends in .html for a page,
    /// or in .folded, .speedscope.json, .json.gz (Firefox Profiler) or .pb.gz (pprof). May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Vec<PathBuf>,
}

/// How the line is made faster.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("changed").args(["auto", "explain"]).multiple(true)))]
pub(crate) struct FasterOptions {
    /// Deal slow commands out over idle CPUs, and answer `sort | uniq -c` and its like as one question, where the bytes
    /// are certain to be the same. docs/auto.md says when.
    #[arg(long, conflicts_with = "command")]
    pub(crate) auto: bool,

    /// Print the line that --auto would run, and run nothing.
    #[arg(long, conflicts_with = "command")]
    pub(crate) explain: bool,

    /// Before --auto changes how a stage works, work on the first SIZE of its input both ways (such as 64M), on everything
    /// (`all`: nothing becomes faster), or on nothing (`off`). If the bytes differ, the stage runs as it is [default: 1M of
    /// what becomes one question, 4M of what is added up, nothing of what treats each line alike].
    #[arg(long, value_name = "SIZE|all|off", value_parser = prove, requires = "changed")]
    pub(crate) prove: Option<Prove>,

    /// After the summary, predict how long the run would take with one thing changed (as what-if does).
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) what_if: bool,
}

/// What is done to the pipes and CPUs of a run.
#[derive(Args, Debug)]
pub(crate) struct TuneOptions {
    /// Leave all pipes as they are.
    #[arg(long, conflicts_with = "pipe_size")]
    pub(crate) no_tune: bool,

    /// Instead of tuning, give every pipe this capacity (such as 256K or 1M) as soon as fullbore sees it.
    #[arg(long, value_name = "SIZE", value_parser = pipe_size)]
    pub(crate) pipe_size: Option<Bytes>,

    /// Keep idle CPUs awake while that makes the pipeline faster, at the price of their CPU time. docs/wake-ups.md says when.
    #[arg(long, conflicts_with = "no_tune")]
    pub(crate) keep_awake: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Exact {
    /// If Linux allows it.
    Auto,
    /// If Linux does not allow it, run nothing.
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
    fn a_command_read_alone_means_the_same() {
        for (line, is_right) in [
            ("run true", true),
            ("run --report a.json --report b.html --live never 'a | b'", true),
            ("run --pipe-size 1M -- xz -9 big.tar", true),
            ("run --auto --prove 4M 'sort | uniq -c'", true),
            ("run --what-if --shell bash x", true),
            ("par -j2 --block 4M grep -E x", true),
            ("par --header 1 -c 'mlr cat' --merge auto", true),
            ("par --prove grep -c x", true),
            ("buffer -m 64M --hash sha256", true),
            ("count --top 10 -k 2 -t , access.csv", true),
            ("run", false),
            ("run --help", false),
            ("run -h", false),
            ("run --no-tune --pipe-size 1M x", false),
            ("par --jobs", false),
            ("count --no-such-option", false),
            ("buffer -m much", false),
            ("--version", false),
            ("lab list", false),
        ] {
            let words: Vec<OsString> =
                shell_words::split(line).unwrap().into_iter().map(OsString::from).collect();
            let alone = Task::alone(&words);
            assert_eq!(alone.is_some(), is_right, "{line}");
            let program = [OsString::from("fullbore")];
            if let Some(alone) = alone {
                let among_all = Arguments::try_parse_from(program.iter().chain(&words));
                let among_all = among_all.unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(format!("{alone:?}"), format!("{:?}", among_all.task), "{line}");
            }
        }
    }

    #[test]
    fn a_pipe_size_out_of_range_is_refused() {
        assert_eq!(pipe_size("64K"), Ok(Bytes(65536)));
        assert!(pipe_size("0").is_err());
        assert!(pipe_size("3G").is_err());
        assert!(pipe_size("big").is_err());
    }
}
