//! The ciphers of GOST R 34.12-2015, their modes of operation, and streams sealed with them.
//!
//! - [`Kuznyechik`] and [`Magma`]: block ciphers, each with a kernel for every [`Tier`](crate::Tier).
//! - [`modes`]: GOST R 34.13-2015 (ECB, CBC, CTR, CFB, OFB, OMAC), CTR-ACPKM (RFC 8645) and MGM (RFC 9058).
//! - [`kdf`]: key derivation, R 50.1.113-2016.
//! - [`stream`]: sealed streams of any length, chunk by chunk; docs/gost.md describes the format.
//!
//! Keys are erased on drop. The kernels for AVX2 and AVX-512 take constant time, except in chained modes: with AVX2 those of
//! Magma leak through the cache, and without GFNI also those of Kuznyechik. The portable kernels leak, and most of those for
//! NEON (see docs/gost.md).

mod block;
mod cipher;
mod error;
pub mod kdf;
mod key;
mod kuznyechik;
mod magma;
pub mod modes;
pub mod stream;

pub use block::{BlockCipher, Counter, Turn};
pub use cipher::{Cipher, UnknownCipher};
pub use error::ModeError;
pub use key::Key;
pub use kuznyechik::Kuznyechik;
pub use magma::Magma;

/// The ciphers as the standard writes them: slow versions that tests compare with.
pub mod naive {
    pub use super::kuznyechik::naive as kuznyechik;
    pub use super::magma::naive as magma;
}
