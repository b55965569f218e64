//! Counter mode that changes its key on the way: CTR-ACPKM, R 1323565.1.017-2018, 4.1 (RFC 8645, section 6.2.2).

use super::ctr::{Gamma, first_counter};
use crate::Tier;
use crate::gost::{BlockCipher, Counter, Key, ModeError};

/// The constant D of the transformation ACPKM: the bytes 0x80 … 0x9f.
const CONSTANT: [u8; 32] = {
    let (mut constant, mut index) = ([0; 32], 0_u8);
    while index < 32 {
        constant[index as usize] = 0x80 + index;
        index += 1;
    }
    constant
};

/// Encrypts and decrypts in CTR-ACPKM mode, which is the same operation. It does not protect against changes.
///
/// Each section of the data has its own key, derived from the one before. The data may come in pieces of any length.
pub struct CtrAcpkm<C> {
    cipher: C,
    tier: Tier,
    counter: Counter,
    gamma: Gamma,
    section_bytes: usize,
    /// Bytes left until the key changes.
    left_bytes: usize,
}

impl<C: BlockCipher> CtrAcpkm<C> {
    /// Sets up the mode with `iv`, half a block, and a new key for each `section_bytes`.
    ///
    /// # Errors
    /// [`ModeError::IvLength`] when `iv` is neither half a block nor a whole one; [`ModeError::SectionLength`] when the
    /// section is empty or not whole blocks.
    pub fn new(key: &Key, tier: Tier, iv: &[u8], section_bytes: usize) -> Result<Self, ModeError> {
        if section_bytes == 0 || !section_bytes.is_multiple_of(C::BLOCK_BYTES) {
            return Err(ModeError::SectionLength { bytes: section_bytes });
        }
        let counter = first_counter::<C>(iv)?;
        let cipher = C::new(key, tier);
        Ok(Self {
            cipher,
            tier,
            counter,
            gamma: Gamma::new(),
            section_bytes,
            left_bytes: section_bytes,
        })
    }

    /// Encrypts or decrypts the next bytes.
    pub fn apply(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.left_bytes == 0 {
                self.change_key();
            }
            let (section, rest) = data.split_at_mut(data.len().min(self.left_bytes));
            self.gamma.apply(&self.cipher, &mut self.counter, section);
            self.left_bytes -= section.len();
            data = rest;
        }
    }

    fn change_key(&mut self) {
        let mut next = Key::new(CONSTANT);
        self.cipher.encrypt_blocks(next.bytes_mut());
        self.cipher = C::new(&next, self.tier);
        self.gamma.clear();
        self.left_bytes = self.section_bytes;
    }
}
