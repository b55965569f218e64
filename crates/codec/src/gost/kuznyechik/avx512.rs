//! Kuznyechik with AVX-512, VBMI and GFNI, in constant time: no address and no branch depends on a key or on data.
//!
//! Many blocks: 64 at once, one byte of each in a register (a *plane*). π is two look-ups of 128 bytes and a choice
//! by the top bit. L is sixteen steps of the standard's shift register; registers change names, not places. The
//! coefficients of a step are a palindrome, so bytes that share one are added first: seven products a step, each one
//! GFNI instruction. L⁻¹ is L on the bytes in reverse, for the same reason.
//!
//! One block, or a chain: four copies of it in a register. The bytes are carried into the field that GFNI multiplies
//! in (the two fields are isomorphic), where L is sixteen rotations times sixteen vectors, in four instructions.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

mod constants;
mod copies;

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::super::block::{Counter, Turn};
use super::naive::{Block, RoundKeys};
use super::standard::{PI, PI_INVERSE};
use crate::Tier;
use constants::{COUNTING_COLUMNS, FACTORS, carried};
use copies::{chain, round_keys};

/// Blocks of one batch.
const BATCH: usize = 64;

/// Up to so many blocks one by one are faster than a batch.
const FEW: usize = 10;

type Planes = [__m512i; 16];

/// The block of a batch that each byte of a plane belongs to: 4b + l for byte b of lane l, because that is what turning
/// registers of four blocks each gives.
const ORDER: [u8; 64] = {
    let (mut order, mut index) = ([0; 64], 0_u8);
    while index < 64 {
        order[index as usize] = 4 * (index % 16) + index / 16;
        index += 1;
    }
    order
};

/// Round keys in the forms that the two ways take. Exists only where the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel {
    /// Each byte four times, to be broadcast.
    encryption: [[u32; 16]; 10],
    /// The same in reverse, bytes and rounds.
    decryption: [[u32; 16]; 10],
    /// In the other field.
    carried: RoundKeys,
}

impl Kernel {
    /// `None` unless the CPU has the tier.
    pub(super) fn new(key: &[u8; 32]) -> Option<Self> {
        (Tier::best() >= Tier::Avx512).then(|| {
            // SAFETY: the tier has just been checked.
            let mut keys = unsafe { round_keys(key) };
            let encryption = keys.map(|key| key.map(|byte| u32::from_ne_bytes([byte; 4])));
            let mut decryption = encryption;
            decryption.reverse();
            decryption.iter_mut().for_each(|key| key.reverse());
            let carried = keys.map(|key| key.map(carried));
            keys.zeroize();
            Self { encryption, decryption, carried }
        })
    }

    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { encrypt(self, blocks) }
    }

    pub(super) fn decrypt(&self, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { decrypt(self, blocks) }
    }

    pub(super) fn chain(&self, previous: Block, blocks: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { chain(self, previous, blocks) }
    }

    pub(super) fn gamma(&self, counter: &mut Counter, gamma: &mut [Block]) {
        // SAFETY: `new` made sure of the tier.
        unsafe { fill_gamma(self, counter, gamma) }
    }

    pub(super) fn erase(&mut self) {
        self.encryption.zeroize();
        self.decryption.zeroize();
        self.carried.zeroize();
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; 64], value: __m512i) {
    // SAFETY: the reference is to 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// A table of 256 bytes in four registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_table(table: &[u8; 256]) -> [__m512i; 4] {
    let (rows, _) = table.as_chunks::<64>();
    [load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3])]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn look_up(table: &[__m512i; 4], index: __m512i) -> __m512i {
    let low = _mm512_permutex2var_epi8(table[0], index, table[1]);
    let high = _mm512_permutex2var_epi8(table[2], index, table[3]);
    // Every bit of the byte as its top bit.
    let is_high = _mm512_gf2p8affine_epi64_epi8::<0>(
        index,
        _mm512_set1_epi64(0x8080_8080_8080_8080_u64.cast_signed()),
    );
    _mm512_ternarylogic_epi64::<0xca>(is_high, high, low)
}

/// The bytes of four blocks a register into planes, or back: four times the first half of the rows interleaved with
/// the second turns sixteen by sixteen bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn turned(mut rows: Planes) -> Planes {
    for _ in 0..4 {
        let mut next = rows;
        for index in 0..8 {
            next[2 * index] = _mm512_unpacklo_epi8(rows[index], rows[index + 8]);
            next[2 * index + 1] = _mm512_unpackhi_epi8(rows[index], rows[index + 8]);
        }
        rows = next;
    }
    rows
}

