//! Uses a mode as a stage of a pipeline.

use super::{
    CbcDecryption, CbcEncryption, CfbDecryption, CfbEncryption, Ctr, CtrAcpkm, Ofb, Padding,
};
use crate::gost::{BlockCipher, Cipher, Key, Kuznyechik, Magma, ModeError};
use crate::{Codec, Fault, Tier};

/// Bytes to copy and process at a time.
const STEP_BYTES: usize = 16 << 10;

/// A mode that does not protect against changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Electronic codebook, without a vector: equal blocks stay equal.
    Ecb,
    /// Cipher block chaining. The vector is one or more blocks.
    Cbc,
    /// Counter mode. The vector is half a block.
    Ctr,
    /// Cipher feedback. The vector is one or more blocks.
    Cfb,
    /// Output feedback. The vector is one or more blocks.
    Ofb,
    /// Counter mode with a new key each section. The vector is half a block.
    CtrAcpkm {
        /// Length of a section in bytes: whole blocks.
        section_bytes: usize,
    },
}

/// Whether to encrypt or to decrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
}

type Transform = Box<dyn FnMut(&mut [u8]) + Send>;

/// A mode of a cipher as a [`Codec`].
pub struct Bare {
    transform: Transform,
    /// `transform` takes a multiple of this.
    unit_bytes: usize,
    padding: Padding,
    direction: Direction,
    /// Less than a unit, or up to one unit while it may be the padded one.
    pending: Vec<u8>,
}

impl Bare {
    /// Sets up `mode` of `cipher` under `key`. `padding` applies to ECB and CBC only; the other modes take any length.
    ///
    /// # Errors
    /// [`ModeError::IvLength`], [`ModeError::SectionLength`].
    pub fn new(
        cipher: Cipher,
        mode: Mode,
        direction: Direction,
        key: &Key,
        iv: &[u8],
        padding: Padding,
        tier: Tier,
    ) -> Result<Self, ModeError> {
        let transform = match cipher {
            Cipher::Kuznyechik => transform::<Kuznyechik>(mode, direction, key, iv, tier),
            Cipher::Magma => transform::<Magma>(mode, direction, key, iv, tier),
        }?;
        let is_padded = matches!(mode, Mode::Ecb | Mode::Cbc);
        let unit_bytes = if is_padded { cipher.block_bytes() } else { 1 };
        let padding = if is_padded { padding } else { Padding::None };
        Ok(Self { transform, unit_bytes, padding, direction, pending: Vec::new() })
    }

    /// Returns how much of `bytes` can be processed now.
    fn whole_bytes(&self, bytes: usize) -> usize {
        let is_held = self.direction == Direction::Decrypt && self.padding.is_taken_away();
        bytes.saturating_sub(usize::from(is_held)) / self.unit_bytes * self.unit_bytes
    }
}

fn transform<C: BlockCipher + 'static>(
    mode: Mode,
    direction: Direction,
    key: &Key,
    iv: &[u8],
    tier: Tier,
) -> Result<Transform, ModeError> {
    let cipher = C::new(key, tier);
    Ok(match (mode, direction) {
        (Mode::Ecb, _) if !iv.is_empty() => {
            return Err(ModeError::IvLength { bytes: iv.len(), wanted: "none" });
        }
        (Mode::Ecb, Direction::Encrypt) => Box::new(move |blocks| cipher.encrypt_blocks(blocks)),
        (Mode::Ecb, Direction::Decrypt) => Box::new(move |blocks| cipher.decrypt_blocks(blocks)),
        (Mode::Cbc, Direction::Encrypt) => {
            let mut mode = CbcEncryption::new(cipher, iv)?;
            Box::new(move |blocks| mode.apply(blocks))
        }
        (Mode::Cbc, Direction::Decrypt) => {
            let mut mode = CbcDecryption::new(cipher, iv)?;
            Box::new(move |blocks| mode.apply(blocks))
        }
        (Mode::Ctr, _) => {
            let mut mode = Ctr::new(cipher, iv)?;
            Box::new(move |data| mode.apply(data))
        }
        (Mode::Cfb, Direction::Encrypt) => {
            let mut mode = CfbEncryption::new(cipher, iv)?;
            Box::new(move |data| mode.apply(data))
        }
        (Mode::Cfb, Direction::Decrypt) => {
            let mut mode = CfbDecryption::new(cipher, iv)?;
            Box::new(move |data| mode.apply(data))
        }
        (Mode::Ofb, _) => {
            let mut mode = Ofb::new(cipher, iv)?;
            Box::new(move |data| mode.apply(data))
        }
        (Mode::CtrAcpkm { section_bytes }, _) => {
            let mut mode = CtrAcpkm::<C>::new(key, tier, iv, section_bytes)?;
            Box::new(move |data| mode.apply(data))
        }
    })
}

impl Codec for Bare {
    type Error = ModeError;

    fn output_bound(&self, input_bytes: usize) -> usize {
        self.pending.len() + input_bytes + self.unit_bytes
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<ModeError>> {
        let pending = self.pending.len();
        let whole = self.whole_bytes(pending + input.len());
        if whole < pending || whole == 0 {
            self.pending.extend_from_slice(input);
            return Ok(0);
        }
        let (mut input, rest) = input.split_at(whole - pending);
        output[..pending].copy_from_slice(&self.pending);
        let mut kept = pending;
        for step in output[..whole].chunks_mut(STEP_BYTES) {
            let (now, later) = input.split_at(step.len() - kept);
            step[kept..].copy_from_slice(now);
            (self.transform)(step);
            (kept, input) = (0, later);
        }
        self.pending.clear();
        self.pending.extend_from_slice(rest);
        Ok(whole)
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<ModeError>> {
        let fault = |error| Fault { written: 0, error };
        if self.direction == Direction::Encrypt {
            self.padding.pad(&mut self.pending, self.unit_bytes).map_err(fault)?;
        } else if !self.pending.len().is_multiple_of(self.unit_bytes) {
            return Err(fault(ModeError::NotWholeBlocks { bytes: self.pending.len() }));
        }
        (self.transform)(&mut self.pending);
        let bytes = match self.direction {
            Direction::Encrypt => self.pending.len(),
            Direction::Decrypt => self.padding.message_bytes(&self.pending).map_err(fault)?,
        };
        output[..bytes].copy_from_slice(&self.pending[..bytes]);
        self.pending.clear();
        Ok(bytes)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.pending);
    }
}
