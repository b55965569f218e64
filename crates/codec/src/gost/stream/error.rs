//! Errors of sealed streams.

use std::fmt;

use crate::gost::Cipher;

/// The stream cannot be opened or continued.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The stream does not begin with the magic bytes.
    NotSealed,
    /// The stream ends within its header.
    HeaderEnds {
        /// Bytes that are present.
        bytes: usize,
    },
    /// This program does not know this version of the format.
    Version(u8),
    /// No sealer writes such a header.
    Header(&'static str),
    /// The chunk was changed, moved or cut off, or the key is wrong. None of it was released.
    Authentication {
        /// The number of the chunk, from 0.
        chunk: u64,
        /// Where in the sealed stream it starts, in bytes.
        offset: u64,
    },
    /// The stream is longer than one key may protect.
    TooLong {
        /// The cipher of the stream.
        cipher: Cipher,
        /// How many chunks it may have.
        chunks: u64,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSealed => {
                f.write_str("not a sealed stream: it does not begin with the word fullbore")
            }
            Self::HeaderEnds { bytes: 0 } => f.write_str("not a sealed stream: it is empty"),
            Self::HeaderEnds { bytes } => {
                write!(f, "not a sealed stream: it ends after {bytes} bytes of its header")
            }
            Self::Version(version) => write!(f, "sealed stream of unknown version {version}"),
            Self::Header(what) => write!(f, "sealed stream with a damaged header: {what}"),
            Self::Authentication { chunk, offset } => {
                write!(f, "authentication failed in chunk {chunk} at offset {offset}")
            }
            Self::TooLong { cipher, chunks } => {
                write!(f, "the stream is longer than {chunks} chunks, the most for {cipher}")
            }
        }
    }
}

impl std::error::Error for StreamError {}