/// Steps `STEP` and `STEP` + 1 of L. Byte p of the block is in plane p − STEP, modulo 16.
///
/// One step at a time, each waits for the product of the byte before: L took 40 % longer (Zen 5). Here two steps wait
/// for one product, since the second takes the two newest bytes with factors of their own.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn shift_twice<const STEP: usize>(planes: &mut Planes, factors: &[__m512i; 9]) {
    let plane = |byte: usize| planes[(byte + 16 - STEP) % 16];
    let times = |factor: usize, value| _mm512_gf2p8affine_epi64_epi8::<0>(value, factors[factor]);
    let pair =
        |factor: usize, a: usize, b: usize| times(factor, _mm512_xor_si512(plane(a), plane(b)));
    let ones = |bytes: [usize; 3]| xor3(plane(bytes[0]), plane(bytes[1]), plane(bytes[2]));
    // All but the two newest bytes, for either step.
    let middle = xor3(pair(2, 2, 12), pair(3, 3, 11), pair(4, 4, 10));
    let outer = xor3(times(0, plane(14)), times(1, plane(13)), times(6, plane(7)));
    let first = _mm512_xor_si512(xor3(pair(5, 5, 9), ones([6, 8, 15]), middle), outer);
    let middle = xor3(pair(3, 2, 10), pair(4, 3, 9), pair(5, 4, 8));
    let outer = xor3(times(0, plane(13)), times(1, plane(12)), times(2, plane(11)));
    let inner = xor3(times(6, plane(6)), ones([5, 7, 14]), times(0, first));
    let second = xor3(middle, outer, inner);
    let (newest, before) = (plane(0), plane(1));
    planes[(15 + 16 - STEP) % 16] = xor3(first, times(0, newest), times(1, before));
    planes[(14 + 16 - STEP) % 16] = xor3(second, times(7, newest), times(8, before));
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
fn add_key(plane: __m512i, key: u32) -> __m512i {
    _mm512_xor_si512(plane, _mm512_set1_epi32(key.cast_signed()))
}

