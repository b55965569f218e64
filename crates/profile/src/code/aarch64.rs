//! Calls and jumps of AArch64 (Arm ARM, C6.2: BL, BLR, B, BR, B.cond, CBZ, CBNZ, TBZ, TBNZ).

use super::{Call, Jump};

/// An instruction has 4 bytes.
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code, reason = "the tests need no length"))]
pub(super) const CALL_BYTES_MAX: usize = 4;

/// Where the instruction at `at` leads whose `bits` bits from `from` count words, with a sign.
fn relative(word: u32, from: u32, bits: u32, at: u64) -> u64 {
    let offset = (word << (32 - from - bits)).cast_signed() >> (32 - bits);
    at.wrapping_add_signed(i64::from(offset) * 4)
}

/// `code` ends at `returns_to`.
pub(super) fn call(code: &[u8], returns_to: u64) -> Call {
    let Some(word) = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
        return Call::Unknown;
    };
    if word >> 26 == 0b10_0101 {
        Call::Direct(relative(word, 0, 26, returns_to.wrapping_sub(4)))
    } else if word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800 {
        Call::Indirect
    } else {
        Call::None
    }
}

/// How far above the stack pointer a function has its frame pointer: they are the same in one that begins with
/// `stp x29, x30, [sp, #-N]!; mov x29, sp`.
pub(super) fn frame_bytes(code: &[u8]) -> Option<u64> {
    let (words, _) = code.as_chunks::<4>();
    let words: Vec<u32> = words.iter().take(3).map(|word| u32::from_le_bytes(*word)).collect();
    // PACIASP or a BTI may come first.
    let is_save = |pair: &[u32]| pair[0] & 0xffc0_7fff == 0xa980_7bfd && pair[1] == 0x9100_03fd;
    words.windows(2).any(is_save).then_some(0)
}

/// The jumps in this code.
pub(super) fn jumps(code: &[u8], start: u64) -> impl Iterator<Item = Jump> {
    code.as_chunks::<4>().0.iter().enumerate().filter_map(move |(place, bytes)| {
        let word = u32::from_le_bytes(*bytes);
        let at = start.wrapping_add(place as u64 * 4);
        if word >> 26 == 0b00_0101 {
            return Some(Jump::To(relative(word, 0, 26, at)));
        }
        match word >> 24 & 0x7f {
            // B.cond, CBZ, CBNZ; TBZ, TBNZ.
            0x54 | 0x34 | 0x35 => Some(Jump::To(relative(word, 5, 19, at))),
            0x36 | 0x37 => Some(Jump::To(relative(word, 5, 14, at))),
            _ => {
                let is_register =
                    word & 0xffff_fc1f == 0xd61f_0000 || word & 0xfeff_f800 == 0xd61f_0800;
                is_register.then_some(Jump::Anywhere)
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// As `objdump -d` shows them; each ends at 0x1000.
    #[test]
    fn calls_are_known_by_the_instruction_before() {
        let of = |word: u32| call(&code(&[word]), 0x1000);
        assert_eq!(of(0x9400_0004), Call::Direct(0x100c)); // bl +16
        assert_eq!(of(0x97ff_ffff), Call::Direct(0xff8)); // bl -4
        assert_eq!(of(0xd63f_0060), Call::Indirect); // blr x3
        assert_eq!(of(0xd63f_0a9f), Call::Indirect); // blraaz x20
        assert_eq!(of(0xd65f_03c0), Call::None); // ret
        assert_eq!(of(0x1400_0004), Call::None); // b +16
        assert_eq!(of(0xa9be_7bfd), Call::None); // stp x29, x30, [sp, #-32]!
    }

    #[test]
    fn the_frame_pointer_is_the_stack_pointer_in_most_functions() {
        assert_eq!(frame_bytes(&code(&[0xa9be_7bfd, 0x9100_03fd])), Some(0));
        assert_eq!(frame_bytes(&code(&[0xd503_233f, 0xa9be_7bfd, 0x9100_03fd])), Some(0));
        assert_eq!(frame_bytes(&code(&[0xd100_83ff, 0xa901_7bfd, 0x9100_43fd])), None);
    }

    #[test]
    fn jumps_out_of_a_function_are_found() {
        let of = |word: u32| jumps(&code(&[0xd503_201f, word]), 0x1000).collect::<Vec<Jump>>();
        assert_eq!(of(0x1400_0004), [Jump::To(0x1014)]); // b +16
        assert_eq!(of(0x17ff_ffff), [Jump::To(0x1000)]); // b -4
        assert_eq!(of(0x5400_0040), [Jump::To(0x100c)]); // b.eq +8
        assert_eq!(of(0xb4ff_ffe1), [Jump::To(0x1000)]); // cbz x1, -4
        assert_eq!(of(0x3500_0041), [Jump::To(0x100c)]); // cbnz w1, +8
        assert_eq!(of(0x3617_ffe0), [Jump::To(0x1000)]); // tbz w0, #2, -4
        assert_eq!(of(0xd61f_0200), [Jump::Anywhere]); // br x16
        assert_eq!(of(0x9400_0004), []); // bl +16
        assert_eq!(of(0xb940_0020), []); // ldr w0, [x1]
    }
}
