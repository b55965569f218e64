//! Kuznyechik: blocks of 128 bits, a key of 256.
//!
//! Setting the key selects the fastest kernel that the CPU has; the others agree with it. Source: GOST R 34.12-2015,
//! section 4 (RFC 7801).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod carried;
#[cfg(target_arch = "x86_64")]
mod decomposition;
#[cfg(target_arch = "x86_64")]
mod matrix;
pub mod naive;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod standard;

use naive::Block;

use super::Key;
use super::block::{BlockCipher, Counter};
use crate::Tier;

#[derive(Clone)]
enum Kernel {
    Portable(Box<portable::Kernel>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<avx2::Kernel>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<avx512::Kernel>),
    #[cfg(target_arch = "aarch64")]
    Neon(Box<neon::Kernel>),
}

/// Kuznyechik under one key. The round keys are erased on drop.
#[derive(Clone)]
pub struct Kuznyechik {
    kernel: Kernel,
}

/// Returns the whole blocks of `bytes`.
fn blocks_of(bytes: &mut [u8]) -> &mut [Block] {
    let (blocks, rest) = bytes.as_chunks_mut();
    assert!(rest.is_empty(), "not whole blocks: {} bytes too many", rest.len());
    blocks
}

impl BlockCipher for Kuznyechik {
    const BLOCK_BYTES: usize = 16;

    fn new(key: &Key, tier: Tier) -> Self {
        let key = key.bytes();
        #[cfg(target_arch = "x86_64")]
        let kernel = match tier.or_best() {
            Tier::Avx512 => avx512::Kernel::new(key).map(|kernel| Kernel::Avx512(Box::new(kernel))),
            tier @ (Tier::Avx2 | Tier::Avx2Gfni) => {
                avx2::Kernel::new(key, tier).map(|kernel| Kernel::Avx2(Box::new(kernel)))
            }
            Tier::Portable | Tier::Neon => None,
        };
        #[cfg(target_arch = "aarch64")]
        let kernel = match tier.or_best() {
            Tier::Neon => neon::Kernel::new(key).map(|kernel| Kernel::Neon(Box::new(kernel))),
            _ => None,
        };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let kernel = {
            let _ = tier;
            None
        };
        let kernel =
            kernel.unwrap_or_else(|| Kernel::Portable(Box::new(portable::Kernel::new(key))));
        Self { kernel }
    }

    fn encrypt_blocks(&self, blocks: &mut [u8]) {
        let blocks = blocks_of(blocks);
        match &self.kernel {
            Kernel::Portable(kernel) => kernel.encrypt(blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.encrypt(blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.encrypt(blocks),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(kernel) => kernel.encrypt(blocks),
        }
    }

    fn decrypt_blocks(&self, blocks: &mut [u8]) {
        let blocks = blocks_of(blocks);
        match &self.kernel {
            Kernel::Portable(kernel) => kernel.decrypt(blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.decrypt(blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.decrypt(blocks),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(kernel) => kernel.decrypt(blocks),
        }
    }

    fn chain_blocks(&self, previous: &[u8], blocks: &mut [u8]) {
        let mut first = [0; 16];
        first.copy_from_slice(previous);
        let blocks = blocks_of(blocks);
        match &self.kernel {
            Kernel::Portable(kernel) => kernel.chain(first, blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.chain(first, blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.chain(first, blocks),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(kernel) => kernel.chain(first, blocks),
        }
    }

    fn gamma(&self, counter: &mut Counter, gamma: &mut [u8]) {
        match &self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.gamma(counter, blocks_of(gamma)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.gamma(counter, blocks_of(gamma)),
            _ => {
                counter.fill(gamma);
                self.encrypt_blocks(gamma);
            }
        }
    }
}

impl Drop for Kuznyechik {
    fn drop(&mut self) {
        match &mut self.kernel {
            Kernel::Portable(kernel) => kernel.erase(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.erase(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.erase(),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(kernel) => kernel.erase(),
        }
    }
}