/// All rounds of encryption; or of decryption, with the bytes and the keys in reverse.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn rounds<const DECRYPT: bool>(keys: &[[u32; 16]], mut planes: Planes) -> Planes {
    let Some((last, inner)) = keys.split_last() else { return planes };
    let table = load_table(if DECRYPT { &PI_INVERSE } else { &PI });
    let factors = load_factors();
    for key in inner {
        for index in 0..16 {
            let sum = add_key(planes[index], key[index]);
            planes[index] = if DECRYPT { sum } else { look_up(&table, sum) };
        }
        shift_twice::<0>(&mut planes, &factors);
        shift_twice::<2>(&mut planes, &factors);
        shift_twice::<4>(&mut planes, &factors);
        shift_twice::<6>(&mut planes, &factors);
        shift_twice::<8>(&mut planes, &factors);
        shift_twice::<10>(&mut planes, &factors);
        shift_twice::<12>(&mut planes, &factors);
        shift_twice::<14>(&mut planes, &factors);
        if DECRYPT {
            for plane in &mut planes {
                *plane = look_up(&table, *plane);
            }
        }
    }
    for index in 0..16 {
        planes[index] = add_key(planes[index], last[index]);
    }
    planes
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn encrypt_planes(kernel: &Kernel, planes: Planes) -> Planes {
    rounds::<false>(&kernel.encryption, planes)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn decrypt_planes(kernel: &Kernel, mut planes: Planes) -> Planes {
    planes.reverse();
    let mut planes = rounds::<true>(&kernel.decryption, planes);
    planes.reverse();
    planes
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_batch(blocks: &[Block; BATCH]) -> Planes {
    let (rows, _) = blocks.as_flattened().as_chunks::<64>();
    let mut planes = [_mm512_setzero_si512(); 16];
    for (plane, row) in planes.iter_mut().zip(rows) {
        *plane = load(row);
    }
    turned(planes)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_batch(blocks: &mut [Block; BATCH], planes: Planes) {
    let (rows, _) = blocks.as_flattened_mut().as_chunks_mut::<64>();
    for (row, plane) in rows.iter_mut().zip(turned(planes)) {
        store(row, plane);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn encrypt(kernel: &Kernel, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, encrypt_planes(kernel, load_batch(batch)));
    }
    if rest.len() <= FEW {
        rest.iter_mut().for_each(|block| chain(kernel, [0; 16], std::array::from_mut(block)));
    } else {
        let mut last = [[0; 16]; BATCH];
        last[..rest.len()].copy_from_slice(rest);
        let planes = encrypt_planes(kernel, load_batch(&last));
        store_batch(&mut last, planes);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn decrypt(kernel: &Kernel, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, decrypt_planes(kernel, load_batch(batch)));
    }
    if !rest.is_empty() {
        let mut last = [[0; 16]; BATCH];
        last[..rest.len()].copy_from_slice(rest);
        let planes = decrypt_planes(kernel, load_batch(&last));
        store_batch(&mut last, planes);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// The byte that counts, while the others stay.
fn counting_byte(counter: &Counter) -> usize {
    if counter.turn() == Turn::Left { 7 } else { 15 }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// The planes of the next 64 counters: one byte counts, and where it turns over the others go on by one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn counter_planes(counter: &Counter) -> Planes {
    let (first, counting) = (counter.value().to_be_bytes(), counting_byte(counter));
    let mut after = counter.clone();
    after.advance(256 - u64::from(first[counting]));
    let over = after.value().to_be_bytes();

    let count = _mm512_add_epi8(broadcast(first[counting]), load(&ORDER));
    let has_turned = _mm512_cmplt_epu8_mask(count, broadcast(first[counting]));
    let mut planes = [count; 16];
    for index in (0..16).filter(|index| *index != counting) {
        planes[index] =
            _mm512_mask_blend_epi8(has_turned, broadcast(first[index]), broadcast(over[index]));
    }
    planes
}

/// The first round of counters that differ in one byte only: all that is the same is done once for 256 of them.
struct FirstRound {
    /// The counter without its counting byte.
    of: Block,
    /// After the first round, with the counting byte after π as in `counted`.
    planes: Planes,
    counted: __m512i,
}

impl FirstRound {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn new(kernel: &Kernel, counter: &Counter) -> Self {
        let (first, counting) = (counter.value().to_be_bytes(), counting_byte(counter));
        let mut planes = [_mm512_setzero_si512(); 16];
        for (plane, byte) in planes.iter_mut().zip(first) {
            *plane = broadcast(byte);
        }
        let sum = add_key(planes[counting], kernel.encryption[0][counting]);
        let counted = look_up(&load_table(&PI), sum);
        let planes = rounds::<false>(&[kernel.encryption[0], [0; 16]], planes);
        Self { of: Self::rest(counter), planes, counted }
    }

    /// The counter without its counting byte.
    fn rest(counter: &Counter) -> Block {
        let mut rest = counter.value().to_be_bytes();
        rest[counting_byte(counter)] = 0;
        rest
    }

    /// The planes of the next 64 counters after the first round.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn next(&self, kernel: &Kernel, counter: &Counter) -> Planes {
        let counting = counting_byte(counter);
        let first = broadcast(counter.value().to_be_bytes()[counting]);
        let count = _mm512_add_epi8(first, load(&ORDER));
        let sum = add_key(count, kernel.encryption[0][counting]);
        let change = _mm512_xor_si512(look_up(&load_table(&PI), sum), self.counted);
        let matrices = &COUNTING_COLUMNS[usize::from(counting == 15)];
        let mut planes = self.planes;
        for (plane, matrix) in planes.iter_mut().zip(matrices) {
            let matrix = _mm512_set1_epi64(*matrix);
            *plane = _mm512_xor_si512(*plane, _mm512_gf2p8affine_epi64_epi8::<0>(change, matrix));
        }
        planes
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn fill_gamma(kernel: &Kernel, counter: &mut Counter, gamma: &mut [Block]) {
    let (batches, rest) = gamma.as_chunks_mut::<BATCH>();
    let mut first_round: Option<FirstRound> = None;
    for batch in batches {
        let turns_over = counter.value().to_be_bytes()[counting_byte(counter)] > 192;
        let planes = if turns_over {
            rounds::<false>(&kernel.encryption, counter_planes(counter))
        } else {
            let rest = FirstRound::rest(counter);
            if first_round.as_ref().is_none_or(|known| known.of != rest) {
                first_round = None;
            }
            let known = first_round.get_or_insert_with(|| FirstRound::new(kernel, counter));
            rounds::<false>(&kernel.encryption[1..], known.next(kernel, counter))
        };
        store_batch(batch, planes);
        counter.advance(BATCH as u64);
    }
    counter.fill(rest.as_flattened_mut());
    encrypt(kernel, rest);
}
