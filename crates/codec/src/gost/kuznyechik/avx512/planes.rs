//! The rounds on 64 blocks at once, one byte of each in a register.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::super::naive::{Block, RoundKeys};
use super::super::standard::{PI, PI_INVERSE};
use super::constants::FACTORS;
use super::registers::{load, load_table, look_up, store, xor3};

pub(super) type Planes = [__m512i; 16];

/// One byte for each plane, four times, ready to broadcast.
pub(super) type Bytes = [u32; 16];

/// The round keys in the form that the rounds of one direction use.
#[derive(Clone)]
pub(super) struct PlaneKeys {
    /// What is added outside the rounds: before them to encrypt, after them to decrypt.
    pub(super) edge: Bytes,
    /// For each round, what its sixteen steps add.
    pub(super) rounds: [Bytes; 9],
}

impl PlaneKeys {
    #[target_feature(enable = "avx512f,gfni")]
    pub(super) fn for_encryption(keys: &RoundKeys) -> Self {
        let [first, others @ ..] = keys;
        Self { edge: spread(first), rounds: added_by_steps(others, true) }
    }

    /// Uses the bytes in reverse, on which L⁻¹ is L.
    #[target_feature(enable = "avx512f,gfni")]
    pub(super) fn for_decryption(keys: &RoundKeys) -> Self {
        let mut keys = *keys;
        keys.iter_mut().for_each(|key| key.reverse());
        keys.reverse();
        let [others @ .., last] = &keys;
        let result = Self { edge: spread(last), rounds: added_by_steps(others, false) };
        keys.zeroize();
        result
    }

    pub(super) fn erase(&mut self) {
        self.edge.zeroize();
        self.rounds.zeroize();
    }
}

fn spread(bytes: &Block) -> Bytes {
    bytes.map(|byte| u32::from_ne_bytes([byte; 4]))
}

/// Computes what the steps of L add so that the result has each key added after them (`after`), or as if it had been
/// added before them. Each key is a block of a batch, and the steps themselves compute what they make of it.
#[target_feature(enable = "avx512f,gfni")]
fn added_by_steps(keys: &[Block; 9], after: bool) -> [Bytes; 9] {
    let (factors, none) = (load_factors(), [0; 16]);
    let zero = _mm512_setzero_si512();
    let mut wanted = [zero; 16];
    for (index, plane) in wanted.iter_mut().enumerate() {
        let mut bytes = [0; 64];
        bytes.iter_mut().zip(keys).for_each(|(byte, key)| *byte = key[index]);
        *plane = load(&bytes);
        bytes.zeroize();
    }
    let mut planes = if after { [zero; 16] } else { wanted };
    let mut added = [[0; 16]; 9];
    // Step t makes byte 15 − t. Where the result should contain none of it, what the step makes of the bytes before is
    // what it has to add.
    macro_rules! steps {
        ($($step:literal)*) => {
            $({
                let result = if after { wanted[15 - $step] } else { zero };
                shift::<$step>(&mut planes, &factors, &none);
                let made = std::mem::replace(&mut planes[15 - $step], result);
                let mut bytes = [0; 64];
                store(&mut bytes, _mm512_xor_si512(made, result));
                for (added, byte) in added.iter_mut().zip(&bytes) {
                    added[$step] = u32::from_ne_bytes([*byte; 4]);
                }
                bytes.zeroize();
            })*
        };
    }
    steps!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    added
}

/// The CPU's execution ports for registers of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// Two ports, one of them for GFNI, the other for permutations; a look-up in two registers takes three
    /// micro-operations (Intel: Sapphire Rapids measured, <https://uops.info> for others).
    Two,
    /// Four ports, two of them for either, and a look-up in two registers takes one micro-operation (AMD Zen 5).
    Four,
}

impl Ports {
    /// Returns the ports of the CPU that runs this: only AMD's CPUs have SSE4A. Asking the CPU for its maker's name needs
    /// `unsafe` in Rust 1.89, and under a hypervisor microseconds; the features are known already.
    pub(super) fn here() -> Self {
        if is_x86_feature_detected!("sse4a") { Self::Four } else { Self::Two }
    }
}

/// Looks up in 256 bytes by four look-ups in 64 each, chosen by the upper two bits: seven micro-operations instead of
/// eight where there are [`Ports::Two`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up_in_quarters(table: &[__m512i; 4], index: __m512i) -> __m512i {
    let is_odd = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x40));
    let is_high = _mm512_movepi8_mask(index);
    let low = _mm512_permutexvar_epi8(index, table[0]);
    let low = _mm512_mask_permutexvar_epi8(low, is_odd, index, table[1]);
    let high = _mm512_permutexvar_epi8(index, table[2]);
    let high = _mm512_mask_permutexvar_epi8(high, is_odd, index, table[3]);
    _mm512_mask_blend_epi8(is_high, low, high)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(key: u32) -> __m512i {
    _mm512_set1_epi32(key.cast_signed())
}

