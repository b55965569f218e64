//! Counter mode: GOST R 34.13-2015, 5.2.

use zeroize::Zeroize;

use super::super::block::add;
use super::PIECE_BYTES;
use crate::gost::{BlockCipher, Counter, ModeError, Turn};

/// Encrypts and decrypts in counter mode, which is the same operation. It does not protect against changes.
///
/// The data may come in pieces of any length.
pub struct Ctr<C> {
    cipher: C,
    counter: Counter,
    gamma: Gamma,
}

/// Gamma with the unused end of a block, if any. It is erased on drop.
pub(super) struct Gamma {
    bytes: Box<[u8; PIECE_BYTES]>,
    /// The unused gamma is `bytes[from..to]`.
    from: usize,
    to: usize,
}

impl Gamma {
    pub(super) fn new() -> Self {
        Self { bytes: Box::new([0; PIECE_BYTES]), from: 0, to: 0 }
    }

    /// Discards the unused gamma.
    pub(super) fn clear(&mut self) {
        (self.from, self.to) = (0, 0);
    }

    /// XORs the gamma of `counter` into `data`, starting with the unused gamma.
    pub(super) fn apply<C: BlockCipher>(
        &mut self,
        cipher: &C,
        counter: &mut Counter,
        data: &mut [u8],
    ) {
        let (first, mut rest) = data.split_at_mut(data.len().min(self.to - self.from));
        add(first, &self.bytes[self.from..self.from + first.len()]);
        self.from += first.len();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at_mut(rest.len().min(PIECE_BYTES));
            let whole = piece.len().next_multiple_of(C::BLOCK_BYTES);
            cipher.gamma(counter, &mut self.bytes[..whole]);
            add(piece, &self.bytes[..piece.len()]);
            (self.from, self.to) = (piece.len(), whole);
            rest = others;
        }
    }
}

impl Drop for Gamma {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Returns the first counter: the vector is its left half, or the whole of it as OpenSSL takes it for Magma.
pub(super) fn first_counter<C: BlockCipher>(iv: &[u8]) -> Result<Counter, ModeError> {
    let bytes = C::BLOCK_BYTES;
    if iv.len() != bytes && iv.len() != bytes / 2 {
        return Err(ModeError::IvLength { bytes: iv.len(), wanted: "half a block or a whole one" });
    }
    let mut block = [0; 16];
    block[..iv.len()].copy_from_slice(iv);
    Ok(Counter::new(&block[..bytes], Turn::Whole))
}

impl<C: BlockCipher> Ctr<C> {
    /// Sets up the mode with `iv`: half a block, which must never be used twice under one key.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is neither half a block nor a whole one.
    pub fn new(cipher: C, iv: &[u8]) -> Result<Self, ModeError> {
        Ok(Self { cipher, counter: first_counter::<C>(iv)?, gamma: Gamma::new() })
    }

    /// Encrypts or decrypts the next bytes.
    pub fn apply(&mut self, data: &mut [u8]) {
        self.gamma.apply(&self.cipher, &mut self.counter, data);
    }
}
