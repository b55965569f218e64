//! Calls and jumps of x86-64 (Intel SDM, volume 2, CALL, JMP and Jcc).
//!
//! Instructions are as long as they like, so code is searched at every byte: a jump that is none only makes a caller possible
//! that is not.

use super::{Call, Jump};

/// The longest call: prefix, opcode, two bytes of operands, four of displacement, of which the first is not needed.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the tests need no length"))]
pub(super) const CALL_BYTES_MAX: usize = 7;

/// `code` ends at `returns_to`.
pub(super) fn call(code: &[u8], returns_to: u64) -> Call {
    let at = |back: usize| code.len().checked_sub(back).map(|from| code[from]);
    let is_indirect = (2..=7).any(|length| {
        at(length) == Some(0xff)
            && bytes_of_call(at(length - 1), at(length.max(3) - 2)) == Some(length)
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

/// How long `ff /2` is with these bytes after it: a register, or memory with a displacement of 0, 1 or 4 bytes, with or without
/// a SIB byte.
fn bytes_of_call(modrm: Option<u8>, sib: Option<u8>) -> Option<usize> {
    let modrm = modrm?;
    let (mode, field, rm) = (modrm >> 6, modrm >> 3 & 7, modrm & 7);
    let has_sib = mode != 3 && rm == 4;
    let displacement = match mode {
        0 if rm == 5 || has_sib && sib? & 7 == 5 => 4,
        0 | 3 => 0,
        1 => 1,
        _ => 4,
    };
    (field == 2).then_some(2 + usize::from(has_sib) + displacement)
}

/// How much a function puts below its frame pointer, if it begins with `push %rbp; mov %rsp,%rbp` and then pushes registers and
/// lowers the stack pointer.
pub(super) fn frame_bytes(code: &[u8]) -> Option<u64> {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let mut code = code.strip_prefix(&[0x55, 0x48, 0x89, 0xe5])?;
    let mut bytes = 0;
    loop {
        code = match *code {
            [0x50..=0x57, ref rest @ ..] | [0x41, 0x50..=0x57, ref rest @ ..] => rest,
            [0x48, 0x83, 0xec, size, ..] => return Some(bytes + u64::from(size)),
            [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                return Some(bytes + u64::from(u32::from_le_bytes([a, b, c, d])));
            }
            _ => return Some(bytes),
        };
        bytes += 8;
    }
}

/// The jumps in this code.
pub(super) fn jumps(code: &[u8], start: u64) -> impl Iterator<Item = Jump> {
    (0..code.len()).filter_map(move |place| {
        let rest = &code[place..];
        let relative = |from: usize, bytes: usize| {
            let field = rest.get(from..from + bytes)?;
            let offset = match *field {
                [byte] => i64::from(byte.cast_signed()),
                _ => i64::from(i32::from_le_bytes(field.try_into().ok()?)),
            };
            let end = start.wrapping_add((place + from + bytes) as u64);
            Some(end.wrapping_add_signed(offset))
        };
        // The last byte of the way back to a function that was called before.
        let ends_call = || place >= 4 && matches!(code[place - 4], 0xe8 | 0xe9);
        match *rest {
            [0xe9, ..] => relative(1, 4).map(Jump::To),
            [0x0f, 0x80..=0x8f, ..] => relative(2, 4).map(Jump::To),
            [0xeb | 0x70..=0x7f | 0xe0..=0xe3, ..] => relative(1, 1).map(Jump::Near),
            [0xff, byte, ..] if byte >> 3 & 7 == 4 && !ends_call() => Some(Jump::Anywhere),
            // mov %reg,(%rsp); ret: a jump to where a register says that no CPU guesses (retpolines).
            [0x48 | 0x4c, 0x89, modrm, 0x24, 0xc3, ..] if modrm & 0xc7 == 4 => Some(Jump::Anywhere),
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
        let indirect: [&[u8]; 11] = [
            &[0xff, 0xd0],                                  // call *%rax
            &[0x41, 0xff, 0xd4],                            // call *%r12
            &[0xff, 0x10],                                  // call *(%rax)
            &[0xff, 0x50, 0x18],                            // call *0x18(%rax)
            &[0xff, 0x15, 0x0a, 0x2f, 0, 0],                // call *0x2f0a(%rip)
            &[0x41, 0xff, 0x94, 0xc4, 0x80, 0, 0, 0],       // call *0x80(%r12,%rax,8)
            &[0xff, 0x14, 0xc3],                            // call *(%rbx,%rax,8)
            &[0x42, 0xff, 0x14, 0xe5, 0x48, 0x4c, 0xa5, 0], // call *0xa54c48(,%r12,8)
            &[0x42, 0xff, 0x14, 0xcd, 0, 0xae, 0x73, 0],    // call *0x73ae00(,%r9,8)
            &[0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0],       // call *%fs:0x10
            &[0xff, 0x90, 0xf0, 0, 0, 0],                   // call *0xf0(%rax)
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
    fn the_size_of_a_frame_is_known_by_its_beginning() {
        let begins = [0x55, 0x48, 0x89, 0xe5];
        let of = |rest: &[u8]| frame_bytes(&[&begins, rest].concat());
        assert_eq!(of(&[0x48, 0x83, 0xec, 0x20]), Some(0x20));
        assert_eq!(of(&[0x41, 0x54, 0x53, 0x48, 0x81, 0xec, 0, 1, 0, 0]), Some(0x110));
        assert_eq!(of(&[0x53, 0x89, 0xfb]), Some(8));
        assert_eq!(frame_bytes(&[&[0xf3, 0x0f, 0x1e, 0xfa], &begins[..]].concat()), Some(0));
        assert_eq!(frame_bytes(&[0x48, 0x83, 0xec, 0x20]), None, "no frame pointer");
    }

    #[test]
    fn jumps_out_of_a_function_are_found() {
        let of = |code: &[u8]| jumps(code, 0x1000).collect::<Vec<Jump>>();
        assert_eq!(of(&[0x90, 0xe9, 0x10, 0, 0, 0]), [Jump::To(0x1016)]);
        assert_eq!(of(&[0x0f, 0x84, 0xf4, 0xff, 0xff, 0xff]), [Jump::To(0xffa)]);
        assert_eq!(of(&[0xeb, 0x9e]), [Jump::Near(0xfa0)]);
        assert_eq!(of(&[0x90, 0x74, 0x05]), [Jump::Near(0x1008)]);
        assert_eq!(of(&[0x3e, 0xff, 0xe0]), [Jump::Anywhere]);
        assert_eq!(of(&[0x48, 0x89, 0x04, 0x24, 0xc3]), [Jump::Anywhere]);
        let way_back = [0xe8, 0x10, 0xfd, 0xff, 0xff, 0x66, 0x90];
        assert_eq!(of(&way_back), [], "the call of something before, and a nop");
        assert_eq!(jumps(&[0x0f, 0x84, 1], 0).count(), 0, "it goes on behind what is known");
    }
}
