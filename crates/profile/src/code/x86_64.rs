//! Calls and jumps of x86-64 (Intel SDM, volume 2, CALL, JMP and Jcc).
//!
//! Instructions are as long as they like, so code is searched at every byte: a jump that is none only makes a caller possible
//! that is not.

use super::Call;

/// The longest call: prefix, opcode, two bytes of operands, four of displacement, of which the first is not needed.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the tests need no length"))]
pub(super) const CALL_BYTES_MAX: usize = 7;

/// `code` ends at `returns_to`.
pub(super) fn call(code: &[u8], returns_to: u64) -> Call {
    let at = |back: usize| code.len().checked_sub(back).map(|from| code[from]);
    // ff /2: a register, or memory with a displacement of 0, 1 or 4 bytes, with or without a SIB byte.
    let is_indirect =
        [(2, 0), (3, 1), (3, 0), (4, 1), (6, 4), (7, 4)].iter().any(|(length, displacement)| {
            at(*length) == Some(0xff)
                && at(length - 1).is_some_and(|byte| {
                    let (mode, field, rm) = (byte >> 6, byte >> 3 & 7, byte & 7);
                    let has_sib = mode != 3 && rm == 4;
                    let of_mode = match mode {
                        0 if rm == 5 => 4,
                        0 | 3 => 0,
                        1 => 1,
                        _ => 4,
                    };
                    field == 2
                        && of_mode == *displacement
                        && 2 + usize::from(has_sib) + of_mode == *length
                })
        });
    let direct = (at(5) == Some(0xe8)).then(|| {
        let offset = code.last_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
        returns_to.wrapping_add_signed(i64::from(offset))
    });
    match direct {
        Some(_) if is_indirect => Call::Indirect,
        Some(target) => Call::Direct(target),
        None if is_indirect => Call::Indirect,
        None => Call::None,
    }
}

/// The targets of the jumps in this code; `None` for those that a register or memory has.
pub(super) fn jumps(code: &[u8], start: u64) -> impl Iterator<Item = Option<u64>> {
    (0..code.len()).filter_map(move |place| {
        let rest = &code[place..];
        let relative = |from: usize| {
            let offset = rest.get(from..from + 4)?.try_into().map(i32::from_le_bytes).ok()?;
            let end = start + (place + from + 4) as u64;
            Some(Some(end.wrapping_add_signed(i64::from(offset))))
        };
        match rest {
            [0xe9, ..] => relative(1),
            [0x0f, 0x80..=0x8f, ..] => relative(2),
            [0xff, byte, ..] if byte >> 3 & 7 == 4 => Some(None),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `objdump -d` shows them; each ends at 0x1000.
    #[test]
    fn calls_are_known_by_the_bytes_before() {
        let of = |code: &[u8]| call(code, 0x1000);
        assert_eq!(of(&[0x90, 0x90, 0xe8, 0xfb, 0xff, 0xff, 0xff]), Call::Direct(0xffb));
        assert_eq!(of(&[0xe8, 0x10, 0, 0, 0]), Call::Direct(0x1010));
        let indirect: [&[u8]; 8] = [
            &[0xff, 0xd0],                            // call *%rax
            &[0x41, 0xff, 0xd4],                      // call *%r12
            &[0xff, 0x10],                            // call *(%rax)
            &[0xff, 0x50, 0x18],                      // call *0x18(%rax)
            &[0xff, 0x15, 0x0a, 0x2f, 0, 0],          // call *0x2f0a(%rip)
            &[0x41, 0xff, 0x94, 0xc4, 0x80, 0, 0, 0], // call *0x80(%r12,%rax,8)
            &[0xff, 0x14, 0xc3],                      // call *(%rbx,%rax,8)
            &[0xff, 0x90, 0xf0, 0, 0, 0],             // call *0xf0(%rax)
        ];
        for code in indirect {
            assert_eq!(of(code), Call::Indirect, "{code:x?}");
        }
        // push, add, lea, ret, jmp *%rax, an inc: nothing returns behind these.
        let none: [&[u8]; 6] = [
            &[0x55],
            &[0x48, 0x83, 0xc4, 0x08],
            &[0x48, 0x8d, 0x04, 0x25, 0, 0, 0, 0],
            &[0x5d, 0xc3],
            &[0xff, 0xe0],
            &[0xff, 0xc0],
        ];
        for code in none {
            assert_eq!(of(code), Call::None, "{code:x?}");
        }
    }

    #[test]
    fn jumps_out_of_a_function_are_found() {
        let code = [0x90, 0xe9, 0x10, 0, 0, 0, 0x0f, 0x84, 0xf4, 0xff, 0xff, 0xff, 0xff, 0xe0];
        let found: Vec<Option<u64>> = jumps(&code, 0x1000).collect();
        assert_eq!(found, [Some(0x1016), Some(0x1000), None]);
        assert_eq!(jumps(&[0x0f, 0x84, 1], 0).count(), 0, "it goes on behind what is known");
    }
}
