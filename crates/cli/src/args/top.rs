//! The arguments of `fullbore top` and `fullbore tune`.

use std::time::Duration;

use clap::Args;
use fullbore_measure::Bytes;

/// Show every pipeline that runs on this machine, and which stage holds each of them back.
///
/// fullbore finds pipelines by the ends of pipes that processes hold, and watches those in which something happens, through
/// /proc alone: no process is stopped, no pipe is opened, nothing has to be started with fullbore. On a terminal it fills the
/// screen; the key ? lists the others. Elsewhere, and with --batch, it prints text, and with --json one JSON object a line.
///
/// Times and shares count from the moment at which a pipeline was first watched. Pipelines in which nothing was read, written
/// or computed for 5 seconds are hidden, as daemons have many of these; --idle shows them. Processes of other users show their
/// pipes to root only.
#[derive(Args, Debug)]
#[command(
    name = "top",
    after_help = "Examples:\n  \
        fullbore top\n  \
        fullbore top --once --json | jq -r '.pipelines[0].findings[0].message'\n  \
        fullbore top -b -d 2 -n 5                 # five times, every two seconds, as text\n  \
        fullbore top -u backup -F zstd\n\n\
        Exit status:\n  \
        0      done, also when no pipeline runs\n  \
        2      wrong usage, or standard output cannot be written"
)]
pub(crate) struct TopOptions {
    /// Seconds from one display to the next.
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = delay)]
    pub(crate) delay: Duration,

    /// Print text, without the keys and the screen.
    #[arg(short, long)]
    pub(crate) batch: bool,

    /// Print this many times, then end.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) iterations: Option<u64>,

    /// Look once, for the time of --delay, and print what was seen: --batch --iterations 1.
    #[arg(long, conflicts_with = "iterations")]
    pub(crate) once: bool,

    /// Print JSON, one object a line (schema fullbore.top/1).
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Which pipelines are shown.
#[derive(Args, Debug)]
pub(crate) struct Which {
    /// Show also pipelines in which nothing moves.
    #[arg(short, long)]
    pub(crate) idle: bool,

    /// Only the pipeline of this process. May be repeated.
    #[arg(short, long, value_name = "PID")]
    pub(crate) pid: Vec<i32>,

    /// Only pipelines of this user, by name or number.
    #[arg(short, long, value_name = "USER")]
    pub(crate) user: Option<String>,

    /// Only pipelines that have this text in a command, a unit or a user's name; large and small letters are the same.
    #[arg(short = 'F', long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) filter: String,
}

/// A display that follows faster cannot be read.
const SHORTEST: f64 = 0.1;
const LONGEST: f64 = 1e6;

fn delay(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (SHORTEST..=LONGEST).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err("expected seconds, at least 0.1".to_owned()),
    }
}

/// Change the capacity of pipes of a pipeline that runs, or show them.
///
/// Without PIPE=SIZE, the pipes are listed: their numbers, stages, capacity, and what is in them. Numbers are those of fullbore
/// attach and fullbore top. Linux rounds a size up to a power of two of pages. What fullbore changes stays below the limits
/// for unprivileged users (/proc/sys/fs/pipe-max-size), and leaves a quarter of what all pipes of the user may take to others.
///
/// A pipe keeps its capacity until its pipeline ends. The old one is noted in the user's runtime directory, so --undo can give
/// it back. No process is stopped; an end of the pipe is held for some microseconds.
#[derive(Args, Debug)]
#[command(
    name = "tune",
    override_usage = "fullbore tune PID [PIPE=SIZE]...\n       fullbore tune PID --all SIZE\n       fullbore tune PID --undo",
    after_help = "Examples:\n  \
        fullbore tune 4242                        # list the pipes of its pipeline\n  \
        fullbore tune 4242 2=1M\n  \
        fullbore tune 4242 --all 256K\n  \
        fullbore tune 4242 --undo\n\n\
        Exit status:\n  \
        0      done\n  \
        1      a pipe kept the capacity it had\n  \
        2      there is no such process or pipe, or wrong usage"
)]
pub(crate) struct AdjustOptions {
    /// A process of the pipeline.
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: i32,

    /// Give a pipe, by its number, a capacity, such as 2=1M.
    #[arg(value_name = "PIPE=SIZE", value_parser = change, conflicts_with_all = ["all", "undo"])]
    pub(crate) changes: Vec<(u32, Bytes)>,

    /// Give all pipes this capacity.
    #[arg(long, value_name = "SIZE", conflicts_with = "undo")]
    pub(crate) all: Option<Bytes>,

    /// Give pipes that fullbore tune changed the capacity that they had before.
    #[arg(long)]
    pub(crate) undo: bool,
}

fn change(text: &str) -> Result<(u32, Bytes), String> {
    let wrong = || "expected the number of a pipe and a size, such as 2=1M".to_owned();
    let (pipe, size) = text.split_once('=').ok_or_else(wrong)?;
    let pipe = pipe.parse().ok().filter(|pipe| *pipe > 0).ok_or_else(wrong)?;
    Ok((pipe, size.parse().map_err(|_| wrong())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_seconds_and_changes_name_pipe_and_size() {
        assert_eq!(delay("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "nan", "inf", "1s", "", "1e9"] {
            assert!(delay(wrong).is_err(), "{wrong}");
        }
        assert_eq!(change("2=1M"), Ok((2, Bytes(1 << 20))));
        for wrong in ["2", "=1M", "0=1M", "2=", "a=1M", "2=x", "-1=4K"] {
            assert!(change(wrong).is_err(), "{wrong}");
        }
    }
}
