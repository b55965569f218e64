//! Encrypts one block at a time with GFNI, in constant time: two copies of it in a register, in the field that GFNI multiplies in.
#![expect(unsafe_code, reason = "loads and stores, and an instruction of GFNI")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::super::carried::{CARRY, CARRY_BACK, ROTATIONS, carried};
use super::super::naive::{Block, RoundKeys};
use super::gfni::OF_CARRIED;
use super::maps::affine;
use super::planes::{AFTER_MIX, load};

/// Returns the keys in the form that [`chain`] adds: carried over, and with what π leaves out of the round before.
pub(super) fn keys_of(keys: &RoundKeys) -> RoundKeys {
    std::array::from_fn(|round| {
        let missing = if round == 0 { [0; 16] } else { AFTER_MIX };
        std::array::from_fn(|index| carried(keys[round][index] ^ missing[index]))
    })
}

/// What L reads: each register has two rotations of the block, and their factors.
struct Rotations {
    places: [__m256i; 8],
    factors: [__m256i; 8],
}

impl Rotations {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        let (mut places, mut factors) = ([_mm256_setzero_si256(); 8], [_mm256_setzero_si256(); 8]);
        let rows = |rows: &'static [[u8; 64]; 4]| rows.as_flattened().as_chunks::<32>().0;
        let of_places = places.iter_mut().zip(rows(&ROTATIONS.0));
        for (register, row) in of_places.chain(factors.iter_mut().zip(rows(&ROTATIONS.1))) {
            *register = load(row);
        }
        Self { places, factors }
    }

    /// Applies π and L, and adds `key`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn round(&self, state: __m256i, key: &Block) -> __m256i {
        let bytes = OF_CARRIED.of(state);
        let mut terms = [_mm256_setzero_si256(); 8];
        for (term, (places, factors)) in terms.iter_mut().zip(self.places.iter().zip(&self.factors))
        {
            *term = times(_mm256_shuffle_epi8(bytes, *places), *factors);
        }
        let [a, b, c, d, e, f, g, h] = terms;
        let pair = |left, right| _mm256_xor_si256(left, right);
        let sum = pair(pair(pair(a, b), pair(c, d)), pair(pair(e, f), pair(g, h)));
        let both = pair(sum, _mm256_permute2x128_si256::<1>(sum, sum));
        pair(both, copies(key))
    }
}

/// Multiplies, with GFNI; see [`affine`].
#[inline]
#[target_feature(enable = "avx2")]
fn times(left: __m256i, right: __m256i) -> __m256i {
    let product;
    // SAFETY: the CPU has GFNI, as `Kernel::new` made sure; the instruction changes its first register and nothing else.
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

#[inline]
#[target_feature(enable = "avx2")]
fn copies(block: &Block) -> __m256i {
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
}

/// Encrypts `blocks` in a chain: XORs each with the ciphertext before it, the first one with `previous`, and encrypts it.
#[target_feature(enable = "avx2")]
pub(super) fn chain(keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
    let (way, [first, others @ ..]) = (Rotations::new(), keys);
    let (carry, back) = (_mm256_set1_epi64x(CARRY), _mm256_set1_epi64x(CARRY_BACK));
    let mut last = affine(copies(&previous), carry);
    for block in blocks {
        last =
            _mm256_xor_si256(_mm256_xor_si256(last, affine(copies(block), carry)), copies(first));
        for key in others {
            last = way.round(last, key);
        }
        let encrypted = _mm256_castsi256_si128(affine(last, back));
        // SAFETY: the reference is to 16 bytes, and the store needs no alignment.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), encrypted) }
    }
}
