//! Derives keys: KDF_GOSTR3411_2012_256 of R 50.1.113-2016, 4.5 (RFC 7836, section 4.5).

use hmac::{Hmac, KeyInit, Mac};
use streebog::Streebog256;

use super::Key;

/// Derives a key from `key`, `label` and `seed`: HMAC over Streebog-256 of 01, the label, 00, the seed, 01 00.
///
/// A protocol should fix the lengths of both.
#[must_use]
pub fn derive(key: &Key, label: &[u8], seed: &[u8]) -> Key {
    let mut mac = match Hmac::<Streebog256>::new_from_slice(key.bytes()) {
        Ok(mac) => mac,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    };
    mac.update(&[1]);
    mac.update(label);
    mac.update(&[0]);
    mac.update(seed);
    mac.update(&[1, 0]);
    let mut derived = Key::new([0; Key::BYTES]);
    derived.bytes_mut().copy_from_slice(&mac.finalize().into_bytes());
    derived
}
