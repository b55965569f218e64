//! Encodes with AVX-512, in two phases over blocks that stay in the first-level cache.
//!
//! 1. Windows of 64 bytes become signs, one lane each: three bytes that describe an eight-byte slot (see
//!    `pages::Page`): a gap, then up to seven elements. A look-up in 128 characters is one `vpermi2b`. A window of
//!    several scripts takes one look-up a page of 128 characters, in a loop over the pages it contains. The second sign
//!    of a voiced kana goes to the lane of its first continuation byte. Lanes without a sign are squeezed out.
//! 2. Eight signs at a time are spelled into 64 bytes (the bits are masks already) and squeezed together.
//!
//! Plain ASCII takes a loop of its own (`plain_avx512`).
//!
//! Floor: a model of phase 2 alone takes 2.5 cycles for eight signs, 0.32 cycles a byte of ASCII (`vpcompressb` 1.2,
//! moving two masks to mask registers 2, a store across cache lines 2); phase 1 adds about 30 instructions for 64
//! bytes. Measured: 0.6 (docs/text-speed.md).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::OnError;
use super::encode_portable;
use super::pages::{Codes, LEFT_OUT, MARKS, NOT_UNDERSTOOD, Rules};
use super::plain_avx512;
use super::stage_avx512::{PREFETCH, STAGED, Signs, Stage, WINDOW, byte, look_up};
use super::written::Progress;
use crate::kernel::{load64, prefetch};
use crate::tier::Avx512;

/// Encodes like `encode_portable`, but leaves more to the caller.
pub(super) fn encode(
    _: Avx512,
    rules: Rules,
    input: &[u8],
    output: &mut [u8],
    is_gap_owed: &mut bool,
) -> Progress {
    // SAFETY: the first argument exists only where the CPU has the tier.
    let begun = unsafe { kernel(rules, input, output, is_gap_owed) };
    let (input, output) = (&input[begun.read..], &mut output[begun.written..]);
    if input.len() >= WINDOW {
        // Leave the rest to the caller.
        return begun;
    }
    let ended = encode_portable::encode(rules, input, output, is_gap_owed);
    Progress { read: begun.read + ended.read, written: begun.written + ended.written }
}

/// How much plain text in a row makes more of it likely.
const MOSTLY_PLAIN_BYTES: usize = 4 * 64;

/// What a window passes to the next one.
struct Carry {
    /// Lanes that continue a character of the last window.
    continued: u64,
    /// Whether the last lane of the last window needs one of the second signs, in the lowest bit.
    marks: [u64; 2],
}

impl Carry {
    const NOTHING: Self = Self { continued: 0, marks: [0; 2] };
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn kernel(rules: Rules, input: &[u8], output: &mut [u8], is_gap_owed: &mut bool) -> Progress {
    let Rules { codes, on_error } = rules;
    let mut stage = Stage::new(*is_gap_owed);
    let mut carry = Carry::NOTHING;
    let mut progress = Progress { read: 0, written: 0 };
    let mut stop = None;
    let ascii = codes.page(0);
    while stop.is_none() && input.len() - progress.read >= WINDOW {
        let mut most_staged = STAGED - 64;
        if carry.continued == 0
            && plain(rules, input, output, &mut progress, &mut stage) >= MOSTLY_PLAIN_BYTES
        {
            // Take one window that is not plain, then go on.
            most_staged = 0;
        }
        while stage.count <= most_staged && stop.is_none() {
            if carry.continued == 0 && most_staged > 0 {
                carry.marks = [0; 2];
                progress.read += stage.put_plain(&input[progress.read..], ascii, on_error);
            }
            let Some(window) = input[progress.read..].first_chunk::<WINDOW>() else { break };
            if stage.count > most_staged {
                break;
            }
            // There are fewer signs than bytes, so the second phase does not prefetch everything that follows.
            prefetch(window, PREFETCH);
            let bytes = load64(window, 0);
            let signs = look_up(ascii, bytes);
            let unknown = _mm512_testn_epi8_mask(signs.keep, signs.keep);
            let is_plain = (_mm512_movepi8_mask(bytes) | carry.continued) == 0;
            let left_out = _mm512_cmpeq_epi8_mask(signs.first, byte(LEFT_OUT));
            // These are the lanes below the first one that is left out, or all of them if none is.
            let below = (left_out & left_out.wrapping_neg()).wrapping_sub(1);
            if is_plain && (on_error == OnError::Skip || unknown & below == 0) {
                stage.put(signs, !unknown & below);
                stop = (left_out != 0).then(|| left_out.trailing_zeros() as usize);
            } else {
                stop = mixed(window, signs, codes, on_error, &mut carry, &mut stage);
            }
            progress.read += stop.unwrap_or(64);
            if stop.is_some()
                && let Some(length) = stage.put_long(&input[progress.read..], codes, on_error)
            {
                stop = None;
                progress.read += length;
                carry = Carry::NOTHING;
            }
        }
        progress.written += stage.spell(&mut output[progress.written..], &input[progress.read..]);
    }
    if stop.is_none() {
        progress.read += carry.continued.count_ones() as usize;
        stage.put_second(carry.marks);
        progress.written += stage.spell(&mut output[progress.written..], &input[progress.read..]);
    }
    *is_gap_owed = stage.after_control == 0;
    progress
}

/// Encodes windows of plain ASCII without the stage, which is empty, and returns how many bytes they have.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn plain(
    rules: Rules,
    input: &[u8],
    output: &mut [u8],
    progress: &mut Progress,
    stage: &mut Stage,
) -> usize {
    if !stage.is_by_byte_before(input, progress.read) {
        return 0;
    }
    let (ascii, output) = (rules.codes.page(0), &mut output[progress.written..]);
    let done = match rules.on_error {
        OnError::Skip => plain_avx512::encode::<true>(input, progress.read, output, ascii),
        _ => plain_avx512::encode::<false>(input, progress.read, output, ascii),
    };
    progress.written += done.written;
    progress.read += done.read;
    if done.read > 0 {
        stage.after_control = u64::from(input[progress.read - 1] < 0x20);
    }
    done.read
}

