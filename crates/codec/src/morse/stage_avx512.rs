//! Holds signs between the two phases of encoding with AVX-512 (see `encode_avx512`).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::OnError;
use super::naive::is_mark;
use super::pages::{Codes, LEFT_OUT, MARKS, Page, bits};
use crate::kernel::{load64, prefetch, store64};
use crate::utf8::first::{First, first};

/// Puts the number of its slot into the second byte of every slot, and zeros into the others.
const SPREAD: [u8; 64] = {
    let mut lanes = [0x80; 64];
    let mut slot = 0;
    while slot < 8 {
        lanes[slot as usize * 8 + 1] = slot;
        slot += 1;
    }
    lanes
};

/// Most signs between the two phases.
pub(super) const STAGED: usize = 1024;
/// Prefetch distance for input.
pub(super) const PREFETCH: usize = 8192;
/// Bytes to read for a window: 64, and those after them that a character in it may reach.
pub(super) const WINDOW: usize = 64 + 3;

/// The number of each lane: 0, 1, 2 and so on.
pub(super) const LANES: [u8; 64] = {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane as usize] = lane;
        lane += 1;
    }
    lanes
};

/// Signs, one in each lane.
#[derive(Clone, Copy)]
pub(super) struct Signs {
    pub(super) dash: __m512i,
    pub(super) keep: __m512i,
    pub(super) first: __m512i,
}

/// Signs that wait for the second phase.
#[repr(align(64))]
pub(super) struct Stage {
    dash: [u8; STAGED + 128],
    keep: [u8; STAGED + 128],
    first: [u8; STAGED + 128],
    pub(super) count: usize,
    /// Is 1 when no gap goes before the next sign.
    pub(super) after_control: u64,
}

/// Returns a vector with the value in every lane.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) fn byte(value: u8) -> __m512i {
    _mm512_set1_epi8(value.cast_signed())
}

/// Reads eight bytes as the masks that they are.
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Returns the signs of the characters of `page` whose low seven bits are in the lanes.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) fn look_up(page: &Page, low: __m512i) -> Signs {
    Signs {
        dash: _mm512_permutex2var_epi8(load64(&page.dash, 0), low, load64(&page.dash, 64)),
        keep: _mm512_permutex2var_epi8(load64(&page.keep, 0), low, load64(&page.keep, 64)),
        first: _mm512_permutex2var_epi8(load64(&page.first, 0), low, load64(&page.first, 64)),
    }
}

impl Signs {
    /// Puts the signs of the characters of `page` whose low seven bits are in `low` into `lanes`.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn add(&mut self, page: &Page, low: __m512i, lanes: u64) {
        let found = look_up(page, low);
        self.dash = _mm512_mask_mov_epi8(self.dash, lanes, found.dash);
        self.keep = _mm512_mask_mov_epi8(self.keep, lanes, found.keep);
        self.first = _mm512_mask_mov_epi8(self.first, lanes, found.first);
    }

    /// Puts `sign` into `lanes`.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn set(&mut self, lanes: u64, sign: &str) {
        let (dash, keep) = bits(sign.as_bytes());
        self.dash = _mm512_mask_mov_epi8(self.dash, lanes, byte(dash));
        self.keep = _mm512_mask_mov_epi8(self.keep, lanes, byte(keep));
        self.first = _mm512_mask_mov_epi8(self.first, lanes, byte(b'.'));
    }
}

impl Stage {
    /// Makes an empty stage.
    pub(super) fn new(is_gap_owed: bool) -> Self {
        Self {
            dash: [0; STAGED + 128],
            keep: [0; STAGED + 128],
            first: [0; STAGED + 128],
            count: 0,
            after_control: u64::from(!is_gap_owed),
        }
    }

