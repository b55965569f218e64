//! Magma: blocks of 64 bits, a key of 256.
//!
//! Setting the key selects the fastest kernel that the CPU has; the others agree with it. Source: GOST R 34.12-2015,
//! section 5 (RFC 8891).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod naive;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod standard;

use naive::{Block, RoundKeys};
use zeroize::Zeroize;

use super::Key;
use super::block::{BlockCipher, Counter};
use crate::Tier;

#[derive(Clone)]
enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Kernel),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Kernel),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Kernel),
}

/// Magma under one key. The round keys are erased on drop.
#[derive(Clone)]
pub struct Magma {
    encryption: RoundKeys,
    decryption: RoundKeys,
    kernel: Kernel,
}

/// Returns the whole blocks of `bytes`.
fn blocks_of(bytes: &mut [u8]) -> &mut [Block] {
    let (blocks, rest) = bytes.as_chunks_mut();
    assert!(rest.is_empty(), "not whole blocks: {} bytes too many", rest.len());
    blocks
}

impl Magma {
    fn run(&self, keys: &RoundKeys, blocks: &mut [Block]) {
        match &self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.run(keys, blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.run(keys, blocks),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(kernel) => kernel.run(keys, blocks),
            Kernel::Portable => portable::run(keys, blocks),
        }
    }
}

impl BlockCipher for Magma {
    const BLOCK_BYTES: usize = 8;

    fn new(key: &Key, tier: Tier) -> Self {
        let encryption = naive::round_keys(key.bytes());
        let mut decryption = encryption;
        decryption.reverse();
        #[cfg(target_arch = "x86_64")]
        let kernel = match tier.or_best() {
            Tier::Avx512 => avx512::Kernel::available().map(Kernel::Avx512),
            Tier::Avx2 | Tier::Avx2Gfni => avx2::Kernel::available().map(Kernel::Avx2),
            Tier::Portable | Tier::Neon => None,
        };
        #[cfg(target_arch = "aarch64")]
        let kernel = match tier.or_best() {
            Tier::Neon => neon::Kernel::available().map(Kernel::Neon),
            _ => None,
        };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let kernel = {
            let _ = tier;
            None
        };
        Self { encryption, decryption, kernel: kernel.unwrap_or(Kernel::Portable) }
    }

    fn encrypt_blocks(&self, blocks: &mut [u8]) {
        self.run(&self.encryption, blocks_of(blocks));
    }

    fn decrypt_blocks(&self, blocks: &mut [u8]) {
        self.run(&self.decryption, blocks_of(blocks));
    }

    fn chain_blocks(&self, previous: &[u8], blocks: &mut [u8]) {
        let mut first = [0; 8];
        first.copy_from_slice(previous);
        match &self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.chain(&self.encryption, first, blocks_of(blocks)),
            _ => portable::chain(&self.encryption, first, blocks_of(blocks)),
        }
    }

    fn gamma(&self, counter: &mut Counter, gamma: &mut [u8]) {
        match &self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.gamma(&self.encryption, counter, blocks_of(gamma)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.gamma(&self.encryption, counter, blocks_of(gamma)),
            _ => {
                counter.fill(gamma);
                self.encrypt_blocks(gamma);
            }
        }
    }
}

impl Drop for Magma {
    fn drop(&mut self) {
        self.encryption.zeroize();
        self.decryption.zeroize();
    }
}
