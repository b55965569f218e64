//! Modes of operation: GOST R 34.13-2015, CTR-ACPKM and MGM, for either cipher.
//!
//! Only [`Mgm`] and [`Omac`] protect against changes; under the others, whoever can write the ciphertext can change
//! what it decrypts to. All modes work in place. [`Bare`] makes a [`Codec`](crate::Codec) of a mode for a pipeline.

mod acpkm;
mod bare;
mod cbc;
mod ctr;
mod feedback;
mod mgm;
mod omac;
pub mod padding;
mod products;

pub use acpkm::CtrAcpkm;
pub use bare::{Bare, Direction, Mode};
pub use cbc::{CbcDecryption, CbcEncryption};
pub use ctr::Ctr;
pub use feedback::{CfbDecryption, CfbEncryption, Ofb};
pub use mgm::Mgm;
pub use omac::Omac;
pub use padding::Padding;

use super::{BlockCipher, ModeError};

/// Bytes that modes process at a time; all memory for them stays in the first-level cache.
const PIECE_BYTES: usize = 4096;

/// Returns the shift register of CBC, CFB and OFB: one or more whole blocks, GOST R 34.13-2015, 5.3–5.5.
fn register<C: BlockCipher>(iv: &[u8]) -> Result<Vec<u8>, ModeError> {
    if iv.is_empty() || !iv.len().is_multiple_of(C::BLOCK_BYTES) {
        return Err(ModeError::IvLength { bytes: iv.len(), wanted: "one or more whole blocks" });
    }
    Ok(iv.to_vec())
}

/// Compares two tags in a time that depends only on the lengths.
fn is_equal(left: &[u8], right: &[u8]) -> bool {
    assert!(!right.is_empty(), "an empty tag");
    let difference = left.iter().zip(right).fold(0, |sum, (left, right)| sum | left ^ right);
    left.len() == right.len() && std::hint::black_box(difference) == 0
}
