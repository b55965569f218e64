//! The arguments of `fullbore buffer`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fullbore_feed::buffer::{Hash, LEAST_LIMIT};
use fullbore_measure::Bytes;

/// Decouple a bursty producer from its consumer: store data until the consumer is ready for it.
///
/// buffer copies standard input to standard output. If the consumer is not ready, buffer stores the data in memory, up to
/// a limit, so that neither side has to wait for a short pause of the other. As long as nothing has to wait, buffer moves
/// data between two pipes without copying it. If standard error is a terminal, buffer shows there how much it has passed
/// on, how fast, and which side waits for which. SIGUSR1 prints this state once.
///
/// --hash prints a digest on standard error at the end. sha256sum -c, b3sum -c or xxhsum -c can check that line.
/// It contains the name that -N gives, otherwise that of standard input.
///
/// --json prints one object a line:
/// schema ("fullbore.buffer/1"), name, elapsed_ns, read_bytes, written_bytes, queued_bytes, memory_bytes,
/// spilled_bytes, limit_bytes, fill_percent, rate_bytes_per_second and waits_percent (both since the previous line),
/// average_bytes_per_second, size_bytes, remaining_ns, verdict (producer, consumer, rate_limit, watermark or none: who
/// holds the stream back), spill_error (why --spill cannot write any more), ended, digest (algorithm and hex, in the
/// last line) and error (why buffer ended early). Unknown values are null.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        pg_dump db | fullbore buffer -m 1G | zstd -T0 > db.zst\n  \
        zfs send tank@today | fullbore buffer -m 4G --start 80% | ssh backup zfs recv tank\n  \
        tar -c . | fullbore buffer -m 256M --spill /var/tmp --hash sha256 -o copy.tar | ssh host tar -x\n  \
        fullbore buffer -L 10M -N upload < disk.img | nc host 9000\n\n\
        Exit status:\n  \
        0 all data was passed on; 2 wrong usage or a failure; 141 the reader of the output left;\n  \
        after Ctrl-C, SIGINT kills buffer (also with --on-interrupt drain)")]
#[allow(clippy::struct_excessive_bools, reason = "each flag stands for itself")]
pub(crate) struct BufferOptions {
    /// Store at most this much in memory (such as 64M or 2G) [default: a quarter of the available memory, at most 1G].
    ///
    /// buffer copies the data it stores, so that the producer's pages can be freed. The pipes on both sides hold up to
    /// 1 MiB each in addition.
    #[arg(short, long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Bytes>,

    /// When the memory is full, continue in an unnamed file in DIR. The file disappears at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) spill: Option<PathBuf>,

    /// Pass on at most this much per second (such as 500K or 10M).
    #[arg(short = 'L', long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate_limit: Option<Bytes>,

    /// Also write the stream to FILE. May be repeated.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Print a digest of the stream at the end.
    #[arg(long, value_name = "ALGORITHM", value_enum)]
    pub(crate) hash: Option<HashName>,

    /// Wait before writing until the memory is this full (such as 80%), the input ends, or nothing more fits.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0")]
    pub(crate) start: f64,

    /// Pause when less than this is in the memory, and continue when --start is reached again.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0")]
    pub(crate) stop: f64,

    /// Size of the whole stream, to show a bar and the remaining time. If standard input is a file, buffer knows its size.
    #[arg(short, long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,

    /// A name for this buffer, to tell several apart.
    #[arg(short = 'N', long, value_name = "NAME", value_parser = name, default_value = "")]
    pub(crate) name: String,

    /// Show only errors and the digest of --hash.
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Write the state to standard error as JSON, one line every --interval.
    #[arg(long)]
    pub(crate) json: bool,

    /// Time between two updates of the state (such as 0.5).
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, default_value = "1", conflicts_with = "quiet")]
    pub(crate) interval: Duration,

    /// What Ctrl-C does with stored data: drop it, or stop reading and pass it on (a second Ctrl-C drops it).
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnInterrupt::Drop)]
    pub(crate) on_interrupt: OnInterrupt,
}

impl BufferOptions {
    /// What is wrong with the options together, and what to do about it.
    pub(crate) fn mistake(&self) -> Option<(&'static str, &'static str)> {
        let pauses = self.stop > 0.0;
        if pauses && self.start <= 0.0 {
            return Some((
                "--stop does nothing without --start",
                "give both, such as --start 80% --stop 20%",
            ));
        }
        (pauses && self.stop >= self.start).then_some((
            "--stop is not below --start",
            "buffer pauses at --stop until --start is reached again: --start 80% --stop 20%",
        ))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HashName {
    /// SHA-256, as sha256sum prints it.
    Sha256,
    /// BLAKE3, as b3sum prints it.
    Blake3,
    /// XXH3 with 64 bits, as xxhsum -H3 --tag prints it; fast, not cryptographic.
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
    /// Drop the stored data, as cat would.
    Drop,
    /// Pass on the stored data.
    Drain,
}

fn size(text: &str) -> Result<Bytes, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn memory(text: &str) -> Result<Bytes, String> {
    let size = size(text)?;
    if size < LEAST_LIMIT { Err(format!("buffer needs at least {LEAST_LIMIT}")) } else { Ok(size) }
}

fn rate(text: &str) -> Result<Bytes, String> {
    let rate = size(text.strip_suffix("/s").unwrap_or(text))?;
    if rate.0 == 0 { Err("a rate of 0 would never pass anything on".to_owned()) } else { Ok(rate) }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage from 0 to 100".to_owned()),
    }
}

fn name(text: &str) -> Result<String, String> {
    // It is shown on terminals and stands in a line of its own.
    if text.chars().any(char::is_control) {
        return Err("a name cannot contain line ends or other control characters".to_owned());
    }
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=1e6).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds, at least 0.01".to_owned()),
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
        assert!(name("a name").is_ok() && name("red\x1b[31m").is_err() && name("a\nb").is_err());
    }
}
