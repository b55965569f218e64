//! The arguments of `fullbore buffer`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fullbore_feed::buffer::{Hash, LEAST_LIMIT};
use fullbore_measure::Bytes;

/// Let a pipeline breathe: take what the producer gives, hand it on at the consumer's pace.
///
/// Copies standard input to standard output. Up to a limit, what the consumer is not ready for waits in
/// memory, so that neither side waits for a hiccup of the other. Between pipes the data is never copied.
/// On a terminal, standard error shows how far it is, how fast, and which side waits for which.
///
/// A digest (--hash) goes to standard error at the end. SIGUSR1 prints the state once. The lines of --json are objects:
/// schema ("fullbore.buffer/1"), name, elapsed_ns, read_bytes, written_bytes, queued_bytes, memory_bytes,
/// spilled_bytes, limit_bytes, fill_percent, rate_bytes_per_second and waits_percent (both since the line before),
/// average_bytes_per_second, size_bytes, remaining_ns, verdict (producer, consumer, rate_limit, watermark or none: who
/// is waited for) and ended. What is not known is null.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        pg_dump db | fullbore buffer -m 1G | zstd -T0 > db.zst\n  \
        zfs send tank@today | fullbore buffer -m 4G --start 80% | ssh backup zfs recv tank\n  \
        tar -c . | fullbore buffer -m 256M --spill /var/tmp --hash sha256 -o copy.tar | ssh host tar -x\n  \
        fullbore buffer -L 10M -N upload < disk.img | nc host 9000\n\n\
        Exit status:\n  \
        0 everything was handed on; 2 wrong usage or a failure; 141 the reader of the output left;\n  \
        killed by SIGINT after Ctrl-C, with --on-interrupt drain, too")]
#[allow(clippy::struct_excessive_bools, reason = "each flag stands for itself")]
pub(crate) struct BufferOptions {
    /// Memory that may wait (such as 64M or 2G). Without this, a quarter of what is available, but not more than 1G.
    #[arg(short, long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Bytes>,

    /// When the memory is full, continue in a file in DIR; it has no name and is gone at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) spill: Option<PathBuf>,

    /// Hand on at most this much per second (such as 500K or 10M).
    #[arg(short = 'L', long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate_limit: Option<Bytes>,

    /// Write the stream to FILE, too. May be repeated.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Print a digest of the stream at the end.
    #[arg(long, value_name = "ALGORITHM", value_enum)]
    pub(crate) hash: Option<HashName>,

    /// Begin to hand on when the memory is this full (such as 80%), the input is over, or no more fits.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0")]
    pub(crate) start: f64,

    /// Pause when the memory is down to this, until --start is reached again.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0", requires = "start")]
    pub(crate) stop: f64,

    /// Size of the whole stream, for a bar and the time that is left; known anyway for a file on standard input.
    #[arg(short, long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,

    /// What to call it, when there are several.
    #[arg(short = 'N', long, value_name = "NAME", default_value = "")]
    pub(crate) name: String,

    /// Show nothing but errors, and what --json and --hash were asked for.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Write the state to standard error as JSON, one line every --interval.
    #[arg(long)]
    pub(crate) json: bool,

    /// Time between two states (such as 0.5).
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, default_value = "1")]
    pub(crate) interval: Duration,

    /// What Ctrl-C does: drop what waits, or take no more and hand on what waits (a second Ctrl-C drops it).
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnInterrupt::Drop)]
    pub(crate) on_interrupt: OnInterrupt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HashName {
    /// SHA-256, as sha256sum prints it.
    Sha256,
    /// BLAKE3, as b3sum prints it.
    Blake3,
    /// XXH3 with 64 bits, as xxhsum -H3 prints it; fast, not cryptographic.
    Xxh3,
}

impl HashName {
    pub(crate) fn hash(self) -> Hash {
        match self {
            Self::Sha256 => Hash::Sha256,
            Self::Blake3 => Hash::Blake3,
            Self::Xxh3 => Hash::Xxh3,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Blake3 => "blake3",
            Self::Xxh3 => "xxh3",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInterrupt {
    /// What waits is lost, as with cat.
    Drop,
    /// What waits is handed on.
    Drain,
}

fn size(text: &str) -> Result<Bytes, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn memory(text: &str) -> Result<Bytes, String> {
    let size = size(text)?;
    if size < LEAST_LIMIT { Err(format!("it takes at least {LEAST_LIMIT}")) } else { Ok(size) }
}

fn rate(text: &str) -> Result<Bytes, String> {
    let rate = size(text.strip_suffix("/s").unwrap_or(text))?;
    if rate.0 == 0 { Err("at a rate of 0 nothing would ever arrive".to_owned()) } else { Ok(rate) }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("not a percentage from 0 to 100".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=1e6).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("not a number of seconds from 0.01 up".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused() {
        assert_eq!(memory("64K"), Ok(Bytes(65536)));
        assert!(memory("63K").is_err());
        assert_eq!(rate("10M/s"), Ok(Bytes(10 << 20)));
        assert!(rate("0").is_err());
        assert_eq!(percent("80%"), Ok(80.0));
        assert_eq!(percent("12.5"), Ok(12.5));
        for text in ["101", "-1", "NaN", "many"] {
            assert!(percent(text).is_err() && seconds("0").is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
    }
}
