//! The arguments of `fullbore par`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fullbore_feed::par::Halt;
use fullbore_measure::Bytes;

use super::prove::{Prove, prove};

/// Deal a stream out to copies of a command on all idle CPUs, and keep its output in order.
///
/// par cuts standard input into blocks of whole lines and starts COMMAND once for each block, with the block as its
/// standard input. As many copies run at the same time as CPUs are idle. Their output, and what they say on standard
/// error, comes out in the order of the input. The output is that of COMMAND alone if COMMAND treats each line by itself,
/// as grep, sed 's/a/b/', cut and jq do.
///
/// Blocks stay in memory and are never cut inside a record; nothing is written to disk. If the output or the input is
/// slow, the other side waits. An empty input starts COMMAND once, so that wc -l says 0.
///
/// In the arguments of COMMAND, {#} stands for the number of the block and {%} for the number of the copy among those
/// that run (from 1). The environment has them as PAR_BLOCK (also PARALLEL_SEQ) and PARALLEL_JOBSLOT.
#[derive(Args, Debug, Default, PartialEq)]
#[command(
    override_usage = "fullbore par [OPTIONS] COMMAND [ARG]...\n       fullbore par [OPTIONS] -c LINE",
    after_help = "Examples:\n  \
        zcat log.gz | fullbore par grep -E 'timeout|refused' | tail\n  \
        fullbore par -a events.jsonl jq -c .price > prices\n  \
        fullbore par -j4 --block 16M -c 'tr A-Z a-z | grep -v ^#' < words\n  \
        cat *.txt | fullbore par --merge auto wc\n  \
        fullbore par --header 1 -c 'mlr --icsv --ojsonl cat' < table.csv\n\n\
        Exit status:\n  \
        0      every copy gave 0\n  \
        1-255  follows from those of the copies: see --status\n  \
        128+n  signal n killed a copy\n  \
        2      wrong usage, or a failure of par itself\n  \
        126    COMMAND cannot be executed\n  \
        127    COMMAND was not found\n  \
        141    the reader of the output left"
)]
#[allow(clippy::struct_excessive_bools, reason = "each flag stands for itself")]
pub(crate) struct ParOptions {
    /// The command and its arguments. No shell is involved.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "line")]
    pub(crate) command: Vec<OsString>,

    /// Run this line with sh -c instead of a command.
    #[arg(short = 'c', long = "command", value_name = "LINE", conflicts_with = "command")]
    pub(crate) line: Option<OsString>,

    /// Run so many copies at the same time, or that percentage of the CPUs [default: one, and one more for each idle
    /// CPU].
    #[arg(short, long, value_name = "N|PERCENT%", value_parser = jobs)]
    pub(crate) jobs: Option<Jobs>,

    /// Put at most this much into a block (such as 64K or 16M). A record that is longer makes its block longer [default:
    /// from 1M to 32M, as it fits the speed of COMMAND].
    #[arg(long, value_name = "SIZE", value_parser = block)]
    pub(crate) block: Option<Bytes>,

    /// Put this many records into a block instead.
    #[arg(short = 'N', long, value_name = "RECORDS", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "block")]
    pub(crate) records: Option<u64>,

    /// Read FILE instead of standard input. Each copy gets its part of the file directly.
    #[arg(short = 'a', long, value_name = "FILE")]
    pub(crate) arg_file: Option<PathBuf>,

    /// Records end with a zero byte instead of a line end.
    #[arg(short = '0', long, conflicts_with_all = ["delimiter", "recend", "recstart"])]
    pub(crate) null: bool,

    /// Records end with this byte. \n, \t, \0 and \x1e are understood.
    #[arg(short = 'd', long, value_name = "BYTE", value_parser = delimiter, conflicts_with_all = ["recend", "recstart"])]
    pub(crate) delimiter: Option<u8>,

    /// Records end with this string.
    #[arg(long, value_name = "STRING", value_parser = mark)]
    pub(crate) recend: Option<Mark>,

    /// Records begin with this string. With --recend, a record ends where --recend is followed by --recstart.
    #[arg(long, value_name = "STRING", value_parser = mark)]
    pub(crate) recstart: Option<Mark>,

    /// Give the first N lines of the input to every copy, and keep the first N lines of the output only once.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) header: u64,

    /// How the outputs become one: `cat` (one after the other), `auto` (as COMMAND needs it), `sum` (wc, grep -c), `sort`,
    /// `uniq`, `uniq-count` (uniq -c), `head`, `tail`, or a command that merges the files it is given, such as 'sort
    /// -mu'. [default: cat, with a warning if COMMAND needs another]
    #[arg(long, value_name = "HOW")]
    pub(crate) merge: Option<String>,

