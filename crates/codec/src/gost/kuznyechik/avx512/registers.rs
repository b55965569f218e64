//! Loads, stores and steps on registers that every way of encrypting uses.
#![expect(unsafe_code, reason = "loads and stores")]

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(bytes: &mut [u8; 64], value: __m512i) {
    // SAFETY: the reference is to 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// Loads a table of 256 bytes into four registers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_table(table: &[u8; 256]) -> [__m512i; 4] {
    let (rows, _) = table.as_chunks::<64>();
    [load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3])]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn look_up(table: &[__m512i; 4], index: __m512i) -> __m512i {
    let low = _mm512_permutex2var_epi8(table[0], index, table[1]);
    let high = _mm512_permutex2var_epi8(table[2], index, table[3]);
    // Make every bit of the byte its top bit in turn.
    let is_high = _mm512_gf2p8affine_epi64_epi8::<0>(
        index,
        _mm512_set1_epi64(0x8080_8080_8080_8080_u64.cast_signed()),
    );
    _mm512_ternarylogic_epi64::<0xca>(is_high, high, low)
}
