//! Batches of blocks as planes: their layout, π, L and the rounds.
#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::super::decomposition::{BACKWARD, FORWARD, LEFT_OUT, Product, Substitution, omega};
use super::super::naive::Block;
use super::super::standard::{linear, mix};
use super::gfni::OF_PLANES;
use super::maps::{
    ALPHA_AFTER_OMEGA, ALPHA_BITS, BACK, FACTORS, Loaded, OMEGA, OMEGA_BACK, OMEGA_BACK_BITS, high,
    low, mapped, table,
};

/// Number of blocks in one batch of planes.
pub(super) const BATCH: usize = 32;

pub(super) type Planes = [__m256i; 16];

/// What π leaves out of each byte, after L; the next key includes it.
pub(super) const AFTER_MIX: Block = mix([omega(LEFT_OUT); 16]);

/// Round key with each byte four times, which the CPU can broadcast as it loads.
pub(super) type WideKey = [u32; 16];

pub(super) fn wide(key: Block, image: impl Fn(u8) -> u8) -> WideKey {
    key.map(|byte| u32::from_ne_bytes([image(byte); 4]))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; 32], value: __m256i) {
    // SAFETY: the reference is to 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

/// Computes a product by logarithms: looks up their sum modulo 15, where zero has something with the top bit set.
#[inline]
#[target_feature(enable = "avx2")]
fn value(step: &Product, left: __m256i, right: __m256i) -> __m256i {
    let sum = _mm256_add_epi8(
        _mm256_shuffle_epi8(table(&step.left), left),
        _mm256_shuffle_epi8(table(&step.right), right),
    );
    let reduced = _mm256_min_epu8(sum, _mm256_sub_epi8(sum, _mm256_set1_epi8(15)));
    _mm256_shuffle_epi8(table(&step.values), reduced)
}

/// Applies π or its inverse to nibbles, without α and ω.
#[inline]
#[target_feature(enable = "avx2")]
fn substituted<const DECRYPT: bool>(byte: __m256i) -> __m256i {
    let steps: &Substitution = if DECRYPT { &BACKWARD } else { &FORWARD };
    let (l, mut r) = (high(byte), low(byte));
    if DECRYPT {
        r = value(&steps.r, l, r);
    }
    let has_no_r = _mm256_cmpeq_epi8(r, _mm256_setzero_si256());
    let without_r = _mm256_shuffle_epi8(table(&steps.l_without_r), l);
    // Where r is zero, its product is zero, too.
    let l = _mm256_or_si256(value(&steps.l, l, r), _mm256_and_si256(without_r, has_no_r));
    if !DECRYPT {
        r = value(&steps.r, l, r);
    }
    _mm256_or_si256(_mm256_slli_epi16::<4>(l), r)
}

/// Adds a key and applies π, to bytes under ω⁻¹.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn encrypted<const GFNI: bool>(byte: __m256i, key: u32) -> __m256i {
    if GFNI {
        OF_PLANES.of(add_key(byte, key))
    } else {
        substituted::<false>(add_key(mapped::<GFNI>(&ALPHA_AFTER_OMEGA, byte), key))
    }
}

/// Returns a byte of the key in the form that [`encrypted`] adds.
pub(super) fn image_of_key<const GFNI: bool>(byte: u8) -> u8 {
    linear(if GFNI { OMEGA_BACK_BITS } else { ALPHA_BITS }, byte)
}

/// Interleaves the first half of the rows with the second, four times. Within each half of a register that transposes
/// sixteen by sixteen bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn turned(mut rows: Planes) -> Planes {
    for _ in 0..4 {
        let mut next = rows;
        for index in 0..8 {
            next[2 * index] = _mm256_unpacklo_epi8(rows[index], rows[index + 8]);
            next[2 * index + 1] = _mm256_unpackhi_epi8(rows[index], rows[index + 8]);
        }
        rows = next;
    }
    rows
}

/// Adds to each sum the product of a coefficient and the bytes that share it: `BYTE` and 14 − `BYTE`, unless it is 7.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products<const GFNI: bool, const STEP: usize, const BYTE: usize, const N: usize>(
    sums: &mut [__m256i; N],
    batches: &[Planes; N],
) {
    let place = |byte: usize| (byte + 16 - STEP) % 16;
    let factor = Loaded::<GFNI>::new(if BYTE == 7 { &FACTORS[6] } else { &FACTORS[BYTE] });
    for (sum, planes) in sums.iter_mut().zip(batches) {
        let (plane, other) = (planes[place(BYTE)], planes[place(14 - BYTE)]);
        let both = if BYTE == 7 { plane } else { _mm256_xor_si256(plane, other) };
        *sum = _mm256_xor_si256(*sum, factor.of(both));
    }
}

