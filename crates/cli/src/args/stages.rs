//! The arguments of the filters and sources: `morse`, `utf8`, `gen`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use fullbore_codec::morse::{Alphabet, OnError};
use fullbore_measure::Bytes;

use super::choices::one_of;

/// Convert text to Morse code and back, in seven alphabets.
///
/// One space separates letters, and ` / ` separates words; line ends are kept. Figures and punctuation follow ITU-R
/// M.1677-1; in `russian-telegraph` they follow the Russian telegraph code.
///
/// If you decode with the alphabet of the text, the text comes back in capitals. If several characters share one sign,
/// one of them comes back: È for Ł, E for Ê, " for «, - for —. An ellipsis comes back as three full stops, a Hangul
/// syllable as its letters. docs/morse.md lists all of them.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        echo 'SOS Titanic' | fullbore morse encode\n  \
        echo '-- --- ... -.- .-- .-' | fullbore morse decode --alphabet russian\n  \
        fullbore morse encode --audio sos.wav --wpm 15 <<< SOS\n  \
        fullbore morse encode --audio - <<< SOS | aplay\n\n\
        Exit status:\n  \
        0 success; 1 a character or sign has no code (everything before it was written); 2 wrong usage or a failure;\n  \
        141 the reader of the output left")]
pub(crate) enum MorseTask {
    /// Convert text to Morse code. Without --alphabet, each character gets the code of its own script.
    Encode(EncodeOptions),
    /// Convert Morse code to text. Dots are `.` `·` `•`, dashes are `-` `_` `−` `–`.
    Decode(DecodeOptions),
}

#[derive(Args, Debug)]
pub(crate) struct EncodeOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    /// Encode for this alphabet, and refuse characters that decoding would not give back.
    #[arg(long, value_name = "NAME", value_parser = alphabet())]
    pub(crate) alphabet: Option<Alphabet>,

    /// What to do about invalid UTF-8 or a character without a code. `replace` writes the sign ..--..
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = on_error())]
    pub(crate) on_error: OnError,

    /// Write a sound (WAV, 8 kHz, mono) to FILE instead of signs to standard output. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) audio: Option<PathBuf>,

    /// Speed of the sound, in words (PARIS) per minute.
    #[arg(long, value_name = "WORDS", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200), requires = "audio")]
    pub(crate) wpm: u16,

    /// Pitch of the sound, in hertz.
    #[arg(long, value_name = "HERTZ", default_value_t = 600, value_parser = clap::value_parser!(u16).range(100..=3000), requires = "audio")]
    pub(crate) tone: u16,
}

#[derive(Args, Debug)]
pub(crate) struct DecodeOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    /// The alphabet. russian-telegraph uses the punctuation of the Russian telegraph code.
    #[arg(long, value_name = "NAME", default_value = "latin", value_parser = alphabet())]
    pub(crate) alphabet: Alphabet,

    /// What to do about an unknown sign. `replace` writes U+FFFD.
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = on_error())]
    pub(crate) on_error: OnError,
}

/// Check that a stream is valid UTF-8, or repair it.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        zcat dump.sql.gz | fullbore utf8 check | psql db\n  \
        fullbore utf8 check -q names.csv || echo 'not UTF-8'\n  \
        fullbore utf8 repair < broken.txt > whole.txt\n\n\
        Exit status:\n  \
        0 the stream is valid or was repaired; 1 it is not valid; 2 wrong usage or a failure; 141 the reader of the\n  \
        output left")]
pub(crate) enum Utf8Task {
    /// Pass the stream on unchanged, up to the first byte that is not UTF-8.
    Check {
        /// The file to read. Without FILE, or with `-`, read standard input.
        file: Option<PathBuf>,
        /// Pass nothing on and print nothing; only set the exit status.
        #[arg(short, long)]
        quiet: bool,
    },
    /// Replace invalid bytes with U+FFFD: one for each maximal subpart, as the WHATWG Encoding Standard requires.
    Repair {
        /// The file to read. Without FILE, or with `-`, read standard input.
        file: Option<PathBuf>,
        /// Remove invalid bytes instead.
        #[arg(long)]
        drop: bool,
    },
}

/// Make data for tests and benchmarks.
///
/// The same arguments always make the same data. Without --count and --bytes, gen writes until its reader leaves.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        fullbore gen fizzbuzz --count 15\n  \
        fullbore gen jsonl --rows 1000000 --seed 7 | jq -c .user.id | sort -u | wc -l\n  \
        fullbore gen random --bytes 1G > random.bin")]
pub(crate) struct GenOptions {
    /// What to make.
    #[arg(value_enum)]
    pub(crate) what: Made,

    /// Stop after this many lines (fizzbuzz, lines, jsonl).
    #[arg(long, visible_alias = "rows", value_name = "LINES")]
    pub(crate) count: Option<u64>,

    /// Stop after this many bytes (such as 64M or 1G).
    #[arg(long, value_name = "SIZE", conflicts_with = "count")]
    pub(crate) bytes: Option<Bytes>,

    /// Seed of the generator (random, jsonl) [default: 0].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Length of a line including its end, from 1 to 1M (lines) [default: 80].
    #[arg(long, value_name = "SIZE", value_parser = line_length)]
    pub(crate) length: Option<u32>,
}

impl GenOptions {
    /// The given option that has no effect on this kind of data, if there is one.
    pub(crate) fn idle_option(&self) -> Option<&'static str> {
        let is_random = matches!(self.what, Made::Random | Made::Jsonl);
        let is_text = !matches!(self.what, Made::Zero | Made::Random);
        let idle = [
            ("--count", self.count.is_some() && !is_text),
            ("--seed", self.seed.is_some() && !is_random),
            ("--length", self.length.is_some() && self.what != Made::Lines),
        ];
        idle.into_iter().find(|(_, is_idle)| *is_idle).map(|(option, _)| option)
    }
}

/// What `gen` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Made {
    /// 1, 2, Fizz, 4, Buzz and so on, with numbers of any length.
    Fizzbuzz,
    /// Zeros.
    Zero,
    /// Random bytes, not for secrets.
    Random,
    /// Lines of text, all of the same length.
    Lines,
    /// Records of events, one JSON object per line.
    Jsonl,
}

fn alphabet() -> impl TypedValueParser<Value = Alphabet> {
    one_of(Alphabet::ALL.map(Alphabet::name))
}

fn on_error() -> impl TypedValueParser<Value = OnError> {
    one_of(["fail", "replace", "skip"])
}

fn line_length(text: &str) -> Result<u32, String> {
    let length: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let length = u32::try_from(length.0).ok().filter(|length| (1..=1 << 20).contains(length));
    length.ok_or_else(|| "a line has from 1 to 1M bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_length_that_is_a_size() {
        assert_eq!(line_length("4K"), Ok(4096));
        for wrong in ["0", "2M", "-1", "80x", ""] {
            assert!(line_length(wrong).is_err(), "{wrong}");
        }
    }
}
