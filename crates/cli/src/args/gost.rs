//! The arguments of `gost`: sealed streams, bare modes, authentication codes, keys.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use fullbore_codec::gost::Cipher;
use fullbore_codec::gost::modes::Padding;
use fullbore_measure::Bytes;

use super::choices::one_of;

/// Encrypt and authenticate streams with the ciphers of GOST R 34.12-2015.
///
/// To protect your own data, use `seal` and `open`. `encrypt`, `decrypt` and `mac` are the bare modes of the ciphers, for
/// exchanging data with other programs.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        fullbore gost keygen -o key\n  \
        tar c dir | fullbore gost seal --key-file key > dir.sealed\n  \
        fullbore gost open --key-file key < dir.sealed | tar x\n\n\
        Exit status:\n  \
        0 success; 1 the stream was changed, cut short or sealed with another key (the data before that was written);\n  \
        2 wrong usage or a failure; 141 the reader of the output left")]
pub(crate) enum GostTask {
    Keygen(KeygenOptions),
    Seal(SealOptions),
    Open(OpenOptions),
    Encrypt(BareOptions),
    Decrypt(BareOptions),
    Mac(MacOptions),
}

/// Make a key: 64 hexadecimal digits and a newline.
///
/// If standard output is a file, keygen makes it accessible to its owner only (mode 600) before it writes the key.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost keygen -o key\n  \
        fullbore gost keygen | ssh backup 'umask 077; cat > key'")]
pub(crate) struct KeygenOptions {
    /// Write the key to a new FILE that only its owner can read. An existing file is never overwritten. `-` is standard
    /// output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Where the key comes from. The command line is no place for it, because every user of the machine can read that.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyOptions {
    /// Read the key from FILE: 64 hexadecimal digits, or 32 bytes. Only the owner may have access to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// Read the key from the open descriptor N.
    #[arg(long, value_name = "N")]
    pub(crate) key_fd: Option<OsString>,

    /// Take the key, 64 hexadecimal digits, from the environment variable NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<OsString>,
}

/// Encrypt a stream so that only somebody with the key can read it, and `open` detects every change.
///
/// Each chunk of 1 MiB gets its own authentication tag (MGM, RFC 9058). docs/gost.md describes the format.
/// Memory: 24 MiB with one job; with more, 27 MiB and 5 MiB for each job.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        tar c dir | fullbore gost seal --key-file key > dir.sealed\n  \
        pg_dump db | zstd | fullbore gost seal --key-fd 3 3< key | ssh backup 'cat > db.sealed'")]
pub(crate) struct SealOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher. Magma has a small block and therefore seals at most 4 GiB.
    #[arg(long, value_name = "NAME", default_value_t, value_parser = cipher())]
    pub(crate) cipher: Cipher,

    /// Work on N chunks at a time [default: the number of CPUs this process may use].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Decrypt a sealed stream. Each chunk is verified before any of it is written.
///
/// `open` stops with exit status 1 at the first chunk that is not genuine. By then it has written the chunks before it:
/// they are genuine, but not the whole data. If you need all of the data, write to a new file and use that only after
/// exit status 0.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost open --key-file key < dir.sealed | tar x\n  \
        fullbore gost open --key-file key db.sealed > db.new && mv db.new db")]
pub(crate) struct OpenOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// Work on N chunks at a time [default: the number of CPUs this process may use].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Use one mode of GOST R 34.13-2015, CTR-ACPKM (RFC 8645) or MGM (RFC 9058), compatible with other programs.
///
/// The data has no header, and the key is used as it is. ecb, cbc, ctr, cfb, ofb and ctr-acpkm give NO INTEGRITY: if
/// somebody changes the encrypted data, decryption silently returns other data. Only mgm detects changes. To protect your
/// own data, use `fullbore gost seal`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost encrypt --mode ctr --iv 1234567890abcef0 --key-file key < data > data.ctr\n  \
        fullbore gost decrypt --mode cbc --padding pkcs7 --iv $IV --key-file key < from-openssl > data\n\n\
        mgm keeps the whole message in memory, at most 16 MiB, and writes nothing before it has verified the tag. The tag is\n\
        the last block of the encrypted data. For more data, use `fullbore gost seal` and `open`.")]
