//! Padding of messages that are not whole blocks: GOST R 34.13-2015, 4.1.

use super::super::ModeError;

/// How the last block is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Not at all: the message must be whole blocks.
    None,
    /// Procedure 1: with zeros, if at all. What is decrypted keeps them; its length must be known otherwise.
    Zeros,
    /// Procedure 2: with a one bit and zeros, always. Decryption takes them away.
    OneAndZeros,
}

impl Padding {
    /// Fills up the end of the message, less than a block.
    ///
    /// # Errors
    /// [`ModeError::NotWholeBlocks`] without padding.
    pub fn pad(self, rest: &mut Vec<u8>, block_bytes: usize) -> Result<(), ModeError> {
        match self {
            Self::None if !rest.is_empty() => {
                return Err(ModeError::NotWholeBlocks { bytes: rest.len() });
            }
            Self::None | Self::Zeros => {}
            Self::OneAndZeros => rest.push(0x80),
        }
        rest.resize(rest.len().next_multiple_of(block_bytes), 0);
        Ok(())
    }

    /// How many bytes of the last block are message.
    ///
    /// An answer to whoever sends ciphertext: a padding error tells about the plaintext, as with any padding that is
    /// not authenticated.
    ///
    /// # Errors
    /// [`ModeError::Padding`] when the block does not end as procedure 2 leaves it.
    pub fn message_bytes(self, last: &[u8]) -> Result<usize, ModeError> {
        if self != Self::OneAndZeros {
            return Ok(last.len());
        }
        let end = last.iter().rposition(|byte| *byte != 0).ok_or(ModeError::Padding)?;
        if last[end] == 0x80 { Ok(end) } else { Err(ModeError::Padding) }
    }
}