    /// Work on the first SIZE of the input (64M without a size; at most a quarter of --window) twice, also with a single
    /// copy, before anything is written. If the output or the exit status differs, say so and go on with one copy that gets
    /// everything. `all` needs --auto.
    #[arg(long, value_name = "SIZE|all|off", value_parser = prove, num_args = 0..=1, require_equals = true, default_missing_value = "64M", conflicts_with_all = ["unordered", "retries"])]
    pub(crate) prove: Option<Prove>,

    /// Let blocks and outputs that wait take at most this much memory; then stop reading [default: 256M, at most an
    /// eighth of the memory that is available].
    #[arg(long, value_name = "SIZE")]
    pub(crate) window: Option<Bytes>,

    /// Write the output of each block as soon as its copy has ended, in any order.
    #[arg(long)]
    pub(crate) unordered: bool,

    /// Keep the order of the input. This is the default; the option exists for users of GNU parallel.
    #[arg(short = 'k', long, conflicts_with = "unordered")]
    pub(crate) keep_order: bool,

    /// Which exit status follows from those of the copies.
    #[arg(long, value_name = "RULE", value_enum, default_value_t = StatusName::Auto)]
    pub(crate) status: StatusName,

    /// When to give up: `never`, or after N failed copies, `soon` (start no more) or `now` (end those that run).
    #[arg(long, value_name = "never|soon,fail=N|now,fail=N", value_parser = halt, default_value = "never")]
    pub(crate) halt: When,

    /// Try a block again up to N times if its copy fails. Its output then waits until the copy has ended.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) retries: u32,

    /// Run the command as if par were not there, and deal it out only if that is certain to give the same bytes, the input
    /// waits for it and a CPU is idle. `fullbore run --auto` puts this before commands.
    #[arg(long, conflicts_with_all = ["block", "records", "arg_file", "null", "delimiter", "recend", "recstart", "merge", "unordered", "retries", "joblog"])]
    pub(crate) auto: bool,

    /// Where to tell what was done.
    #[arg(long, hide = true, value_name = "ADDRESS", requires = "auto")]
    pub(crate) tell: Option<String>,

    /// Write a line about every copy to FILE, in the columns of GNU parallel.
    #[arg(long, value_name = "FILE")]
    pub(crate) joblog: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Jobs {
    Exactly(usize),
    Percent(f64),
}

/// A string that separates records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(pub(crate) Vec<u8>);

impl ParOptions {
    /// The options of the words that `run --auto` writes: `par --auto [--tell=ADDRESS] [--prove=SIZE] -- COMMAND …` and
    /// `par --auto [--tell=ADDRESS] [--prove=SIZE] -c LINE`; `None` for any others.
    ///
    /// It stands before many short commands, and clap takes longer than everything else there.
    pub(crate) fn of_run_auto(words: &[OsString]) -> Option<Self> {
        let rest = words.strip_prefix(&["par", "--auto"].map(OsString::from))?;
        let (tell, rest) = option(rest, "--tell=");
        let (proved, rest) = option(rest, "--prove=");
        let proved = proved.map(prove).transpose().ok()?;
        let (mark, rest) = rest.split_first()?;
        let (command, line) = match (mark.to_str()?, rest) {
            ("--", [_, ..]) => (rest.to_vec(), None),
            ("-c", [line]) => (Vec::new(), Some(line.clone())),
            _ => return None,
        };
        let tell = tell.filter(|address| !address.is_empty()).map(str::to_owned);
        Some(Self { command, line, tell, prove: proved, auto: true, ..Self::default() })
    }
}

/// The value of an option that may be the first word, and the words after it.
fn option<'a>(words: &'a [OsString], name: &str) -> (Option<&'a str>, &'a [OsString]) {
    let value = words.first().and_then(|word| word.to_str()?.strip_prefix(name));
    (value, &words[usize::from(value.is_some())..])
}

/// When to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct When(pub(crate) Option<Halt>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusName {
    /// As COMMAND means its own: `any` for grep, `last` for jq, otherwise `all`.
    #[default]
    Auto,
    /// 0 if every copy gave 0, otherwise that of the first block that did not.
    All,
    /// 0 if any copy gave 0, unless one gave 2 or more: then the largest.
    Any,
    /// The largest.
    Max,
    /// That of the last block.
    Last,
}

fn jobs(text: &str) -> Result<Jobs, String> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent.is_finite() => Ok(Jobs::Percent(percent)),
            _ => Err("expected a percentage of the CPUs, such as 50%".to_owned()),
        };
    }
    match text.parse::<usize>() {
        Ok(count) if (1..=10_000).contains(&count) => Ok(Jobs::Exactly(count)),
        _ => Err(
            "expected a number of copies from 1 to 10000, or a percentage of the CPUs, such as 50%"
                .to_owned(),
        ),
    }
}