/// Runs steps `STEP` and `STEP` + 1 of L. Byte p of the block is in plane p − STEP, modulo 16.
///
/// With single steps, each waits for the product of the byte before: L took 40 % longer where there are
/// [`Ports::Four`]. Here two steps wait for one product, because the second uses the two newest bytes with factors of
/// their own.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn shift_twice<const STEP: usize>(planes: &mut Planes, factors: &[__m512i; 9], key: &Bytes) {
    let plane = |byte: usize| planes[(byte + 16 - STEP) % 16];
    let times = |factor: usize, value| _mm512_gf2p8affine_epi64_epi8::<0>(value, factors[factor]);
    let pair =
        |factor: usize, a: usize, b: usize| times(factor, _mm512_xor_si512(plane(a), plane(b)));
    let ones = |bytes: [usize; 3]| xor3(plane(bytes[0]), plane(bytes[1]), plane(bytes[2]));
    // Sum of all but the two newest bytes, for either step.
    let middle = xor3(pair(2, 2, 12), pair(3, 3, 11), pair(4, 4, 10));
    let outer = xor3(times(0, plane(14)), times(1, plane(13)), times(6, plane(7)));
    let rest = xor3(pair(5, 5, 9), ones([6, 8, 15]), broadcast(key[STEP]));
    let first = xor3(rest, middle, outer);
    let middle = xor3(pair(3, 2, 10), pair(4, 3, 9), pair(5, 4, 8));
    let outer = xor3(times(0, plane(13)), times(1, plane(12)), times(2, plane(11)));
    let inner = xor3(times(6, plane(6)), ones([5, 7, 14]), times(0, first));
    let second = _mm512_xor_si512(xor3(middle, outer, inner), broadcast(key[STEP + 1]));
    let (newest, before) = (plane(0), plane(1));
    planes[(15 + 16 - STEP) % 16] = xor3(first, times(0, newest), times(1, before));
    planes[(14 + 16 - STEP) % 16] = xor3(second, times(7, newest), times(8, before));
}

/// Runs step `STEP` of L with as few micro-operations as possible, which matters where there are [`Ports::Two`].
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn shift<const STEP: usize>(planes: &mut Planes, factors: &[__m512i; 9], key: &Bytes) {
    let plane = |byte: usize| planes[(byte + 16 - STEP) % 16];
    let times = |factor: usize, value| _mm512_gf2p8affine_epi64_epi8::<0>(value, factors[factor]);
    let pair =
        |factor: usize, a: usize, b: usize| times(factor, _mm512_xor_si512(plane(a), plane(b)));
    let ones = xor3(plane(6), plane(8), plane(15));
    let inner = xor3(ones, broadcast(key[STEP]), times(6, plane(7)));
    let old = xor3(inner, pair(5, 5, 9), pair(4, 4, 10));
    let newer = xor3(old, pair(3, 3, 11), pair(2, 2, 12));
    // The newest byte comes last, so that nothing else waits for it.
    planes[(15 + 16 - STEP) % 16] = xor3(newer, pair(1, 1, 13), pair(0, 0, 14));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_factors() -> [__m512i; 9] {
    let mut factors = [_mm512_setzero_si512(); 9];
    for (factor, matrix) in factors.iter_mut().zip(FACTORS) {
        *factor = _mm512_set1_epi64(matrix);
    }
    factors
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add(planes: &mut Planes, key: &Bytes) {
    for (plane, byte) in planes.iter_mut().zip(key) {
        *plane = _mm512_xor_si512(*plane, broadcast(*byte));
    }
}

/// Runs the rounds of encryption, or of decryption with the bytes in reverse, without what is added outside them.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn rounds<const DECRYPT: bool, const FOUR: bool>(
    keys: &[Bytes],
    mut planes: Planes,
) -> Planes {
    let table = load_table(if DECRYPT { &PI_INVERSE } else { &PI });
    let factors = load_factors();
    // This is one function so that the planes stay in registers.
    macro_rules! substitute {
        () => {
            for plane in &mut planes {
                *plane = if FOUR {
                    look_up(&table, *plane)
                } else {
                    look_up_in_quarters(&table, *plane)
                };
            }
        };
    }
    macro_rules! steps {
        ($key:ident, $step:ident: $($number:literal)*) => {
            $($step::<$number>(&mut planes, &factors, $key);)*
        };
    }
    for key in keys {
        if !DECRYPT {
            substitute!();
        }
        if FOUR {
            steps!(key, shift_twice: 0 2 4 6 8 10 12 14);
        } else {
            steps!(key, shift: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        }
        if DECRYPT {
            substitute!();
        }
    }
    planes
}
