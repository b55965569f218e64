//! Cipher block chaining: GOST R 34.13-2015, 5.4.

use super::{PIECE_BYTES, register};
use crate::gost::block::add;
use crate::gost::{BlockCipher, ModeError};

/// Encrypts in CBC mode: serial by nature, unless the vector has several blocks. It does not protect against changes.
pub struct CbcEncryption<C> {
    cipher: C,
    register: Vec<u8>,
    /// Position of the next block in the register.
    next: usize,
}

/// Decrypts in CBC mode, many blocks at once.
pub struct CbcDecryption<C> {
    cipher: C,
    register: Vec<u8>,
    /// The register and the ciphertext after it.
    earlier: Vec<u8>,
}

impl<C: BlockCipher> CbcEncryption<C> {
    /// Sets up the mode with `iv`: one or more whole blocks that nobody can predict before choosing the data.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is not whole blocks.
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
    /// Sets up the mode with the `iv` of the encryption.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is not whole blocks.
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