pub(crate) struct BareOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    /// The mode. Only mgm detects changes.
    #[arg(long, value_enum)]
    pub(crate) mode: BareMode,

    /// The initialization vector in hexadecimal digits. Never use one twice with the same key. ecb takes none; ctr and
    /// ctr-acpkm take half a block; mgm takes a block whose first bit is zero; cbc, cfb and ofb take one or more blocks.
    #[arg(long, value_name = "HEX")]
    pub(crate) iv: Option<Hex>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher: kuznyechik (blocks of 16 bytes) or magma (8 bytes).
    #[arg(long, value_name = "NAME", default_value_t, value_parser = cipher())]
    pub(crate) cipher: Cipher,

    /// How ecb and cbc fill the last block [default: one-and-zeros]. The other modes take data of any length.
    #[arg(long, value_enum)]
    pub(crate) padding: Option<PaddingName>,

    /// How many bytes ctr-acpkm encrypts before it changes the key [default: 4096 with kuznyechik, 1024 with magma, as in
    /// TLS, RFC 9189].
    #[arg(long, value_name = "SIZE")]
    pub(crate) section: Option<Bytes>,
}

/// Print or verify the authentication code of a message (OMAC, GOST R 34.13-2015, 5.6).
///
/// The code is printed in hexadecimal digits. Anybody with the key can use it to verify that the message is genuine. Use a
/// separate key for codes, not one that encrypts data.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost mac --key-file key < message > message.mac\n  \
        fullbore gost mac --key-file key --verify $(cat message.mac) < message && echo genuine\n\n\
        Exit status:\n  \
        0 success, or the message is genuine; 1 it is not genuine; 2 wrong usage or a failure")]
pub(crate) struct MacOptions {
    /// The file to read. Without FILE, or with `-`, read standard input.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher: kuznyechik (codes of 16 bytes) or magma (8 bytes).
    #[arg(long, value_name = "NAME", default_value_t, value_parser = cipher())]
    pub(crate) cipher: Cipher,

    /// Verify this code, or its first bytes (at least four), instead of printing one.
    #[arg(long, value_name = "HEX")]
    pub(crate) verify: Option<Hex>,
}

/// A mode on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BareMode {
    /// Electronic codebook: equal blocks stay equal; no integrity.
    Ecb,
    /// Cipher block chaining; no integrity.
    Cbc,
    /// Counter mode; no integrity.
    Ctr,
    /// Cipher feedback; no integrity.
    Cfb,
    /// Output feedback; no integrity.
    Ofb,
    /// Counter mode with a new key each section; no integrity.
    CtrAcpkm,
    /// Multilinear Galois mode; detects changes.
    Mgm,
}

/// A padding on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaddingName {
    /// No padding: the data must be whole blocks.
    None,
    /// Add zeros (GOST R 34.13-2015, procedure 1); decryption does not remove them.
    Zeros,
    /// Add a one bit and zeros (procedure 2); decryption removes them.
    #[default]
    OneAndZeros,
    /// Pad as `openssl enc` does (PKCS #7); decryption removes the padding.
    Pkcs7,
}

impl From<PaddingName> for Padding {
    fn from(name: PaddingName) -> Self {
        match name {
            PaddingName::None => Self::None,
            PaddingName::Zeros => Self::Zeros,
            PaddingName::OneAndZeros => Self::OneAndZeros,
            PaddingName::Pkcs7 => Self::Pkcs7,
        }
    }
}

/// Bytes in hexadecimal digits. Nothing secret: it is on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

impl FromStr for Hex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: Option<Vec<u8>> =
            text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
        match digits {
            None => Err("not hexadecimal digits".to_owned()),
            Some(digits) if digits.len() % 2 == 1 => {
                Err("an odd number of hexadecimal digits".to_owned())
            }
            Some(digits) => Ok(Self(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())),
        }
    }
}

/// More would only take memory.
const MOST_JOBS: usize = 1024;

fn cipher() -> impl TypedValueParser<Value = Cipher> {
    one_of(Cipher::ALL.map(Cipher::name))
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
    jobs.ok_or_else(|| format!("expected a number from 1 to {MOST_JOBS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_bytes() {
        assert_eq!("00fF10".parse(), Ok(Hex(vec![0, 255, 16])));
        assert_eq!("".parse(), Ok(Hex(vec![])));
        assert!("0".parse::<Hex>().is_err());
        assert!("0x".parse::<Hex>().is_err());
        assert!("éé".parse::<Hex>().is_err());
    }

    #[test]
    fn there_is_at_least_one_job() {
        assert!(jobs("0").is_err() && jobs("1025").is_err() && jobs("-1").is_err());
        assert_eq!(jobs("5").map(NonZeroUsize::get), Ok(5));
    }
}
