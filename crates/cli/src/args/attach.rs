//! The arguments of `fullbore attach`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::choices::When;

/// Watch a pipeline that already runs, and say what holds it back.
///
/// fullbore finds the other processes of the pipeline that process PID is in, by the ends of pipes that they hold, and
/// watches them through /proc until the pipeline ends, the time of --for is over, or Ctrl-C is typed. Then it prints a
/// summary; the pipeline goes on as if nothing had happened. Nothing is stopped, and without --tune no pipe is opened.
///
/// Whatever it shows counts from the moment at which it began to watch. The exit status of a process that somebody else
/// started is known only where Linux tells it.
#[derive(Args, Debug)]
#[command(
    override_usage = "fullbore attach [OPTIONS] PID\n       fullbore attach [OPTIONS] --name TEXT",
    after_help = "Examples:\n  \
        fullbore attach 4242                             # until it ends or Ctrl-C is typed\n  \
        fullbore attach --name 'zfs send' --for 30s\n  \
        fullbore attach 4242 --tune --for 2m --report now.html\n\n\
        Exit status:\n  \
        0      something was seen and a summary printed\n  \
        2      there is no such process, or wrong usage"
)]
pub(crate) struct AttachOptions {
    /// A process of the pipeline.
    #[arg(value_name = "PID", required_unless_present = "name", conflicts_with = "name", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: Option<i32>,

    /// Instead of a number: text that the command line of one of its processes contains.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) name: Option<String>,

    /// Watch for this long (such as 500ms, 30s, 5m or 1h; a number alone means seconds).
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) duration: Option<Duration>,

    /// Enlarge pipes while that helps, as run does. They get their old capacity back at the end.
    #[arg(long)]
    pub(crate) tune: bool,

    /// Write a report. FILE ends in .json for a run record, .html for a page. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Write where the time of each stage went from now on, down to functions. FILE ends in .html for a page, or in .folded,
    /// .speedscope.json, .json.gz (Firefox Profiler) or .pb.gz (pprof). May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Vec<PathBuf>,

    /// When to show a live view.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Always, conflicts_with = "quiet")]
    pub(crate) live: When,

    /// Show no summary and no live view. Reports are still written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Longer is not worth a number.
const MOST_SECONDS: f64 = 1e9;

fn time(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => f64::NAN,
    };
    match number.parse::<f64>().map(|number| number * factor) {
        Ok(seconds) if seconds > 0.0 && seconds <= MOST_SECONDS => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err("expected a time such as 500ms, 30s, 5m or 1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_anything_else_is_refused() {
        for (text, milliseconds) in
            [("500ms", 500), ("30s", 30_000), ("1.5", 1500), ("5m", 300_000), ("1h", 3_600_000)]
        {
            assert_eq!(time(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["", "0", "-1s", "5x", "s", "1e9d", "inf", "5 s", "1m30s", "9999999999d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
