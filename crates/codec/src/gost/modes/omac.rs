//! Message authentication: OMAC, GOST R 34.13-2015, 5.6.

use zeroize::Zeroize;

use super::products::reduced_double;
use super::{PIECE_BYTES, is_equal};
use crate::gost::BlockCipher;

/// Computes the authentication code of a message that comes in pieces of any length.
///
/// It does not encrypt; use a separate key for it.
pub struct Omac<C> {
    cipher: C,
    last: [u8; 16],
    /// Input that is not in `last` yet, because the final block is known only at the end.
    pending: Vec<u8>,
}

impl<C: BlockCipher> Omac<C> {
    /// Starts with an empty message.
    #[must_use]
    pub fn new(cipher: C) -> Self {
        Self { cipher, last: [0; 16], pending: Vec::with_capacity(PIECE_BYTES) }
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            if self.pending.len() == PIECE_BYTES {
                self.chain_pending();
            }
            let (piece, rest) = data.split_at(data.len().min(PIECE_BYTES - self.pending.len()));
            self.pending.extend_from_slice(piece);
            data = rest;
        }
    }

    /// Chains all that is pending: whole blocks that at least one more byte follows.
    fn chain_pending(&mut self) {
        let bytes = C::BLOCK_BYTES;
        self.cipher.chain_blocks(&self.last[..bytes], &mut self.pending);
        if let Some(block) = self.pending.rchunks_exact(bytes).next() {
            self.last[..bytes].copy_from_slice(block);
        }
        self.pending.clear();
    }

    /// Returns the code, a whole block; its first bytes serve as a shorter code.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let bytes = C::BLOCK_BYTES;
        let mut zero = [0; 16];
        self.cipher.chain_blocks(&[0; 16][..bytes], &mut zero[..bytes]);
        let mut subkey = reduced_double(&zero[..bytes]);
        let is_whole = !self.pending.is_empty() && self.pending.len().is_multiple_of(bytes);
        if !is_whole {
            subkey = reduced_double(&subkey);
            self.pending.push(0x80);
            self.pending.resize(self.pending.len().next_multiple_of(bytes), 0);
        }
        let start = self.pending.len() - bytes;
        self.pending[start..].iter_mut().zip(&subkey).for_each(|(byte, key)| *byte ^= key);
        subkey.zeroize();
        self.chain_pending();
        self.last[..bytes].to_vec()
    }

    /// Tells whether `code` is the code or its first bytes, in a time that does not depend on where they differ.
    ///
    /// # Panics
    /// When it is empty or longer than a block.
    #[must_use]
    pub fn verify(self, code: &[u8]) -> bool {
        is_equal(&self.finish()[..code.len()], code)
    }
}

impl<C> Drop for Omac<C> {
    fn drop(&mut self) {
        self.pending.zeroize();
    }
}