/// The bytes of a window by class, as masks of lanes.
struct Shape {
    leads: u64,
    /// Lead bytes of characters of three bytes or more, and of four.
    three: u64,
    four: u64,
    /// Lanes where a malformed sequence begins.
    malformed: u64,
}

/// Finds the characters of a window and the faults in them: The Unicode Standard, table 3-7.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn shape(window: &[u8; WINDOW], carry: &mut Carry) -> Shape {
    let b0 = load64(window, 0);
    let b1 = load64(window, 1);
    let is_continuation = |bytes| _mm512_cmplt_epi8_mask(bytes, byte(0xC0));
    let continuations = is_continuation(b0);
    let leads = _mm512_movepi8_mask(b0) & !continuations;
    let three = _mm512_cmpge_epu8_mask(b0, byte(0xE0));
    let four = _mm512_cmpge_epu8_mask(b0, byte(0xF0));
    let expected = leads << 1 | three << 2 | four << 3 | carry.continued;
    let unfollowed = leads & !is_continuation(b1)
        | three & !is_continuation(load64(window, 2))
        | four & !is_continuation(load64(window, 3));
    let mut wrong =
        unfollowed | continuations & !expected | _mm512_mask_cmplt_epu8_mask(leads, b0, byte(0xC2));
    let lead = |value| _mm512_mask_cmpeq_epi8_mask(three, b0, byte(value));
    let (e0, ed) = (lead(0xE0), lead(0xED));
    if e0 | ed | four != 0 {
        wrong |= e0 & _mm512_cmplt_epu8_mask(b1, byte(0xA0))
            | ed & _mm512_cmpge_epu8_mask(b1, byte(0xA0))
            | lead(0xF0) & _mm512_cmplt_epu8_mask(b1, byte(0x90))
            | lead(0xF4) & _mm512_cmpge_epu8_mask(b1, byte(0x90))
            | _mm512_cmpge_epu8_mask(b0, byte(0xF5));
    }
    carry.continued = leads >> 63 | three >> 62 | four >> 61;
    Shape { leads, three, four, malformed: wrong }
}

