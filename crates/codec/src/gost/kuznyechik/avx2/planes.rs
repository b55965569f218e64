//! Batches of blocks as planes: their layout, π, L and the rounds.
#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::*;

use super::super::decomposition::{
    BACKWARD, FORWARD, LEFT_OUT, Nibbles, Product, Substitution, alpha, alpha_back, omega,
    omega_back,
};
use super::super::naive::Block;
use super::super::standard::{COEFFICIENTS, mix, product};

/// Number of blocks in one batch of planes.
pub(super) const BATCH: usize = 32;

pub(super) type Planes = [__m256i; 16];

/// A linear map of bytes: the images of the low nibbles and of the high ones.
pub(super) type Map = [Nibbles; 2];

/// Computes the tables of a linear map from the images of the eight bits.
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
    map
}

/// The maps of the coefficients of bytes 0 to 5 and 7, with ω on both sides.
const FACTORS: [Map; 7] = {
    let [c0, c1, c2, c3, c4, c5, _, c7, ..] = COEFFICIENTS;
    let (coefficients, mut factors, mut index) =
        ([c0, c1, c2, c3, c4, c5, c7], [[[0; 16]; 2]; 7], 0);
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
const OMEGA_BITS: [u8; 8] = {
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

const OMEGA: Map = map_of(OMEGA_BITS);
pub(super) const OMEGA_BACK: Map = map_of(OMEGA_BACK_BITS);
pub(super) const ALPHA_AFTER_OMEGA: Map = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = alpha(omega(1 << bit));
        bit += 1;
    }
    map_of(images)
};
const BACK: Map = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = omega_back(alpha_back(1 << bit));
        bit += 1;
    }
    map_of(images)
};

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

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mapped(map: &Map, byte: __m256i) -> __m256i {
    _mm256_xor_si256(
        _mm256_shuffle_epi8(table(&map[0]), low(byte)),
        _mm256_shuffle_epi8(table(&map[1]), high(byte)),
    )
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
pub(super) fn substituted<const DECRYPT: bool>(byte: __m256i) -> __m256i {
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
fn add_products<const STEP: usize, const BYTE: usize, const N: usize>(
    sums: &mut [__m256i; N],
    batches: &[Planes; N],
) {
    let place = |byte: usize| (byte + 16 - STEP) % 16;
    let [of_low, of_high] = if BYTE == 7 { &FACTORS[6] } else { &FACTORS[BYTE] };
    let (of_low, of_high) = (table(of_low), table(of_high));
    for (sum, planes) in sums.iter_mut().zip(batches) {
        let (plane, other) = (planes[place(BYTE)], planes[place(14 - BYTE)]);
        let both = if BYTE == 7 { plane } else { _mm256_xor_si256(plane, other) };
        let product = _mm256_xor_si256(
            _mm256_shuffle_epi8(of_low, low(both)),
            _mm256_shuffle_epi8(of_high, high(both)),
        );
        *sum = _mm256_xor_si256(*sum, product);
    }
}

/// Runs step `STEP` of L on batches in step, and loads each table once for all of them. Byte p of the block is in plane
/// p − STEP, modulo 16.
#[inline]
#[target_feature(enable = "avx2")]
fn shift<const STEP: usize, const N: usize>(batches: &mut [Planes; N]) {
    let place = |byte: usize| (byte + 16 - STEP) % 16;
    let mut sums = [_mm256_setzero_si256(); N];
    for (sum, planes) in sums.iter_mut().zip(&*batches) {
        let ones = _mm256_xor_si256(planes[place(6)], planes[place(8)]);
        *sum = _mm256_xor_si256(ones, planes[place(15)]);
    }
    add_products::<STEP, 7, N>(&mut sums, batches);
    add_products::<STEP, 5, N>(&mut sums, batches);
    add_products::<STEP, 4, N>(&mut sums, batches);
    add_products::<STEP, 3, N>(&mut sums, batches);
    add_products::<STEP, 2, N>(&mut sums, batches);
    add_products::<STEP, 1, N>(&mut sums, batches);
    // The newest byte comes last, because it may not be ready yet.
    add_products::<STEP, 0, N>(&mut sums, batches);
    for (sum, planes) in sums.into_iter().zip(batches) {
        planes[place(15)] = sum;
    }
}

#[target_feature(enable = "avx2")]
fn mix_planes<const N: usize>(batches: &mut [Planes; N]) {
    shift::<0, N>(batches);
    shift::<1, N>(batches);
    shift::<2, N>(batches);
    shift::<3, N>(batches);
    shift::<4, N>(batches);
    shift::<5, N>(batches);
    shift::<6, N>(batches);
    shift::<7, N>(batches);
    shift::<8, N>(batches);
    shift::<9, N>(batches);
    shift::<10, N>(batches);
    shift::<11, N>(batches);
    shift::<12, N>(batches);
    shift::<13, N>(batches);
    shift::<14, N>(batches);
    shift::<15, N>(batches);
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_key(byte: __m256i, key: u32) -> __m256i {
    _mm256_xor_si256(byte, _mm256_set1_epi32(key.cast_signed()))
}

/// Loads the planes of a batch under ω⁻¹; for decryption in reverse, and with the first key added.
#[inline]
#[target_feature(enable = "avx2")]
fn load_batch<const DECRYPT: bool>(blocks: &[Block; BATCH], key: &WideKey) -> Planes {
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
        *plane = mapped(&OMEGA_BACK, *plane);
        if DECRYPT {
            *plane = add_key(*plane, *key);
        }
    }
    planes
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_batch<const DECRYPT: bool>(
    blocks: &mut [Block; BATCH],
    mut planes: Planes,
    key: &WideKey,
) {
    for (plane, key) in planes.iter_mut().zip(key) {
        *plane = mapped(&OMEGA, *plane);
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
pub(super) fn run_batches<const N: usize, const DECRYPT: bool>(
    keys: &[WideKey],
    batches: &mut [[Block; BATCH]; N],
) {
    let mut states = [[_mm256_setzero_si256(); 16]; N];
    for (planes, batch) in states.iter_mut().zip(&*batches) {
        *planes = load_batch::<DECRYPT>(batch, &keys[0]);
    }
    rounds::<N, DECRYPT>(keys, &mut states);
    for (planes, batch) in states.into_iter().zip(batches) {
        store_batch::<DECRYPT>(batch, planes, &keys[keys.len() - 1]);
    }
}

/// Runs the rounds, one fewer than there are keys, on planes in step.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rounds<const N: usize, const DECRYPT: bool>(
    keys: &[WideKey],
    states: &mut [Planes; N],
) {
    for round in 0..keys.len() - 1 {
        if DECRYPT {
            mix_planes(states);
        }
        for planes in states.iter_mut() {
            for (plane, key) in planes.iter_mut().zip(&keys[round + usize::from(DECRYPT)]) {
                *plane = if DECRYPT {
                    add_key(mapped(&BACK, substituted::<true>(*plane)), *key)
                } else {
                    substituted::<false>(add_key(mapped(&ALPHA_AFTER_OMEGA, *plane), *key))
                };
            }
        }
        if !DECRYPT {
            mix_planes(states);
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn run<const DECRYPT: bool>(keys: &[WideKey; 10], blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    let (groups, odd) = batches.as_chunks_mut::<2>();
    for group in groups {
        run_batches::<2, DECRYPT>(keys, group);
    }
    for batch in odd {
        run_batches::<1, DECRYPT>(keys, std::array::from_mut(batch));
    }
    if !rest.is_empty() {
        let mut last = [[[0; 16]; BATCH]];
        last[0][..rest.len()].copy_from_slice(rest);
        run_batches::<1, DECRYPT>(keys, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }
}
