//! The arguments of the filters and sources: `morse`, `utf8`, `gen`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fullbore_codec::morse::{Alphabet, OnError};
use fullbore_measure::Bytes;

/// Morse code: text to signs and back, in seven alphabets.
///
/// Letters are joined by one space, words by ` / `; line ends are kept. Figures and punctuation follow ITU-R M.1677-1.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        echo 'SOS Titanic' | fullbore morse encode\n  \
        echo '-- --- ... -.- .-- .-' | fullbore morse decode --alphabet russian\n  \
        fullbore morse encode --audio sos.wav --wpm 15 <<< SOS\n\n\
        Exit status:\n  \
        0 done; 1 something has no code (everything before it was written); 2 wrong usage or a failure;\n  \
        141 the reader of the output left")]
pub(crate) enum MorseTask {
    /// Text to Morse code; the script of each character is found by itself.
    Encode(EncodeOptions),
    /// Morse code to text. Reads `.` `·` `•` as dots and `-` `_` `−` `–` as dashes.
    Decode(DecodeOptions),
}

#[derive(Args, Debug)]
pub(crate) struct EncodeOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    /// What to do about a character without a code, or invalid UTF-8: fail, replace (by the sign ..--..) or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub(crate) on_error: OnError,

    /// Write the sound of it to FILE (WAV, 8 kHz, mono) instead of the signs to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) audio: Option<PathBuf>,

    /// Speed of the sound, in words per minute (of the length of PARIS).
    #[arg(long, value_name = "WORDS", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200), requires = "audio")]
    pub(crate) wpm: u16,

    /// Pitch of the sound, in hertz.
    #[arg(long, value_name = "HERTZ", default_value_t = 600, value_parser = clap::value_parser!(u16).range(100..=3000), requires = "audio")]
    pub(crate) tone: u16,
}

#[derive(Args, Debug)]
pub(crate) struct DecodeOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    /// The alphabet: latin, greek, russian, hebrew, arabic, japanese or korean.
    #[arg(long, value_name = "NAME", default_value = "latin")]
    pub(crate) alphabet: Alphabet,

    /// What to do about an unknown sign: fail, replace (by U+FFFD) or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub(crate) on_error: OnError,
}

/// UTF-8: is a stream well-formed, and make it so.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        zcat dump.sql.gz | fullbore utf8 check | psql db\n  \
        fullbore utf8 check -q names.csv || echo 'not UTF-8'\n  \
        fullbore utf8 repair < broken.txt > whole.txt\n\n\
        Exit status:\n  \
        0 well-formed, or repaired; 1 not well-formed; 2 wrong usage or a failure; 141 the reader of the output left")]
pub(crate) enum Utf8Task {
    /// Hand the stream on unchanged, up to the first byte that is not UTF-8.
    Check {
        /// What to read; standard input without it, or for `-`.
        file: Option<PathBuf>,
        /// Hand nothing on, and say nothing: only the exit status.
        #[arg(short, long)]
        quiet: bool,
    },
    /// Replace what is not UTF-8 by U+FFFD, one for each maximal subpart, as the WHATWG Encoding Standard says.
    Repair {
        /// What to read; standard input without it, or for `-`.
        file: Option<PathBuf>,
        /// Leave it out instead.
        #[arg(long)]
        drop: bool,
    },
}

/// Make data for tests and benchmarks: the same for the same arguments, endless without a limit.
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

    /// Where random data begins (random, jsonl).
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Length of a line with its end, in bytes (lines).
    #[arg(long, value_name = "BYTES", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) length: u32,
}

/// What `gen` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Made {
    /// 1, 2, Fizz, 4, Buzz and so on, at any length of number.
    Fizzbuzz,
    /// Zeros.
    Zero,
    /// Random bytes, not for secrets.
    Random,
    /// Lines of text of one length.
    Lines,
    /// Records of events, as JSON, one a line.
    Jsonl,
}
