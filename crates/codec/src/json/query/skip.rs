//! Finds the ends of values in text, without a look at whether it is JSON.

/// Returns where the next value begins: after white space and U+001E.
#[inline]
#[must_use]
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n' | 0x1E) = text.get(at) {
        at += 1;
    }
    at
}

/// Returns the end of the value that begins at `at`, if the text has it. The end of a number or literal is known only by
/// the byte after it.
#[inline]
#[must_use]
pub fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => skip_string(text, at),
        b'{' | b'[' => skip_container(text, at),
        // At least one byte, so that whoever goes on comes to an end.
        _ => text[at + 1..]
            .iter()
            .position(|byte| ENDS[usize::from(*byte)])
            .map(|length| at + 1 + length),
    }
}

/// Which bytes end a number or literal.
pub(super) const ENDS: [bool; 256] = table(b" \t\r\n\x1E,:\"[]{}");

/// Makes a table of these bytes.
pub(super) const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Returns the end of the string that begins with the quote at `at`.
#[inline]
fn skip_string(text: &[u8], mut at: usize) -> Option<usize> {
    at += 1;
    // Most strings are short; a call of memchr takes longer than these steps.
    for _ in 0..4 {
        let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let word = u64::from_le_bytes(*word);
        let special = zero_bytes(word ^ (EACH * 0x22)) | zero_bytes(word ^ (EACH * 0x5C));
        if special == 0 {
            at += 8;
            continue;
        }
        at += special.trailing_zeros() as usize / 8;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        break;
    }
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns the highest bit of the first byte that is 0; of later bytes, bits may be 1 that should not.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(EACH) & !word & EACH << 7
}

fn skip_container(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => {
                at = skip_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => (),
        }
        at += 1;
    }
}