fn block(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size.0 == 0 { Err("a block has at least one byte".to_owned()) } else { Ok(size) }
}

pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match *unescaped(text)?.as_slice() {
        [byte] => Ok(byte),
        _ => Err("expected one byte; for a string use --recend".to_owned()),
    }
}

fn mark(text: &str) -> Result<Mark, String> {
    let bytes = unescaped(text)?;
    if bytes.is_empty() { Err("the string is empty".to_owned()) } else { Ok(Mark(bytes)) }
}

/// The bytes of a text in which `\n`, `\t`, `\r`, `\0`, `\\` and `\xHH` stand for one byte each.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{text}`: after a backslash, n, t, r, 0, \\ or xHH is expected");
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let mut chars = rest.chars();
        let mut skipped = 1;
        bytes.push(match chars.next() {
            Some('n') => b'\n',
            Some('t') => b'\t',
            Some('r') => b'\r',
            Some('0') => 0,
            Some('\\') => b'\\',
            Some('x') => {
                let digits = rest.get(1..3).ok_or_else(wrong)?;
                skipped = 3;
                u8::from_str_radix(digits, 16).map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        });
        rest = &rest[skipped..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

fn halt(text: &str) -> Result<When, String> {
    let wrong = || "expected never, soon,fail=N or now,fail=N".to_owned();
    if text == "never" {
        return Ok(When(None));
    }
    let (when, after) = text.split_once(",fail=").ok_or_else(wrong)?;
    let after = after.parse().ok().filter(|&after| after > 0).ok_or_else(wrong)?;
    match when {
        "soon" | "now" => Ok(When(Some(Halt { after, now: when == "now" }))),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Arguments, Task};
    use super::*;

    #[test]
    fn values_are_read_as_gnu_parallel_reads_them() {
        assert_eq!(jobs("4"), Ok(Jobs::Exactly(4)));
        assert_eq!(jobs("50%"), Ok(Jobs::Percent(50.0)));
        assert_eq!(halt("never"), Ok(When(None)));
        assert_eq!(halt("now,fail=1"), Ok(When(Some(Halt { after: 1, now: true }))));
        assert_eq!(halt("soon,fail=3"), Ok(When(Some(Halt { after: 3, now: false }))));
        for wrong in ["0", "-1", "x", "0%", "-5%", "inf%", ""] {
            assert!(jobs(wrong).is_err(), "{wrong}");
        }
        for wrong in ["soon", "now,fail=0", "later,fail=1", "soon,fail=", ""] {
            assert!(halt(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_of_run_auto_are_read_as_clap_reads_them() {
        let by_clap = |words: &[&str]| {
            let found = Arguments::try_parse_from([&["fullbore"], words].concat());
            match found.map(|arguments| arguments.task) {
                Ok(Task::Par(options)) => Some(options),
                _ => None,
            }
        };
        let quickly = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            ParOptions::of_run_auto(&words)
        };
        for words in [
            &["par", "--auto", "--", "grep", "-v", "--", "x"][..],
            &["par", "--auto", "--tell=a-1", "--", "sort", "-k2"],
            &["par", "--auto", "--", "--", "x"],
            &["par", "--auto", "-c", "sort | uniq -c"],
            &["par", "--auto", "--tell=a-1", "--prove=64M", "--", "sort"],
            &["par", "--auto", "--prove=off", "-c", "sort -u"],
            &["par", "--auto", "--tell=a-1", "-c", "sort -u"],
        ] {
            assert_eq!(quickly(words), by_clap(words), "{words:?}");
            assert!(quickly(words).is_some(), "{words:?}");
        }
        for words in [
            &["par", "--auto"][..],
            &["par", "--auto", "--"],
            &["par", "--auto", "cat"],
            &["par", "--auto", "-j2", "--", "cat"],
            &["par", "--auto", "--prove", "--", "cat"],
            &["par", "--auto", "--prove=some", "--", "cat"],
            &["par", "--auto", "-c", "a", "b"],
            &["par", "cat"],
        ] {
            assert_eq!(quickly(words), None, "{words:?}");
        }
    }

    #[test]
    fn escapes_stand_for_bytes() {
        assert_eq!(unescaped(r"a\n\t\0\\\x1eé"), Ok(b"a\n\t\0\\\x1e\xc3\xa9".to_vec()));
        assert_eq!(delimiter(r"\x00"), Ok(0));
        for wrong in [r"\", r"\q", r"\x1", r"\xzz", r"\xé"] {
            assert!(unescaped(wrong).is_err(), "{wrong}");
        }
        assert!(delimiter("ab").is_err() && delimiter("").is_err() && mark("").is_err());
    }
}
