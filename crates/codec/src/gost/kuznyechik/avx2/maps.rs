//! Linear maps of bytes: by look-ups of nibbles, or by GFNI.
#![expect(unsafe_code, reason = "loads, and an instruction of GFNI")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::super::decomposition::{Nibbles, alpha, alpha_back, omega, omega_back};
use super::super::matrix::matrix;
use super::super::standard::{COEFFICIENTS, product};

/// A linear map of bytes.
#[derive(Clone, Copy)]
pub(super) struct Map {
    /// The images of the low nibbles and of the high ones.
    nibbles: [Nibbles; 2],
    /// The same for GFNI.
    matrix: i64,
}

/// Computes a linear map from the images of the eight bits.
pub(super) const fn map_of(images: [u8; 8]) -> Map {
    let (mut map, mut nibble) = ([[0; 16]; 2], 0);
    while nibble < 16 {
        let mut bit = 0;
        while bit < 4 {
            if nibble >> bit & 1 == 1 {
                map[0][nibble] ^= images[bit];
                map[1][nibble] ^= images[bit + 4];
            }
            bit += 1;
        }
        nibble += 1;
    }
    Map { nibbles: map, matrix: matrix(images) }
}

/// The maps of the coefficients of bytes 0 to 5 and 7, with ω on both sides.
pub(super) const FACTORS: [Map; 7] = {
    let [c0, c1, c2, c3, c4, c5, _, c7, ..] = COEFFICIENTS;
    let (coefficients, mut factors, mut index) =
        ([c0, c1, c2, c3, c4, c5, c7], [map_of([0; 8]); 7], 0);
    while index < 7 {
        let (mut images, mut bit) = ([0; 8], 0);
        while bit < 8 {
            images[bit] = omega_back(product(coefficients[index], omega(1 << bit)));
            bit += 1;
        }
        factors[index] = map_of(images);
        index += 1;
    }
    factors
};

/// Images of each bit under ω, and under the maps between the standard's bytes and those that π works on.
pub(super) const OMEGA_BITS: [u8; 8] = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = omega(1 << bit);
        bit += 1;
    }
    images
};
pub(super) const OMEGA_BACK_BITS: [u8; 8] = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = omega_back(1 << bit);
        bit += 1;
    }
    images
};
pub(super) const ALPHA_BITS: [u8; 8] = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = alpha(1 << bit);
        bit += 1;
    }
    images
};

pub(super) const OMEGA: Map = map_of(OMEGA_BITS);
pub(super) const OMEGA_BACK: Map = map_of(OMEGA_BACK_BITS);
pub(super) const ALPHA_AFTER_OMEGA: Map = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = alpha(omega(1 << bit));
        bit += 1;
    }
    map_of(images)
};
pub(super) const BACK: Map = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = omega_back(alpha_back(1 << bit));
        bit += 1;
    }
    map_of(images)
};

/// Loads a table into both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn table(bytes: &Nibbles) -> __m256i {
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn low(byte: __m256i) -> __m256i {
    _mm256_and_si256(byte, _mm256_set1_epi8(15))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn high(byte: __m256i) -> __m256i {
    low(_mm256_srli_epi16::<4>(byte))
}

/// Applies the map of `matrix`, with GFNI; a CPU without it dies of an illegal instruction.
///
/// The instruction is written in assembly: functions for CPUs with GFNI and for those without it would otherwise have to be
/// written twice, because what is inlined must not need more than its caller.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn affine(byte: __m256i, matrix: __m256i) -> __m256i {
    let image;
    // SAFETY: the CPU has GFNI, as `Kernel::new` made sure; the instruction changes its first register and nothing else.
    unsafe {
        asm!(
            "vgf2p8affineqb {image}, {byte}, {matrix}, 0",
            image = lateout(ymm_reg) image,
            byte = in(ymm_reg) byte,
            matrix = in(ymm_reg) matrix,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    image
}

/// A map, ready to be applied to many registers: its tables of nibbles, or its matrix if `GFNI`.
///
/// `GFNI` may be true only where the CPU has that.
#[derive(Clone, Copy)]
pub(super) struct Loaded<const GFNI: bool> {
    low: __m256i,
    high: __m256i,
}

impl<const GFNI: bool> Loaded<GFNI> {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(map: &Map) -> Self {
        if GFNI {
            let matrix = _mm256_set1_epi64x(map.matrix);
            return Self { low: matrix, high: matrix };
        }
        Self { low: table(&map.nibbles[0]), high: table(&map.nibbles[1]) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn of(self, byte: __m256i) -> __m256i {
        if GFNI {
            return affine(byte, self.low);
        }
        _mm256_xor_si256(
            _mm256_shuffle_epi8(self.low, low(byte)),
            _mm256_shuffle_epi8(self.high, high(byte)),
        )
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mapped<const GFNI: bool>(map: &Map, byte: __m256i) -> __m256i {
    Loaded::<GFNI>::new(map).of(byte)
}
