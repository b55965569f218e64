//! Calls and jumps of AArch64 (Arm ARM, C6.2: BL, BLR, B, BR).

use super::Call;

/// An instruction has 4 bytes.
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code, reason = "the tests need no length"))]
pub(super) const CALL_BYTES_MAX: usize = 4;

fn relative(word: u32, at: u64) -> u64 {
    // 26 bits that count words, with a sign.
    at.wrapping_add_signed(i64::from((word << 6).cast_signed() >> 6) * 4)
}

/// `code` ends at `returns_to`.
pub(super) fn call(code: &[u8], returns_to: u64) -> Call {
    let Some(word) = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
        return Call::Unknown;
    };
    if word >> 26 == 0b10_0101 {
        Call::Direct(relative(word, returns_to.wrapping_sub(4)))
    } else if word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800 {
        Call::Indirect
    } else {
        Call::None
    }
}

/// The targets of the jumps in this code; `None` for those that a register has.
pub(super) fn jumps(code: &[u8], start: u64) -> impl Iterator<Item = Option<u64>> {
    code.as_chunks::<4>().0.iter().enumerate().filter_map(move |(place, bytes)| {
        let word = u32::from_le_bytes(*bytes);
        let at = start + place as u64 * 4;
        if word >> 26 == 0b00_0101 {
            Some(Some(relative(word, at)))
        } else {
            (word & 0xffff_fc1f == 0xd61f_0000 || word & 0xfeff_f800 == 0xd61f_0800).then_some(None)
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
    fn jumps_out_of_a_function_are_found() {
        let code = code(&[0xd503_201f, 0x1400_0004, 0x17ff_ffff, 0xd61f_0200, 0x9400_0004]);
        let found: Vec<Option<u64>> = jumps(&code, 0x1000).collect();
        assert_eq!(found, [Some(0x1014), Some(0x1004), None]);
    }
}
