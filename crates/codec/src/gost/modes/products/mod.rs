//! Sums of products in GF(2¹²⁸) and GF(2⁶⁴), for MGM and OMAC: added at full length and reduced once at the end.
//!
//! A block is a polynomial whose first bit is the highest power. The moduli are x¹²⁸ + x⁷ + x² + x + 1 and x⁶⁴ + x⁴ +
//! x³ + x + 1. Source: RFC 9058, section 3.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod sum;

use zeroize::Zeroize;

use crate::Tier;
use crate::gost::block::low_half;
use sum::Sum;

#[derive(Clone, Copy)]
enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Kernel),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Kernel),
}

/// A sum of products of blocks. It is erased on drop.
pub(super) struct Products {
    sum: Sum,
    block_bytes: usize,
    kernel: Kernel,
}

impl Products {
    /// Starts with an empty sum, for blocks of 8 or 16 bytes.
    pub(super) fn new(block_bytes: usize, tier: Tier) -> Self {
        #[cfg(target_arch = "x86_64")]
        let kernel = match tier.or_best() {
            Tier::Avx512 => avx512::Kernel::available().map(Kernel::Avx512),
            Tier::Avx2 | Tier::Avx2Gfni => avx2::Kernel::available().map(Kernel::Avx2),
            Tier::Portable | Tier::Neon => None,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let kernel = {
            let _ = tier;
            None
        };
        Self { sum: Sum::default(), block_bytes, kernel: kernel.unwrap_or(Kernel::Portable) }
    }

    /// Adds the product of each block of `left` with its counterpart in `right`. Both have the same number of whole
    /// blocks.
    pub(super) fn add(&mut self, left: &[u8], right: &[u8]) {
        debug_assert!(left.len() == right.len() && left.len().is_multiple_of(self.block_bytes));
        let sum = if self.block_bytes == 16 {
            let (left, right) = (left.as_chunks().0, right.as_chunks().0);
            match self.kernel {
                Kernel::Portable => portable::sum128(left, right),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2(kernel) => kernel.sum128(left, right),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(kernel) => kernel.sum128(left, right),
            }
        } else {
            let (left, right) = (left.as_chunks().0, right.as_chunks().0);
            match self.kernel {
                Kernel::Portable => portable::sum64(left, right),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2(kernel) => kernel.sum64(left, right),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(kernel) => kernel.sum64(left, right),
            }
        };
        self.sum.low ^= sum.low;
        self.sum.high ^= sum.high;
    }

    /// Returns the sum reduced to a block, in the first bytes of the array.
    pub(super) fn reduced(&self) -> [u8; 16] {
        if self.block_bytes == 16 {
            return reduced128(self.sum).to_be_bytes();
        }
        let mut block = [0; 16];
        block[..8].copy_from_slice(&reduced64(self.sum.low).to_be_bytes());
        block
    }
}

impl Drop for Products {
    fn drop(&mut self) {
        self.sum.low.zeroize();
        self.sum.high.zeroize();
    }
}

/// Returns `sum` modulo x¹²⁸ + x⁷ + x² + x + 1.
fn reduced128(sum: Sum) -> u128 {
    let fold = |high: u128| high ^ high << 1 ^ high << 2 ^ high << 7;
    let beyond = sum.high >> 127 ^ sum.high >> 126 ^ sum.high >> 121;
    sum.low ^ fold(sum.high) ^ fold(beyond)
}

/// Returns `sum` modulo x⁶⁴ + x⁴ + x³ + x + 1.
fn reduced64(sum: u128) -> u64 {
    let fold = |high: u128| high ^ high << 1 ^ high << 3 ^ high << 4;
    let once = u128::from(low_half(sum)) ^ fold(sum >> 64);
    let twice = once ^ fold(once >> 64);
    low_half(twice)
}

/// Returns `block` times x: the step between the subkeys of OMAC, GOST R 34.13-2015, 5.6.1. The moduli are the same.
pub(super) fn reduced_double(block: &[u8]) -> Vec<u8> {
    let number = block.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
    if block.len() == 16 {
        reduced128(Sum { low: number << 1, high: number >> 127 }).to_be_bytes().to_vec()
    } else {
        reduced64(number << 1).to_be_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the product bit by bit, and reduces at each step.
    fn naive(left: u128, right: u128, bits: u32) -> u128 {
        let (top, modulus) = (1 << (bits - 1), if bits == 128 { 0x87 } else { 0x1b });
        (0..bits).rev().fold(0, |sum: u128, bit| {
            let doubled = sum << 1 ^ if sum & top == 0 { 0 } else { modulus };
            let doubled = if bits == 128 { doubled } else { doubled & u128::from(u64::MAX) };
            if right >> bit & 1 == 1 { doubled ^ left } else { doubled }
        })
    }

    fn numbers(bytes: &[u8], block_bytes: usize) -> Vec<u128> {
        let number = |block: &[u8]| block.iter().fold(0, |n, byte| n << 8 | u128::from(*byte));
        bytes.chunks(block_bytes).map(number).collect()
    }

    #[test]
    fn every_kernel_sums_as_naive_does() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        for block_bytes in [8, 16] {
            for blocks in (0..=20).chain([63, 64, 65]) {
                let left: Vec<u8> = (0..blocks * block_bytes).map(|_| random()).collect();
                let right: Vec<u8> = (0..blocks * block_bytes).map(|_| random()).collect();
                let pairs =
                    numbers(&left, block_bytes).into_iter().zip(numbers(&right, block_bytes));
                let bits = if block_bytes == 8 { 64 } else { 128 };
                let wanted = pairs.fold(0, |sum, (left, right)| sum ^ naive(left, right, bits));
                for tier in crate::tiers::tested() {
                    let mut products = Products::new(block_bytes, tier);
                    let split = blocks / 3 * block_bytes;
                    products.add(&left[..split], &right[..split]);
                    products.add(&left[split..], &right[split..]);
                    let found = numbers(&products.reduced()[..block_bytes], block_bytes);
                    assert_eq!(found, [wanted], "{tier}: {blocks} blocks of {block_bytes}");
                }
            }
        }
    }

    #[test]
    fn products_of_extremes_are_reduced_whole() {
        for (bits, left) in [(128, u128::MAX), (128, 1 << 127), (64, u128::from(u64::MAX))] {
            let bytes = &left.to_be_bytes()[16 - bits as usize / 8..];
            for tier in crate::tiers::tested() {
                let mut products = Products::new(bytes.len(), tier);
                products.add(bytes, bytes);
                let found = numbers(&products.reduced()[..bytes.len()], bytes.len());
                assert_eq!(found, [naive(left, left, bits)], "{tier}");
            }
        }
    }
}
