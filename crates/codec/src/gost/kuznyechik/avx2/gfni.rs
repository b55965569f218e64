//! π on CPUs with GFNI: the nibbles of a byte, whatever linear map it is under, are one instruction each.
//!
//! Products are sums of logarithms, as without GFNI, but each look-up leads to the next one without the value between
//! them: that is what a chain waits for.

use std::arch::x86_64::*;

use super::super::carried::{CARRIED_BACK, carried};
use super::super::decomposition::{
    NU_0, NU_1, Nibbles, PHI, POWERS, SIGMA, alpha, logarithm, logarithm_of_inverse,
};
use super::super::matrix::matrix;
use super::super::standard::linear;
use super::maps::{OMEGA_BITS, affine, table};

/// π for bytes under one linear map, without what `decomposition::LEFT_OUT` names.
pub(super) struct Substitution {
    /// The nibbles l and r of α of a byte.
    to_l: i64,
    to_r: i64,
    /// The logarithms of l and of 1/r.
    of_l: Nibbles,
    of_inverse: Nibbles,
    /// What the new l adds to the result, by the logarithm of l · 1/r; and by l, where r is zero.
    new_l: Nibbles,
    l_without_r: Nibbles,
    /// The logarithms of φ of the new l, by that of l · 1/r, without that for l = 0; and of r, with it.
    phi: Nibbles,
    of_r: Nibbles,
    /// What the new r adds to the result, by the logarithm of r · φ.
    new_r: Nibbles,
}

/// Bytes under ω⁻¹, as the planes have them.
pub(super) static OF_PLANES: Substitution = substitution(OMEGA_BITS, [1, 2, 4, 8, 16, 32, 64, 128]);

/// Bytes in the field that GFNI multiplies in.
pub(super) static OF_CARRIED: Substitution = {
    let (mut bytes, mut images, mut bit) = ([0; 8], [0; 8], 0);
    while bit < 8 {
        bytes[bit] = CARRIED_BACK[1 << bit];
        images[bit] = carried(OMEGA_BITS[bit]);
        bit += 1;
    }
    substitution(bytes, images)
};

/// Computes π for bytes whose bits stand for `bytes` of the standard; the bits of the result, under ω⁻¹, become `images`.
const fn substitution(bytes: [u8; 8], images: [u8; 8]) -> Substitution {
    let (mut l, mut r, mut bit) = ([0; 8], [0; 8], 0);
    while bit < 8 {
        l[bit] = alpha(bytes[bit]) >> 4;
        r[bit] = alpha(bytes[bit]) & 15;
        bit += 1;
    }
    let empty = [0; 16];
    let (mut of_l, mut of_inverse, mut of_r) = (empty, empty, empty);
    let (mut new_l, mut l_without_r, mut phi, mut new_r) = (empty, empty, empty, empty);
    let of_zero = logarithm(PHI[NU_1[0] as usize]);
    let mut index = 0_u8;
    while index < 16 {
        let at = index as usize;
        of_l[at] = logarithm(index);
        of_inverse[at] = logarithm_of_inverse(index);
        of_r[at] = if index == 0 { logarithm(0) } else { (logarithm(index) + of_zero) % 15 };
        l_without_r[at] = linear(images, (NU_0[at] ^ NU_1[0]) << 4);
        if at < 15 {
            let l = NU_1[POWERS[at] as usize];
            new_l[at] = linear(images, (l ^ NU_1[0]) << 4);
            phi[at] = (logarithm(PHI[l as usize]) + 15 - of_zero) % 15;
            new_r[at] = linear(images, SIGMA[POWERS[at] as usize] ^ SIGMA[0]);
        }
        index += 1;
    }
    let (to_l, to_r) = (matrix(l), matrix(r));
    Substitution { to_l, to_r, of_l, of_inverse, new_l, l_without_r, phi, of_r, new_r }
}

/// Adds logarithms modulo 15; that of zero keeps its top bit.
#[inline]
#[target_feature(enable = "avx2")]
fn sum(left: __m256i, right: __m256i) -> __m256i {
    let sum = _mm256_add_epi8(left, right);
    _mm256_min_epu8(sum, _mm256_sub_epi8(sum, _mm256_set1_epi8(15)))
}

impl Substitution {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn of(&self, byte: __m256i) -> __m256i {
        let l = affine(byte, _mm256_set1_epi64x(self.to_l));
        let r = affine(byte, _mm256_set1_epi64x(self.to_r));
        let look_up = |nibbles: &Nibbles, at| _mm256_shuffle_epi8(table(nibbles), at);
        let has_no_r = _mm256_cmpeq_epi8(r, _mm256_setzero_si256());
        let without_r = _mm256_and_si256(look_up(&self.l_without_r, l), has_no_r);
        let quotient = sum(look_up(&self.of_l, l), look_up(&self.of_inverse, r));
        let new_l = _mm256_xor_si256(look_up(&self.new_l, quotient), without_r);
        // Where r is zero, so is its product, whatever l has become.
        let product = sum(look_up(&self.phi, quotient), look_up(&self.of_r, r));
        _mm256_xor_si256(new_l, look_up(&self.new_r, product))
    }
}

#[cfg(test)]
mod tests {
    #![expect(unsafe_code, reason = "calls of functions that need the tier")]

    use super::super::super::decomposition::{LEFT_OUT, omega, omega_back};
    use super::super::super::standard::PI;
    use super::*;
    use crate::Tier;

    #[target_feature(enable = "avx2")]
    fn images_of(byte: u8) -> [u8; 2] {
        let of_planes = OF_PLANES.of(_mm256_set1_epi8(omega_back(byte).cast_signed()));
        let of_carried = OF_CARRIED.of(_mm256_set1_epi8(carried(byte).cast_signed()));
        let [under, over] =
            [of_planes, of_carried].map(|byte| _mm256_cvtsi256_si32(byte).to_le_bytes()[0]);
        [omega(under), CARRIED_BACK[usize::from(over)]]
    }

    #[test]
    fn every_byte_becomes_what_the_standard_says() {
        if Tier::Avx2Gfni.or_best() != Tier::Avx2Gfni {
            return crate::tiers::lacking("the kernels of avx2-gfni");
        }
        for byte in 0..=255_u8 {
            // SAFETY: the CPU has the tier.
            let images = unsafe { images_of(byte) };
            assert_eq!(images, [PI[usize::from(byte)] ^ omega(LEFT_OUT); 2], "{byte}");
        }
    }
}
