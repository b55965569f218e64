//! Errors in what the caller or the stream gives.

use std::fmt;

/// The mode does not take this parameter, or its output cannot be this input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeError {
    /// The initialization vector does not have the length that the mode takes.
    IvLength {
        /// Its length in bytes.
        bytes: usize,
        /// The length that the mode takes.
        wanted: &'static str,
    },
    /// MGM: the first bit of the nonce is not zero (RFC 9058, section 4.1).
    NonceBit,
    /// CTR-ACPKM: a section must be whole blocks, at least one.
    SectionLength {
        /// The given length in bytes.
        bytes: usize,
    },
    /// The input is not whole blocks, and there is no padding.
    NotWholeBlocks {
        /// Bytes after the last whole block.
        bytes: usize,
    },
    /// The last block does not end in the padding.
    Padding,
    /// MGM: nothing to encrypt and nothing to authenticate (RFC 9058, section 6 forbids it), or too much of both.
    MessageLength,
    /// The tag does not match the message: the message was changed, or the key, the nonce or the associated data
    /// differ.
    Authentication,
}

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IvLength { bytes, wanted } => {
                write!(f, "initialization vector of {bytes} bytes: the mode takes {wanted}")
            }
            Self::NonceBit => f.write_str("the first bit of the nonce must be zero"),
            Self::SectionLength { bytes } => {
                write!(f, "section of {bytes} bytes: it must be whole blocks, at least one")
            }
            Self::NotWholeBlocks { bytes } => {
                write!(f, "the input is not whole blocks: {bytes} bytes after the last one")
            }
            Self::Padding => f.write_str("the last block does not end in the padding"),
            Self::MessageLength => f.write_str("the message is empty or too long"),
            Self::Authentication => f.write_str("authentication failed"),
        }
    }
}

impl std::error::Error for ModeError {}
