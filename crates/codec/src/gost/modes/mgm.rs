//! Authenticated encryption: Multilinear Galois Mode, R 1323565.1.026-2019 (RFC 9058).

use zeroize::Zeroize;

use super::products::Products;
use super::{PIECE_BYTES, is_equal};
use crate::Tier;
use crate::gost::block::add;
use crate::gost::{BlockCipher, Counter, Key, ModeError, Turn};

/// MGM under one key. Never use a nonce twice.
///
/// Each block of data costs two cipher blocks, one for the gamma and one for the factor of its product, so the mode
/// runs at no more than half the rate of counter mode.
#[derive(Clone)]
pub struct Mgm<C> {
    cipher: C,
    tier: Tier,
}

/// Two pieces of gamma. They are erased on drop.
struct Gammas {
    data: [u8; PIECE_BYTES],
    factors: [u8; PIECE_BYTES],
}

impl Drop for Gammas {
    fn drop(&mut self) {
        self.data.zeroize();
        self.factors.zeroize();
    }
}

/// Source of the bytes, if it is not their destination; and their destination.
type Piece<'a> = (Option<&'a [u8]>, &'a mut [u8]);

fn pieces<'a>(from: &'a [u8], to: &'a mut [u8]) -> impl Iterator<Item = Piece<'a>> {
    assert_eq!(from.len(), to.len(), "memories of different lengths");
    from.chunks(PIECE_BYTES).map(Some).zip(to.chunks_mut(PIECE_BYTES))
}

/// A message while the mode processes it.
struct Message<'a, C> {
    cipher: &'a C,
    products: Products,
    /// The counter Z of RFC 9058.
    factors: Counter,
    gammas: Gammas,
}

impl<C: BlockCipher> Mgm<C> {
    /// Sets up the mode under `key`.
    #[must_use]
    pub fn new(key: &Key, tier: Tier) -> Self {
        Self { cipher: C::new(key, tier), tier }
    }

    /// Encrypts `data` in place and writes the tag, a whole block or its first bytes, to `tag`.
    ///
    /// `nonce` is a block whose first bit is zero.
    ///
    /// # Errors
    /// [`ModeError::IvLength`], [`ModeError::NonceBit`]; [`ModeError::MessageLength`] when there is no data of either
    /// kind, or too much.
    ///
    /// # Panics
    /// When the tag is longer than a block, or empty.
    pub fn seal(
        &self,
        nonce: &[u8],
        associated: &[u8],
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), ModeError> {
        let length = data.len();
        let pieces = data.chunks_mut(PIECE_BYTES).map(|piece| (None, piece));
        self.seal_pieces(nonce, associated, length, pieces, tag)
    }

    /// Encrypts as [`seal`](Self::seal) does, from one memory to another, `sealed`, of the same length.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    ///
    /// # Panics
    /// As [`seal`](Self::seal), and when the lengths differ.
    pub fn seal_to(
        &self,
        nonce: &[u8],
        associated: &[u8],
        data: &[u8],
        sealed: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), ModeError> {
        self.seal_pieces(nonce, associated, data.len(), pieces(data, sealed), tag)
    }

