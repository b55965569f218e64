//! Pads messages that are not whole blocks: GOST R 34.13-2015, 4.1.

use super::super::ModeError;

/// How to fill the last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// No padding: the message must be whole blocks.
    None,
    /// Procedure 1: zeros, if needed. Decryption keeps them, so the reader must know the length otherwise.
    Zeros,
    /// Procedure 2: always a one bit and zeros. Decryption removes them.
    OneAndZeros,
    /// Not from the standard: always n bytes of the value n (PKCS #7, RFC 5652, 6.3), as `openssl enc` does by default.
    /// Decryption removes them.
    Pkcs7,
}

impl Padding {
    /// Fills up the end of the message, which is less than a block.
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
            Self::Pkcs7 => {
                let bytes = block_bytes - rest.len() % block_bytes;
                rest.resize(rest.len() + bytes, bytes.to_le_bytes()[0]);
            }
        }
        rest.resize(rest.len().next_multiple_of(block_bytes), 0);
        Ok(())
    }

    /// Returns how many bytes of the last block belong to the message.
    ///
    /// The answer reveals something about the plaintext to whoever sends ciphertext, as with any padding that is not
    /// authenticated.
    ///
    /// # Errors
    /// [`ModeError::Padding`] when the block does not end as the padding leaves it.
    pub fn message_bytes(self, last: &[u8]) -> Result<usize, ModeError> {
        let message_bytes = match self {
            Self::None | Self::Zeros => Some(last.len()),
            Self::OneAndZeros => {
                last.iter().rposition(|byte| *byte != 0).filter(|end| last[*end] == 0x80)
            }
            Self::Pkcs7 => last.last().and_then(|count| {
                let message_bytes = last.len().checked_sub(usize::from(*count))?;
                let padding = &last[message_bytes..];
                let is_whole = !padding.is_empty() && padding.iter().all(|byte| byte == count);
                is_whole.then_some(message_bytes)
            }),
        };
        message_bytes.ok_or(ModeError::Padding)
    }

    /// Tells whether decryption removes anything.
    pub(super) fn is_taken_away(self) -> bool {
        matches!(self, Self::OneAndZeros | Self::Pkcs7)
    }
}
