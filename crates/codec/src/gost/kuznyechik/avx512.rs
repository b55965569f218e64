//! Kuznyechik with AVX-512, VBMI and GFNI, in constant time: no address and no branch depends on a key or on data.
//!
//! Many blocks go 64 at once, one byte of each in a register (a *plane*). π is a look-up in the parts of its table and
//! a choice between them. L is sixteen steps of the standard's shift register; registers change names instead of
//! moving. The coefficients of a step are a palindrome, so bytes that share one are added first: seven products a step,
//! each one GFNI instruction. For the same reason L⁻¹ is L on the bytes in reverse. The steps add the round keys, as
//! one more term where there is room for it.
//!
//! Floor where there are two ports for such registers (Intel): 7 micro-operations for each π and 18 a step are 200
//! cycles a round, and in counter mode, where the first round is done once for 256 blocks, 1.6 cycles a byte; 0.1 more
//! for turning planes into blocks. Measured: 2.1, of which 1.85 in the rounds. We do not know what keeps them from 1.6
//! (a second batch beside the first, so that π and L overlap, changed nothing).
//!
//! A single block, or a chain, uses four copies of the block in a register. Its bytes are mapped into the field that
//! GFNI multiplies in (the two fields are isomorphic), where L is sixteen rotations times sixteen vectors, in four
//! instructions.
#![expect(unsafe_code, reason = "loads, stores, and calls of functions that need the tier")]

mod constants;
mod copies;
mod counter;
mod planes;

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::super::block::Counter;
use super::naive::{Block, RoundKeys};
use crate::Tier;
use constants::carried;
use copies::{chain, round_keys};
use planes::{PlaneKeys, Planes, Ports, add, rounds};

/// Number of blocks in one batch.
const BATCH: usize = 64;

/// Largest number of blocks for which one by one is faster than a batch.
const FEW: usize = 10;

/// Round keys in the forms that the two ways use. A value exists only where the CPU has the tier.
#[derive(Clone)]
pub(super) struct Kernel {
    encryption: PlaneKeys,
    decryption: PlaneKeys,
    /// Keys in the other field.
    carried: RoundKeys,
    ports: Ports,
}

impl Kernel {
    /// Prepares the keys; returns `None` unless the CPU has the tier.
    pub(super) fn new(key: &[u8; 32]) -> Option<Self> {
        (Tier::best() >= Tier::Avx512).then(|| {
            // SAFETY: the tier has just been checked.
            unsafe { prepared(key) }
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
        unsafe { counter::fill(self, counter, gamma) }
    }

    pub(super) fn erase(&mut self) {
        self.encryption.erase();
        self.decryption.erase();
        self.carried.zeroize();
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn prepared(key: &[u8; 32]) -> Kernel {
    let mut keys = round_keys(key);
    let encryption = PlaneKeys::for_encryption(&keys);
    let decryption = PlaneKeys::for_decryption(&keys);
    let carried = keys.map(|key| key.map(carried));
    keys.zeroize();
    Kernel { encryption, decryption, carried, ports: Ports::here() }
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

/// Loads a table of 256 bytes into four registers.
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
    // Make every bit of the byte its top bit in turn.
    let is_high = _mm512_gf2p8affine_epi64_epi8::<0>(
        index,
        _mm512_set1_epi64(0x8080_8080_8080_8080_u64.cast_signed()),
    );
    _mm512_ternarylogic_epi64::<0xca>(is_high, high, low)
}

/// Turns the bytes of four blocks a register into planes, or back: interleaving the first half of the rows with the
/// second four times transposes sixteen by sixteen bytes.
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn encrypt_planes(kernel: &Kernel, mut planes: Planes) -> Planes {
    add(&mut planes, &kernel.encryption.edge);
    rounds_from(kernel, 0, planes)
}

/// Runs the rounds of encryption from `round` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn rounds_from(kernel: &Kernel, round: usize, planes: Planes) -> Planes {
    let keys = &kernel.encryption.rounds[round..];
    match kernel.ports {
        Ports::Two => rounds::<false, false>(keys, planes),
        Ports::Four => rounds::<false, true>(keys, planes),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn decrypt_planes(kernel: &Kernel, mut planes: Planes) -> Planes {
    planes.reverse();
    let keys = &kernel.decryption.rounds;
    let mut planes = match kernel.ports {
        Ports::Two => rounds::<true, false>(keys, planes),
        Ports::Four => rounds::<true, true>(keys, planes),
    };
    add(&mut planes, &kernel.decryption.edge);
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

#[cfg(test)]
mod tests {
    use super::super::super::block::Turn;
    use super::super::naive::Naive;
    use super::*;

    /// Tests both versions of the rounds, whichever the CPU would choose.
    #[test]
    fn both_versions_of_the_rounds_match_the_standard() {
        let key = [0x5a; 32];
        let Some(mut kernel) = Kernel::new(&key) else {
            return crate::tiers::skipped("the kernels of avx512, which this CPU lacks");
        };
        let naive = Naive::new(&key);
        for ports in [Ports::Two, Ports::Four] {
            kernel.ports = ports;
            for (turn, first) in [
                (Turn::Whole, [0xff; 16]),
                (Turn::Left, *b"\x01\x02\x03\x04\x05\x06\xff\x90  right "),
            ] {
                let mut counter = Counter::new(&first, turn);
                let mut plain = vec![[0; 16]; 5 * BATCH + FEW + 1];
                counter.clone().fill(plain.as_flattened_mut());
                let expected: Vec<Block> =
                    plain.iter().map(|block| naive.encrypt(*block)).collect();
                let mut blocks = plain.clone();
                kernel.encrypt(&mut blocks);
                assert!(blocks == expected, "encryption, {ports:?}, {turn:?}");
                kernel.decrypt(&mut blocks);
                assert!(blocks == plain, "decryption, {ports:?}, {turn:?}");
                kernel.gamma(&mut counter, &mut blocks);
                assert!(blocks == expected, "counter mode, {ports:?}, {turn:?}");
            }
        }
    }
}
