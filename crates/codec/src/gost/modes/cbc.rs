//! Cipher block chaining: GOST R 34.13-2015, 5.4.

use super::{PIECE_BYTES, register};
use crate::gost::block::add;
use crate::gost::{BlockCipher, ModeError};

/// Encryption in CBC mode: serial by nature, unless the vector has several blocks. No protection against changes.
pub struct CbcEncryption<C> {
    cipher: C,
    register: Vec<u8>,
    /// Where in the register the next block is.
    next: usize,
}

/// Decryption in CBC mode: many blocks at once.
pub struct CbcDecryption<C> {
    cipher: C,
    register: Vec<u8>,
    /// The register and the ciphertext after it.
    earlier: Vec<u8>,
}

impl<C: BlockCipher> CbcEncryption<C> {
    /// The mode with `iv`: one or more whole blocks, not to be guessed before the data is chosen.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when it is not whole blocks.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        Ok(Self { cipher, register: register::<C>(iv)?, next: 0 })
    }

    /// Encrypts the next blocks.
    ///
    /// # Panics
    /// When they are not whole.
    pub fn apply(&mut self, blocks: &mut [u8]) {
        let bytes = C::BLOCK_BYTES;
        if self.register.len() == bytes {
            self.cipher.chain_blocks(&self.register, blocks);
            if let Some(last) = blocks.len().checked_sub(bytes) {
                self.register.copy_from_slice(&blocks[last..]);
            }
            return;
        }
        for block in blocks.chunks_mut(bytes) {
            let place = &mut self.register[self.next..self.next + bytes];
            self.cipher.chain_blocks(place, block);
            place.copy_from_slice(block);
            self.next = (self.next + bytes) % self.register.len();
        }
    }
}

impl<C: BlockCipher> CbcDecryption<C> {
    /// The mode with `iv`: the one of the encryption.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when it is not whole blocks.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        let register = register::<C>(iv)?;
        let earlier = Vec::with_capacity(register.len() + PIECE_BYTES);
        Ok(Self { cipher, register, earlier })
    }

    /// Decrypts the next blocks.
    ///
    /// # Panics
    /// When they are not whole.
    pub fn apply(&mut self, blocks: &mut [u8]) {
        for piece in blocks.chunks_mut(PIECE_BYTES) {
            self.earlier.clear();
            self.earlier.extend_from_slice(&self.register);
            self.earlier.extend_from_slice(piece);
            self.cipher.decrypt_blocks(piece);
            add(piece, &self.earlier[..piece.len()]);
            self.register.copy_from_slice(&self.earlier[piece.len()..]);
        }
    }
}
