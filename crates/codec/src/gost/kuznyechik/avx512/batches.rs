//! Encrypts and decrypts 64 blocks at a time, and what is left over one by one.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::super::carried::carried;
use super::super::naive::{Block, RoundKeys};
use super::copies::{chain, round_keys};
use super::planes::{PlaneKeys, Planes, Ports, add, rounds};
use super::registers::{load, store};

/// Number of blocks in one batch.
pub(super) const BATCH: usize = 64;

/// Largest number of blocks for which one by one is faster than a batch.
pub(super) const FEW: usize = 10;

/// Round keys in the forms that the two ways use.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) encryption: PlaneKeys,
    decryption: PlaneKeys,
    /// Keys in the other field.
    pub(super) carried: RoundKeys,
    pub(super) ports: Ports,
}

impl Keys {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let mut keys = round_keys(key);
        let encryption = PlaneKeys::for_encryption(&keys);
        let decryption = PlaneKeys::for_decryption(&keys);
        let carried = keys.map(|key| key.map(carried));
        keys.zeroize();
        Self { encryption, decryption, carried, ports: Ports::here() }
    }

    pub(super) fn erase(&mut self) {
        self.encryption.erase();
        self.decryption.erase();
        self.carried.zeroize();
    }
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
pub(super) fn encrypt_planes(keys: &Keys, mut planes: Planes) -> Planes {
    add(&mut planes, &keys.encryption.edge);
    rounds_from(keys, 0, planes)
}

/// Runs the rounds of encryption from `round` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn rounds_from(keys: &Keys, round: usize, planes: Planes) -> Planes {
    let rounds_left = &keys.encryption.rounds[round..];
    match keys.ports {
        Ports::Two => rounds::<false, false>(rounds_left, planes),
        Ports::Four => rounds::<false, true>(rounds_left, planes),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn decrypt_planes(keys: &Keys, mut planes: Planes) -> Planes {
    planes.reverse();
    let all_rounds = &keys.decryption.rounds;
    let mut planes = match keys.ports {
        Ports::Two => rounds::<true, false>(all_rounds, planes),
        Ports::Four => rounds::<true, true>(all_rounds, planes),
    };
    add(&mut planes, &keys.decryption.edge);
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
pub(super) fn store_batch(blocks: &mut [Block; BATCH], planes: Planes) {
    let (rows, _) = blocks.as_flattened_mut().as_chunks_mut::<64>();
    for (row, plane) in rows.iter_mut().zip(turned(planes)) {
        store(row, plane);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn encrypt(keys: &Keys, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, encrypt_planes(keys, load_batch(batch)));
    }
    if rest.len() <= FEW {
        rest.iter_mut()
            .for_each(|block| chain(&keys.carried, [0; 16], std::array::from_mut(block)));
    } else {
        let mut last = [[0; 16]; BATCH];
        last[..rest.len()].copy_from_slice(rest);
        let planes = encrypt_planes(keys, load_batch(&last));
        store_batch(&mut last, planes);
        rest.copy_from_slice(&last[..rest.len()]);
        last.zeroize();
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn decrypt(keys: &Keys, blocks: &mut [Block]) {
    let (batches, rest) = blocks.as_chunks_mut::<BATCH>();
    for batch in batches {
        store_batch(batch, decrypt_planes(keys, load_batch(batch)));
    }
    if !rest.is_empty() {
        let mut last = [[0; 16]; BATCH];
        last[..rest.len()].copy_from_slice(rest);
        let planes = decrypt_planes(keys, load_batch(&last));
        store_batch(&mut last, planes);
        rest.copy_from_slice(&last[..rest.len()]);
        last.zeroize();
    }
}