/// Handles a window that is not only ASCII with codes. Returns the lane of the first character that is left to the
/// caller.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn mixed(
    window: &[u8; WINDOW],
    ascii: Signs,
    codes: &Codes,
    on_error: OnError,
    carry: &mut Carry,
    stage: &mut Stage,
) -> Option<usize> {
    let b0 = load64(window, 0);
    let shape = shape(window, carry);
    let is_ascii = !_mm512_movepi8_mask(b0);
    let mut signs = Signs {
        dash: _mm512_maskz_mov_epi8(is_ascii, ascii.dash),
        keep: _mm512_maskz_mov_epi8(is_ascii, ascii.keep),
        first: _mm512_maskz_mov_epi8(is_ascii, ascii.first),
    };
    by_page(window, &shape, codes, &mut signs);
    let is_left_out = _mm512_cmpeq_epi8_mask(signs.first, byte(LEFT_OUT));
    // EA to ED are the lead bytes.
    let is_hangul =
        _mm512_mask_cmple_epu8_mask(shape.three, _mm512_sub_epi8(b0, byte(0xEA)), byte(3));
    let is_left_out_or_hangul = is_left_out | is_hangul;
    let unknown = _mm512_testn_epi8_mask(signs.keep, signs.keep)
        & (is_ascii | shape.leads)
        & !is_left_out_or_hangul;
    let mut stops = shape.malformed | is_left_out_or_hangul;
    // The second signs move one lane on, from the last lane to the next window.
    let asked = MARKS.map(|(bit, _)| _mm512_test_epi8_mask(signs.first, byte(bit)) & !is_left_out);
    signs.first = _mm512_and_si512(signs.first, byte(!(MARKS[0].0 | MARKS[1].0)));
    match on_error {
        OnError::Fail => stops |= unknown,
        OnError::Replace => signs.set(unknown, NOT_UNDERSTOOD),
        OnError::Skip => {}
    }
    let seconds = [asked[0] << 1 | carry.marks[0], asked[1] << 1 | carry.marks[1]];
    carry.marks = asked.map(|asked| asked >> 63);
    if seconds[0] | seconds[1] != 0 {
        signs.set(seconds[0], MARKS[0].1);
        signs.set(seconds[1], MARKS[1].1);
    }
    let stop = (stops != 0).then(|| stops.trailing_zeros() as usize);
    let before = stop.map_or(u64::MAX, |lane| (1 << lane) - 1);
    stage.put(signs, _mm512_test_epi8_mask(signs.keep, signs.keep) & before);
    stop
}

/// Looks up every character that is not ASCII: punctuation and kana at once, others a page at a time.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn by_page(window: &[u8; WINDOW], shape: &Shape, codes: &Codes, signs: &mut Signs) {
    let b0 = load64(window, 0);
    let b1 = load64(window, 1);
    let last = _mm512_mask_mov_epi8(b1, shape.three, load64(window, 2));
    let before_last = _mm512_mask_mov_epi8(b0, shape.three, b1);
    // Six bits of the last byte, and the lowest bit of the one before; the highest bit of a lane is ignored.
    let low =
        _mm512_ternarylogic_epi64::<0xCA>(byte(0x3F), last, _mm512_slli_epi16::<6>(before_last));
    let b1_pair = _mm512_or_si512(b1, byte(1));
    let b0_pair = _mm512_or_si512(b0, byte(1));
    // No character from U+4000 to U+9FFF (E4 to E9) has a code.
    let is_ideograph =
        _mm512_mask_cmple_epu8_mask(shape.three, _mm512_sub_epi8(b0, byte(0xE4)), byte(5));
    let mut left = shape.leads & !shape.four & !is_ideograph & !shape.malformed;
    // U+3000 to U+30FF: E3, then 80 to 83.
    let kana = _mm512_mask_cmpeq_epi8_mask(left & shape.three, b0, byte(0xE3))
        & _mm512_cmple_epu8_mask(b1, byte(0x83));
    if kana != 0 {
        let upper = _mm512_mask_cmpge_epu8_mask(kana, b1, byte(0x82));
        signs.add(codes.page(0x3000), low, kana & !upper);
        signs.add(codes.page(0x3080), low, upper);
        left &= !kana;
    }
    while left != 0 {
        let lane = left.trailing_zeros() as usize & 63;
        let (lead, second) = (window[lane], window[lane + 1]);
        let (same, page) = if lead < 0xE0 {
            (
                _mm512_mask_cmpeq_epi8_mask(left & !shape.three, b0_pair, byte(lead | 1)),
                u32::from(lead & 0x1F) << 6,
            )
        } else {
            let lead_same = _mm512_mask_cmpeq_epi8_mask(left, b0, byte(lead));
            (
                _mm512_mask_cmpeq_epi8_mask(lead_same, b1_pair, byte(second | 1)),
                u32::from(lead & 0xF) << 12 | u32::from(second & 0x3F) << 6,
            )
        };
        left &= !same;
        signs.add(codes.page(page), low, same);
    }
}
