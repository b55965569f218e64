//! π with GFNI, whose field of 256 elements has that of π's 16 in it. There, a product and an inverse take one instruction.
//!
//! The instructions are written in assembly, for the reason that [`affine`] gives.
#![expect(unsafe_code, reason = "instructions of GFNI")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::super::decomposition::{NU_0, NU_1, Nibbles, PHI, SIGMA, alpha, omega};
use super::super::matrix::matrix;
use super::super::standard::product_modulo;
use super::maps::{affine, table};

/// Modulus of the field in which GFNI multiplies, x⁸ + x⁴ + x³ + x + 1, without its leading term.
const MODULUS: u8 = 0x1b;

/// The image of x in that field: a root of π's polynomial, x⁴ + x³ + 1.
const ROOT: u8 = {
    let mut root = 2_u8;
    loop {
        let square = product_modulo(root, root, MODULUS);
        let cube = product_modulo(square, root, MODULUS);
        if product_modulo(cube, root, MODULUS) ^ cube == 1 {
            break root;
        }
        root += 1;
    }
};

/// Maps a nibble into GFNI's field.
const fn embedded(nibble: u8) -> u8 {
    let (mut image, mut power, mut bit) = (0, 1, 0);
    while bit < 4 {
        if nibble >> bit & 1 == 1 {
            image ^= power;
        }
        power = product_modulo(power, ROOT, MODULUS);
        bit += 1;
    }
    image
}

/// Returns where an embedded nibble is in the tables: these four bits tell them apart.
const fn place(image: u8) -> usize {
    (image & 1 | image >> 1 & 2 | image >> 2 & 12) as usize
}

/// What turns an embedded nibble into its place.
const PLACE: i64 = matrix([1, 0, 2, 0, 4, 8, 0, 0]);
/// The map that changes nothing.
const SAME: i64 = matrix([1, 2, 4, 8, 16, 32, 64, 128]);
/// The embedded nibbles l and r of a byte under ω⁻¹.
const TO_L: i64 = nibble_of(4);
const TO_R: i64 = nibble_of(0);

const fn nibble_of(shift: u8) -> i64 {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = embedded(alpha(omega(1 << bit)) >> shift & 15);
        bit += 1;
    }
    matrix(images)
}

/// What π looks up, by the places of embedded nibbles, without what `decomposition::LEFT_OUT` names.
struct Tables {
    /// The new l in the upper nibble: by l · 1/r, and by l where r is zero.
    l: Nibbles,
    l_without_r: Nibbles,
    /// φ of the new l, embedded, by l · 1/r.
    phi: Nibbles,
    /// The new r.
    r: Nibbles,
}

static TABLES: Tables = {
    let empty = [0; 16];
    let mut tables = Tables { l: empty, l_without_r: empty, phi: empty, r: empty };
    let mut nibble = 0_u8;
    while nibble < 16 {
        let (at, to) = (nibble as usize, place(embedded(nibble)));
        tables.l[to] = (NU_1[at] ^ NU_1[0]) << 4;
        tables.l_without_r[to] = (NU_0[at] ^ NU_1[0]) << 4;
        tables.phi[to] = embedded(PHI[NU_1[at] as usize]);
        tables.r[to] = SIGMA[at] ^ SIGMA[0];
        nibble += 1;
    }
    tables
};

/// Returns the inverse of each byte; that of zero is zero.
#[inline]
#[target_feature(enable = "avx2")]
fn inverse(byte: __m256i) -> __m256i {
    let same = _mm256_set1_epi64x(SAME);
    let image;
    // SAFETY: the instruction changes its first register and nothing else.
    unsafe {
        asm!(
            "vgf2p8affineinvqb {image}, {byte}, {matrix}, 0",
            image = lateout(ymm_reg) image,
            byte = in(ymm_reg) byte,
            matrix = in(ymm_reg) same,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    image
}

#[inline]
#[target_feature(enable = "avx2")]
fn times(left: __m256i, right: __m256i) -> __m256i {
    let product;
    // SAFETY: the instruction changes its first register and nothing else.
    unsafe {
        asm!(
            "vgf2p8mulb {product}, {left}, {right}",
            product = lateout(ymm_reg) product,
            left = in(ymm_reg) left,
            right = in(ymm_reg) right,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    product
}

/// Applies π to bytes under ω⁻¹, and leaves them so.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn substituted(byte: __m256i) -> __m256i {
    let look_up = |nibbles: &Nibbles, image: __m256i| {
        _mm256_shuffle_epi8(table(nibbles), affine(image, _mm256_set1_epi64x(PLACE)))
    };
    let l = affine(byte, _mm256_set1_epi64x(TO_L));
    let r = affine(byte, _mm256_set1_epi64x(TO_R));
    let has_no_r = _mm256_cmpeq_epi8(r, _mm256_setzero_si256());
    let without_r = _mm256_and_si256(look_up(&TABLES.l_without_r, l), has_no_r);
    let quotient = affine(times(l, inverse(r)), _mm256_set1_epi64x(PLACE));
    let new_l = _mm256_shuffle_epi8(table(&TABLES.l), quotient);
    // Where r is zero, so is its product, whatever l has become.
    let phi = _mm256_shuffle_epi8(table(&TABLES.phi), quotient);
    let new_r = look_up(&TABLES.r, times(phi, r));
    _mm256_or_si256(_mm256_or_si256(new_l, without_r), new_r)
}

#[cfg(test)]
mod tests {
    use super::super::super::decomposition::{LEFT_OUT, omega_back};
    use super::super::super::standard::PI;
    use super::*;
    use crate::Tier;

    #[target_feature(enable = "avx2")]
    fn substituted_alone(byte: u8) -> u8 {
        let image = substituted(_mm256_set1_epi8(byte.cast_signed()));
        _mm256_cvtsi256_si32(image).to_le_bytes()[0]
    }

    #[test]
    fn every_byte_becomes_what_the_standard_says() {
        if Tier::Avx2Gfni.or_best() != Tier::Avx2Gfni {
            return crate::tiers::lacking("the kernels of avx2-gfni");
        }
        for byte in 0..=255_u8 {
            // SAFETY: the CPU has the tier.
            let image = unsafe { substituted_alone(omega_back(byte)) };
            assert_eq!(omega(image ^ LEFT_OUT), PI[usize::from(byte)], "{byte}");
        }
    }

    #[test]
    fn places_tell_nibbles_apart() {
        let mut places: Vec<usize> = (0..16).map(|nibble| place(embedded(nibble))).collect();
        places.sort_unstable();
        assert_eq!(places, (0..16).collect::<Vec<_>>());
    }
}