    fn seal_pieces<'a>(
        &self,
        nonce: &[u8],
        associated: &[u8],
        length: usize,
        pieces: impl Iterator<Item = Piece<'a>>,
        tag: &mut [u8],
    ) -> Result<(), ModeError> {
        check::<C>(nonce, associated, length)?;
        let mut message = self.message(nonce);
        message.authenticate(associated);
        let mut counter = self.first_counter(nonce);
        for (from, to) in pieces {
            message.apply(&mut counter, from, to);
            message.authenticate(to);
        }
        let whole = message.tag(associated.len(), length);
        tag.copy_from_slice(&whole[..C::BLOCK_BYTES][..tag.len()]);
        Ok(())
    }

    /// Decrypts `data` in place if `tag` is its tag; otherwise the data stays unchanged.
    ///
    /// # Errors
    /// [`ModeError::Authentication`] when the tag does not match; and as [`seal`](Self::seal).
    ///
    /// # Panics
    /// When the tag is longer than a block, or empty.
    pub fn open(
        &self,
        nonce: &[u8],
        associated: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<(), ModeError> {
        let mut message = self.verified(nonce, associated, data, tag)?;
        let mut counter = self.first_counter(nonce);
        for piece in data.chunks_mut(PIECE_BYTES) {
            message.apply(&mut counter, None, piece);
        }
        Ok(())
    }

    /// Decrypts as [`open`](Self::open) does, from one memory to another, `data`, of the same length. When the tag does
    /// not match, it writes nothing.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// # Panics
    /// As [`open`](Self::open), and when the lengths differ.
    pub fn open_to(
        &self,
        nonce: &[u8],
        associated: &[u8],
        sealed: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<(), ModeError> {
        let mut message = self.verified(nonce, associated, sealed, tag)?;
        let mut counter = self.first_counter(nonce);
        for (from, to) in pieces(sealed, data) {
            message.apply(&mut counter, from, to);
        }
        Ok(())
    }

    fn verified(
        &self,
        nonce: &[u8],
        associated: &[u8],
        sealed: &[u8],
        tag: &[u8],
    ) -> Result<Message<'_, C>, ModeError> {
        check::<C>(nonce, associated, sealed.len())?;
        let mut message = self.message(nonce);
        message.authenticate(associated);
        message.authenticate(sealed);
        let whole = message.tag(associated.len(), sealed.len());
        if is_equal(&whole[..C::BLOCK_BYTES][..tag.len()], tag) {
            Ok(message)
        } else {
            Err(ModeError::Authentication)
        }
    }

    fn message(&self, nonce: &[u8]) -> Message<'_, C> {
        let mut first = [0; 16];
        let first = &mut first[..C::BLOCK_BYTES];
        first.copy_from_slice(nonce);
        first[0] |= 0x80;
        self.cipher.encrypt_blocks(first);
        Message {
            cipher: &self.cipher,
            products: Products::new(C::BLOCK_BYTES, self.tier),
            factors: Counter::new(first, Turn::Left),
            gammas: Gammas { data: [0; PIECE_BYTES], factors: [0; PIECE_BYTES] },
        }
    }

    /// Returns the counter Y of RFC 9058.
    fn first_counter(&self, nonce: &[u8]) -> Counter {
        let mut first = [0; 16];
        let first = &mut first[..C::BLOCK_BYTES];
        first.copy_from_slice(nonce);
        self.cipher.encrypt_blocks(first);
        Counter::new(first, Turn::Right)
    }
}

impl<C: BlockCipher> Message<'_, C> {
    /// XORs gamma into a piece.
    fn apply(&mut self, counter: &mut Counter, from: Option<&[u8]>, to: &mut [u8]) {
        let whole = to.len().next_multiple_of(C::BLOCK_BYTES);
        self.cipher.gamma(counter, &mut self.gammas.data[..whole]);
        let gamma = &self.gammas.data[..to.len()];
        let Some(from) = from else { return add(to, gamma) };
        for ((sum, byte), gamma) in to.iter_mut().zip(from).zip(gamma) {
            *sum = byte ^ gamma;
        }
    }

    /// Adds the products of `data`, with zeros filling up the last block.
    fn authenticate(&mut self, data: &[u8]) {
        let bytes = C::BLOCK_BYTES;
        for piece in data.chunks(PIECE_BYTES) {
            let (whole, rest) = piece.split_at(piece.len() / bytes * bytes);
            let factors = &mut self.gammas.factors[..piece.len().next_multiple_of(bytes)];
            self.cipher.gamma(&mut self.factors, factors);
            let (factors, last_factor) = factors.split_at(whole.len());
            self.products.add(factors, whole);
            if !rest.is_empty() {
                let mut last = [0; 16];
                last[..rest.len()].copy_from_slice(rest);
                self.products.add(last_factor, &last[..bytes]);
            }
        }
    }

    /// Returns the tag in the first bytes of the array.
    fn tag(&mut self, associated_bytes: usize, data_bytes: usize) -> [u8; 16] {
        let mut lengths = [0; 16];
        let half = C::BLOCK_BYTES / 2;
        for (place, bytes) in [associated_bytes, data_bytes].into_iter().enumerate() {
            let bits = (bytes as u64 * 8).to_be_bytes();
            lengths[place * half..][..half].copy_from_slice(&bits[8 - half..]);
        }
        self.authenticate(&lengths[..C::BLOCK_BYTES]);
        let mut tag = self.products.reduced();
        self.cipher.encrypt_blocks(&mut tag[..C::BLOCK_BYTES]);
        tag
    }
}

/// Checks the conditions of RFC 9058, section 4.1.
fn check<C: BlockCipher>(nonce: &[u8], associated: &[u8], length: usize) -> Result<(), ModeError> {
    if nonce.len() != C::BLOCK_BYTES {
        return Err(ModeError::IvLength { bytes: nonce.len(), wanted: "a whole block" });
    }
    if nonce[0] & 0x80 != 0 {
        return Err(ModeError::NonceBit);
    }
    let bits = (associated.len() as u128 + length as u128) * 8;
    if bits == 0 || bits >= 1 << (C::BLOCK_BYTES * 4) {
        return Err(ModeError::MessageLength);
    }
    Ok(())
}
