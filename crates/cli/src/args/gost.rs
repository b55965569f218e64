//! The arguments of `gost`: sealed streams, bare modes, authentication codes, keys.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use fullbore_codec::gost::Cipher;
use fullbore_codec::gost::modes::Padding;
use fullbore_measure::Bytes;

/// Ciphers of GOST R 34.12-2015: sealed streams that nobody can read or change, and the bare modes.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
        fullbore gost keygen -o key\n  \
        tar c dir | fullbore gost seal --key-file key > dir.sealed\n  \
        fullbore gost open --key-file key < dir.sealed | tar x\n\n\
        Exit status:\n  \
        0 done; 1 the stream was changed, cut short or sealed with another key (everything before that was written);\n  \
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
/// When standard output is a file, it becomes readable for its owner only (mode 600) before the key is written.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost keygen -o key\n  \
        (umask 077; fullbore gost keygen > key)")]
pub(crate) struct KeygenOptions {
    /// Write it to a new FILE that only its owner can read. A file that is there stays as it is.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Where the key comes from. Never from the command line, which every user of the machine can read.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyOptions {
    /// Read the key from FILE: 64 hexadecimal digits, or 32 bytes. Nobody but its owner may have access to it.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// Read the key from the open descriptor N.
    #[arg(long, value_name = "N")]
    pub(crate) key_fd: Option<OsString>,

    /// Take the key, 64 hexadecimal digits, from the environment variable NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<OsString>,
}

/// Encrypt a stream so that nobody can read it, change it or cut it short without notice.
///
/// It goes in chunks of 1 MiB, each with a tag of its own (MGM, RFC 9058); docs/gost.md has the format.
/// Memory: 20 MiB and 2 MiB for each chunk in work.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        tar c dir | fullbore gost seal --key-file key > dir.sealed\n  \
        pg_dump db | zstd | fullbore gost seal --key-fd 3 3< key | ssh backup 'cat > db.sealed'")]
pub(crate) struct SealOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher: kuznyechik or magma. Magma, with its small block, seals 4 GiB at most.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) cipher: Cipher,

    /// How many chunks to work on at a time; without it, as many as the CPUs that may be used.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Decrypt a sealed stream. No byte comes out before its chunk is known to be genuine.
///
/// When a chunk is not, those before it have been written, and the exit status is 1. What came out until then is the true
/// beginning of the data, and no more: who must have all or nothing waits for exit status 0.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost open --key-file key < dir.sealed | tar x\n  \
        fullbore gost open --key-file key db.sealed > db.new && mv db.new db")]
pub(crate) struct OpenOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// How many chunks to work on at a time; without it, as many as the CPUs that may be used.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// A mode of GOST R 34.13-2015 (or CTR-ACPKM, RFC 8645; MGM, RFC 9058), byte for byte as others have it.
///
/// For data that comes from, or goes to, other programs. ecb, cbc, ctr, cfb, ofb and ctr-acpkm give NO INTEGRITY: who can
/// change what is encrypted changes what it decrypts to, and nobody notices. Only mgm does notice. For data of
/// your own use `fullbore gost seal`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost encrypt --mode ctr --iv 1234567890abcef0 --key-file key < data > data.ctr\n  \
        fullbore gost decrypt --mode cbc --padding pkcs7 --iv $IV --key-file key < from-openssl > data\n\n\
        mgm keeps the whole message in memory, 16 MiB at most, so that nothing of it comes out before its tag was\n\
        verified; the tag, a whole block, is the end of the output. For more data use `fullbore gost seal` and `open`.")]
pub(crate) struct BareOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    /// The mode. No integrity in any but mgm.
    #[arg(long, value_enum)]
    pub(crate) mode: BareMode,

    /// The initialization vector, hexadecimal: none for ecb; half a block for ctr and ctr-acpkm; a block for mgm
    /// (its first bit zero); one or more blocks for cbc, cfb and ofb. Never the same twice with one key.
    #[arg(long, value_name = "HEX")]
    pub(crate) iv: Option<Hex>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher: kuznyechik (blocks of 16 bytes) or magma (8 bytes).
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) cipher: Cipher,

    /// How ecb and cbc fill the last block; the other modes take any length.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) padding: PaddingName,

    /// Bytes under one key in ctr-acpkm; without it 4096 with kuznyechik and 1024 with magma, as in TLS (RFC 9189).
    #[arg(long, value_name = "SIZE")]
    pub(crate) section: Option<Bytes>,
}

/// The authentication code of a message: OMAC, GOST R 34.13-2015, 5.6, in hexadecimal digits.
///
/// It shows that the message is genuine to whoever has the key. Use a key that encrypts nothing.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        fullbore gost mac --key-file key < message > message.mac\n  \
        fullbore gost mac --key-file key --verify $(cat message.mac) < message && echo genuine\n\n\
        Exit status:\n  \
        0 done, or genuine; 1 not genuine; 2 wrong usage or a failure")]
pub(crate) struct MacOptions {
    /// What to read; standard input without it, or for `-`.
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: KeyOptions,

    /// The cipher: kuznyechik (codes of 16 bytes) or magma (8 bytes).
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) cipher: Cipher,

    /// Compare with this code, or with its first bytes (four at least), and print nothing.
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
    /// Multilinear Galois mode: with integrity.
    Mgm,
}

/// A padding on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaddingName {
    /// Not at all: the data must be whole blocks.
    None,
    /// With zeros (GOST R 34.13-2015, procedure 1); they stay when it is decrypted.
    Zeros,
    /// With a one bit and zeros (procedure 2); they are taken away.
    #[default]
    OneAndZeros,
    /// As `openssl enc` does it (PKCS #7); taken away.
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

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
    jobs.ok_or_else(|| format!("a number from 1 to {MOST_JOBS} belongs here"))
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