/// Runs step `STEP` of L on batches in step, and loads each table once for all of them. Byte p of the block is in plane
/// p − STEP, modulo 16.
#[inline]
#[target_feature(enable = "avx2")]
fn shift<const GFNI: bool, const STEP: usize, const N: usize>(batches: &mut [Planes; N]) {
    let place = |byte: usize| (byte + 16 - STEP) % 16;
    let mut sums = [_mm256_setzero_si256(); N];
    for (sum, planes) in sums.iter_mut().zip(&*batches) {
        let ones = _mm256_xor_si256(planes[place(6)], planes[place(8)]);
        *sum = _mm256_xor_si256(ones, planes[place(15)]);
    }
    add_products::<GFNI, STEP, 7, N>(&mut sums, batches);
    add_products::<GFNI, STEP, 5, N>(&mut sums, batches);
    add_products::<GFNI, STEP, 4, N>(&mut sums, batches);
    add_products::<GFNI, STEP, 3, N>(&mut sums, batches);
    add_products::<GFNI, STEP, 2, N>(&mut sums, batches);
    add_products::<GFNI, STEP, 1, N>(&mut sums, batches);
    // The newest byte comes last, because it may not be ready yet.
    add_products::<GFNI, STEP, 0, N>(&mut sums, batches);
    for (sum, planes) in sums.into_iter().zip(batches) {
        planes[place(15)] = sum;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn mix_planes<const GFNI: bool, const N: usize>(batches: &mut [Planes; N]) {
    shift::<GFNI, 0, N>(batches);
    shift::<GFNI, 1, N>(batches);
    shift::<GFNI, 2, N>(batches);
    shift::<GFNI, 3, N>(batches);
    shift::<GFNI, 4, N>(batches);
    shift::<GFNI, 5, N>(batches);
    shift::<GFNI, 6, N>(batches);
    shift::<GFNI, 7, N>(batches);
    shift::<GFNI, 8, N>(batches);
    shift::<GFNI, 9, N>(batches);
    shift::<GFNI, 10, N>(batches);
    shift::<GFNI, 11, N>(batches);
    shift::<GFNI, 12, N>(batches);
    shift::<GFNI, 13, N>(batches);
    shift::<GFNI, 14, N>(batches);
    shift::<GFNI, 15, N>(batches);
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_key(byte: __m256i, key: u32) -> __m256i {
    _mm256_xor_si256(byte, _mm256_set1_epi32(key.cast_signed()))
}

/// Loads the planes of a batch under ω⁻¹; for decryption in reverse, and with the first key added.
#[inline]
#[target_feature(enable = "avx2")]
fn load_batch<const GFNI: bool, const DECRYPT: bool>(
    blocks: &[Block; BATCH],
    key: &WideKey,
) -> Planes {
    let (rows, _) = blocks.as_flattened().as_chunks::<32>();
    let mut planes = [_mm256_setzero_si256(); 16];
    for (plane, row) in planes.iter_mut().zip(rows) {
        *plane = load(row);
    }
    planes = turned(planes);
    if DECRYPT {
        planes.reverse();
    }
    for (plane, key) in planes.iter_mut().zip(key) {
        *plane = mapped::<GFNI>(&OMEGA_BACK, *plane);
        if DECRYPT {
            *plane = add_key(*plane, *key);
        }
    }
    planes
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_batch<const GFNI: bool, const DECRYPT: bool>(
    blocks: &mut [Block; BATCH],
    mut planes: Planes,
    key: &WideKey,
) {
    for (plane, key) in planes.iter_mut().zip(key) {
        *plane = mapped::<GFNI>(&OMEGA, *plane);
        if !DECRYPT {
            *plane = add_key(*plane, *key);
        }
    }
    if DECRYPT {
        planes.reverse();
    }
    let (rows, _) = blocks.as_flattened_mut().as_chunks_mut::<32>();
    for (row, plane) in rows.iter_mut().zip(turned(planes)) {
        store(row, plane);
    }
}

/// Runs `N` batches in step through one round fewer than there are keys.
#[target_feature(enable = "avx2")]
pub(super) fn run_batches<const GFNI: bool, const N: usize, const DECRYPT: bool>(
    keys: &[WideKey],
    batches: &mut [[Block; BATCH]; N],
) {
    let mut states = [[_mm256_setzero_si256(); 16]; N];
    for (planes, batch) in states.iter_mut().zip(&*batches) {
        *planes = load_batch::<GFNI, DECRYPT>(batch, &keys[0]);
    }
    rounds::<GFNI, N, DECRYPT>(keys, &mut states);
    for (planes, batch) in states.into_iter().zip(batches) {
        store_batch::<GFNI, DECRYPT>(batch, planes, &keys[keys.len() - 1]);
    }
}

/// Runs the rounds, one fewer than there are keys, on planes in step.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rounds<const GFNI: bool, const N: usize, const DECRYPT: bool>(
    keys: &[WideKey],
    states: &mut [Planes; N],
) {
    for round in 0..keys.len() - 1 {
        if DECRYPT {
            mix_planes::<GFNI, N>(states);
        }
        for planes in states.iter_mut() {
            for (plane, key) in planes.iter_mut().zip(&keys[round + usize::from(DECRYPT)]) {
                *plane = if DECRYPT {
                    add_key(mapped::<GFNI>(&BACK, substituted::<true>(*plane)), *key)
                } else {
                    encrypted::<GFNI>(*plane, *key)
                };
            }
        }
        if !DECRYPT {
            mix_planes::<GFNI, N>(states);
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn run<const GFNI: bool, const DECRYPT: bool>(
    keys: &[WideKey; 10],
    blocks: &mut [Block],
) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    let (groups, odd) = batches.as_chunks_mut::<2>();
    for group in groups {
        run_batches::<GFNI, 2, DECRYPT>(keys, group);
    }
    for batch in odd {
        run_batches::<GFNI, 1, DECRYPT>(keys, std::array::from_mut(batch));
    }
    if !rest.is_empty() {
        let mut last = [[[0; 16]; BATCH]];
        last[0][..rest.len()].copy_from_slice(rest);
        run_batches::<GFNI, 1, DECRYPT>(keys, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
        last.zeroize();
    }
}