    /// Stages windows of `input` as long as there is room and all of their characters are ASCII and have a short code,
    /// or have none and may be skipped; returns how many bytes they have. For windows full of codes it does what
    /// [`put`](Self::put) does, without moving masks through other registers.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn put_plain(&mut self, input: &[u8], ascii: &Page, on_error: OnError) -> usize {
        let previous = _mm512_add_epi8(load64(&LANES, 0), byte(63));
        let controls = byte(0x20);
        let sign_or_control = |control: u64| byte(if control == 1 { b'\n' } else { b'.' });
        let mut last = sign_or_control(self.after_control);
        let begun = self.count;
        let mut count = self.count;
        let mut read = 0;
        while count <= STAGED - 64
            && let Some(window) = input[read..].first_chunk::<WINDOW>()
        {
            let bytes = load64(window, 0);
            if _mm512_movepi8_mask(bytes) != 0 {
                break;
            }
            let signs = look_up(ascii, bytes);
            let unknown = _mm512_testn_epi8_mask(signs.keep, signs.keep);
            if unknown != 0 {
                let left_out = _mm512_cmpeq_epi8_mask(signs.first, byte(LEFT_OUT));
                if on_error != OnError::Skip || left_out != 0 {
                    break;
                }
                self.staged(begun, count);
                self.put(signs, !unknown);
                count = self.count;
                last = sign_or_control(self.after_control);
                read += 64;
                continue;
            }
            let before = _mm512_permutex2var_epi8(last, previous, signs.first);
            let ungapped = _mm512_cmplt_epu8_mask(before, controls);
            let without_gap = _mm512_and_si512(signs.keep, byte(0xFE));
            let keep = _mm512_mask_mov_epi8(signs.keep, ungapped, without_gap);
            store64(&mut self.dash, count, signs.dash);
            store64(&mut self.keep, count, keep);
            store64(&mut self.first, count, signs.first);
            last = signs.first;
            count += 64;
            read += 64;
        }
        self.staged(begun, count);
        read
    }

    /// Records that there are `count` signs now, those from `begun` on new.
    fn staged(&mut self, begun: usize, count: usize) {
        if count > begun {
            self.after_control = u64::from(self.first[count - 1] < 0x20);
        }
        self.count = count;
    }

    /// Tells whether the byte before agrees with [`after_control`](Self::after_control).
    pub(super) fn is_by_byte_before(&self, input: &[u8], at: usize) -> bool {
        at > 0 && u64::from(input[at - 1] < 0x20) == self.after_control
    }

    /// Stages the signs in `lanes`, without the gaps that control characters remove.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn put(&mut self, mut signs: Signs, lanes: u64) {
        let count = lanes.count_ones();
        if lanes != u64::MAX {
            signs.dash = _mm512_maskz_compress_epi8(lanes, signs.dash);
            signs.keep = _mm512_maskz_compress_epi8(lanes, signs.keep);
            signs.first = _mm512_maskz_compress_epi8(lanes, signs.first);
        }
        let controls = _mm512_cmplt_epu8_mask(signs.first, byte(0x20));
        let ungapped = controls << 1 | self.after_control;
        let without_gap = _mm512_and_si512(signs.keep, byte(0xFE));
        signs.keep = _mm512_mask_mov_epi8(signs.keep, ungapped, without_gap);
        if count > 0 {
            self.after_control = controls >> (count - 1) & 1;
        }
        store64(&mut self.dash, self.count, signs.dash);
        store64(&mut self.keep, self.count, signs.keep);
        store64(&mut self.first, self.count, signs.first);
        self.count += count as usize;
    }

    /// Stages the second sign that the last lane requested.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn put_second(&mut self, asked: [u64; 2]) {
        let zero = _mm512_setzero_si512();
        for (asked, (_, sign)) in asked.into_iter().zip(MARKS) {
            if asked != 0 {
                let mut signs = Signs { dash: zero, keep: zero, first: zero };
                signs.set(1, sign);
                self.put(signs, 1);
            }
        }
    }

    /// Stages the first character of `input` if it has many signs, or skips it if it has none and is no mark; returns
    /// its length.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn put_long(
        &mut self,
        input: &[u8],
        codes: &Codes,
        on_error: OnError,
    ) -> Option<usize> {
        let First::Character(character, length) = first(input) else { return None };
        let Some(long) = codes.long(character) else {
            return (on_error == OnError::Skip && !is_mark(character)).then_some(length);
        };
        for (dash, keep) in long.bits().iter().copied() {
            self.dash[self.count] = dash;
            self.keep[self.count] = if self.after_control == 1 { keep & !1 } else { keep };
            self.first[self.count] = b'.';
            self.after_control = 0;
            self.count += 1;
        }
        Some(length)
    }

    /// Runs the second phase: writes all staged signs to the front of `output`, and returns the length. It prefetches
    /// what follows `input`, because the first phase reads in bursts that the CPU's own prefetching does not keep up
    /// with (encode-english on a Zen 5, prefetched in the first phase: 4.9 → 6.9 GB/s; an Intel Xeon, in the second,
    /// when plain text went this way: 3.45 → 3.7).
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn spell(&mut self, output: &mut [u8], input: &[u8]) -> usize {
        // A slot before its signs: the gap, room for the byte from `first`, dots.
        let slots = _mm512_set1_epi64(i64::from_le_bytes(*b" \0......"));
        // Put the byte of its sign into the second byte of each slot: shuffles stay within 16 bytes, two slots.
        let spread = load64(&SPREAD, 0);
        let dashes = byte(b'-');
        let groups = self.count.div_ceil(8);
        self.keep[self.count..self.count + 8].fill(0);
        let output = &mut output[..groups * 64];
        let begin = output.as_mut_ptr();
        let mut written = 0;
        let staged = self.dash.chunks_exact(8).zip(self.keep.chunks_exact(8));
        let staged = staged.zip(self.first.chunks_exact(8)).take(groups);
        for (group, ((dash, keep), first)) in staged.enumerate() {
            prefetch(input, PREFETCH + 8 * group);
            let (dash, keep, first) = (word(dash), word(keep), word(first));
            let firsts = _mm512_set1_epi64(first.cast_signed());
            // Do not use a mask here: moving one to a mask register takes a cycle, and two are moved already.
            let slots = _mm512_or_si512(slots, _mm512_shuffle_epi8(firsts, spread));
            let slots = _mm512_mask_mov_epi8(slots, dash, dashes);
            let text = _mm512_maskz_compress_epi8(keep, slots);
            let end = begin.wrapping_add(written);
            // SAFETY: `output` is 64 bytes long for every group (checked above), and each group so far has added at
            // most 64, the bits of a word, to `written`; so there are 64 bytes for this one.
            unsafe { _mm512_storeu_si512(end.cast(), text) };
            written += keep.count_ones() as usize;
        }
        self.count = 0;
        written
    }
}
