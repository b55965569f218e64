//! Feedback of ciphertext (CFB) and of output (OFB), whole blocks at a time: GOST R 34.13-2015, 5.3 and 5.5 with s = n.

use zeroize::Zeroize;

use super::{PIECE_BYTES, register};
use crate::gost::block::add;
use crate::gost::{BlockCipher, ModeError};

/// Encrypts and decrypts in OFB mode, which is the same, serial operation. It does not protect against changes.
pub struct Ofb<C> {
    cipher: C,
    /// The register, which is also the current gamma.
    gamma: Vec<u8>,
    /// How many bytes of the gamma are used.
    used: usize,
}

/// Encrypts in CFB mode, which is serial. It does not protect against changes.
pub struct CfbEncryption<C>(Cfb<C>);

/// Decrypts in CFB mode, many blocks at once.
pub struct CfbDecryption<C>(Cfb<C>);

struct Cfb<C> {
    cipher: C,
    /// The gamma, whose used bytes have been replaced by ciphertext: the next register.
    gamma: Vec<u8>,
    used: usize,
    /// For decryption: the register and the ciphertext after it, then their gamma.
    earlier: Vec<u8>,
}

/// Encrypts each block of a short register through the chain, which is made for single blocks.
fn encrypt_few<C: BlockCipher>(cipher: &C, blocks: &mut [u8]) {
    for block in blocks.chunks_mut(C::BLOCK_BYTES) {
        cipher.chain_blocks(&[0; 16][..C::BLOCK_BYTES], block);
    }
}

impl<C: BlockCipher> Ofb<C> {
    /// Sets up the mode with `iv`: one or more whole blocks, never used twice under one key.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is not whole blocks.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        let gamma = register::<C>(iv)?;
        let used = gamma.len();
        Ok(Self { cipher, gamma, used })
    }

    /// Encrypts or decrypts the next bytes.
    pub fn apply(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.used == self.gamma.len() {
                encrypt_few(&self.cipher, &mut self.gamma);
                self.used = 0;
            }
            let (piece, rest) = data.split_at_mut(data.len().min(self.gamma.len() - self.used));
            add(piece, &self.gamma[self.used..self.used + piece.len()]);
            self.used += piece.len();
            data = rest;
        }
    }
}

impl<C> Drop for Ofb<C> {
    fn drop(&mut self) {
        self.gamma.zeroize();
    }
}

impl<C: BlockCipher> Cfb<C> {
    fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        let gamma = register::<C>(iv)?;
        let used = gamma.len();
        Ok(Self { cipher, gamma, used, earlier: Vec::new() })
    }

    /// Renews the gamma when it is used up, and splits off the data that it covers.
    fn next<'a>(&mut self, data: &'a mut [u8]) -> (&'a mut [u8], &'a mut [u8]) {
        if self.used == self.gamma.len() {
            encrypt_few(&self.cipher, &mut self.gamma);
            self.used = 0;
        }
        data.split_at_mut(data.len().min(self.gamma.len() - self.used))
    }

    /// Returns as many bytes of the gamma as `piece` has.
    fn place(&mut self, piece: &[u8]) -> &mut [u8] {
        let from = self.used;
        self.used += piece.len();
        &mut self.gamma[from..self.used]
    }

    fn encrypt(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            let (piece, rest) = self.next(data);
            let place = self.place(piece);
            add(piece, place);
            place.copy_from_slice(piece);
            data = rest;
        }
    }

    fn decrypt(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.used == self.gamma.len() && data.len() > self.gamma.len() {
                let whole = data.len().min(PIECE_BYTES) / C::BLOCK_BYTES * C::BLOCK_BYTES;
                let (piece, rest) = data.split_at_mut(whole);
                self.decrypt_blocks(piece);
                data = rest;
                continue;
            }
            let (piece, rest) = self.next(data);
            let place = self.place(piece);
            add(place, piece);
            piece.swap_with_slice(place);
            data = rest;
        }
    }

    /// Decrypts whole blocks when no gamma is left over.
    fn decrypt_blocks(&mut self, blocks: &mut [u8]) {
        let length = blocks.len();
        self.earlier.clear();
        self.earlier.extend_from_slice(&self.gamma);
        self.earlier.extend_from_slice(blocks);
        self.gamma.copy_from_slice(&self.earlier[length..]);
        self.cipher.encrypt_blocks(&mut self.earlier[..length]);
        add(blocks, &self.earlier[..length]);
    }
}

impl<C> Drop for Cfb<C> {
    fn drop(&mut self) {
        self.gamma.zeroize();
        self.earlier.zeroize();
    }
}

impl<C: BlockCipher> CfbEncryption<C> {
    /// Sets up the mode with `iv`: one or more whole blocks that nobody can predict before choosing the data.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is not whole blocks.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        Cfb::new(cipher, iv).map(Self)
    }

    /// Encrypts the next bytes.
    pub fn apply(&mut self, data: &mut [u8]) {
        self.0.encrypt(data);
    }
}

impl<C: BlockCipher> CfbDecryption<C> {
    /// Sets up the mode with the `iv` of the encryption.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is not whole blocks.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        Cfb::new(cipher, iv).map(Self)
    }

    /// Decrypts the next bytes.
    pub fn apply(&mut self, data: &mut [u8]) {
        self.0.decrypt(data);
    }
}
